"""Proof that a ported kernel is each of its variants: the same TTIR for sm_90. No GPU is needed.

Input: a ported kernel and the translations of its source. Output: the kernel with its ``Proof``, accepting only
what was confirmed: its define sets, and a sample with programs in groups, are compiled and compared.

Both are compiled to TTIR with the same types, promises and constexprs. What is compared has no names, no
locations, no unused parameters, no dead code, and no precision of products whose operands are not floats (it is
for those only). The folded kernel may lack hints (``tt.divisibility``) that a statement of the variant has: a
hint is a promise, and what relies on fewer promises is right wherever the variant is. Values without effects
are compared as expressions, wherever they are computed, and with their hints; statements with effects (loads,
stores, loops, barriers) in order.
"""

from __future__ import annotations

import difflib
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import islice
from types import ModuleType
from typing import Any, Final

from pytriton.compat.triton_names import ASTSource, GPUTarget, ir, make_backend
from pytriton.fold.fold import GROUP, Folded
from pytriton.fold.variants import Variant
from pytriton.passes.speed.swizzle import GROUP as GROUP_SIZE
from pytriton.pipeline import Parameter
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import Compared, Difference, PortedKernel, Proof
from pytriton.runtime.compile.specialize import signature_type

MAX_PROVED: Final = 600  # pairs of a folded text and a translation, of one kernel
MAX_GROUPED: Final = 16  # of those that are proved in groups, too

TARGET: Final = GPUTarget("cuda", 90, 32)
MAX_DIFFERENCES: Final = 20  # lines shown of a variant that differs

_VALUE: Final = re.compile(r"%[\w$.-]+(?::\d+)?(?:#\d+)?")
_LOCATION: Final = re.compile(r" loc\((?:[^()]|\([^()]*\))*\)")
_RESULT: Final = re.compile(r"^(%[\w$.-]+)(?::\d+)? = (.*)$")
_DEFINED: Final = re.compile(r"(?<!^)(%[\w$.-]+) = ")  # of a loop: its variable and what it carries
_ARGUMENT: Final = re.compile(r"(%[\w$.-]+): ")  # of a function or a block
_PRECISION: Final = re.compile(r"^(.* = tt\.dot .*), inputPrecision = \w+(?= : tensor<\w+x(?!f32)\w+> \*)")
_FUNCTION: Final = re.compile(r"@[\w$.]+")
_HINT: Final = r"tt\.(?:divisibility|contiguity|constancy) = dense<[^<>\"]*> : tensor<\d+xi32>"
_PURE: Final = re.compile(
    r"(?:arith\.|math\.|tt\.(?:splat|broadcast|expand_dims|make_range|addptr|get_program_id|get_num_programs"
    r"|reshape|trans|join|split|cat|bitcast|fp_to_fp|int_to_ptr|ptr_to_int|mulhiui|clampf|precise_|dot)\b)"
)


def prove_kernel(kernel: PortedKernel, translations: Translations) -> PortedKernel:
    """The kernel with its proof, for the define sets that it confirms.

    A set is proved where its TTIR is equal, or where the compiled code is literally that of a proved set, up
    to the values of free constexprs. All others, and those beyond ``MAX_PROVED``, are refused with all sets of
    their rows.
    """
    seen: dict[object, list[Difference]] = {}
    tried: list[Variant] = []
    # with parameters for defines: as the source with them, whatever they are; below, as the source without
    differing = list(differences(kernel.general, kernel.variants)) if kernel.arguments else []
    numbers = kernel.arguments.numbers if kernel.arguments else {}
    refused: list[Mapping[str, Any]] = []
    for member in kernel.sets:
        translated = translations.variants([{**member.defines, **numbers}])
        key = _key(kernel, translated[0]) if translated else None
        if key is None or (key not in seen and len(seen) >= MAX_PROVED):
            refused.append(member.defines)
            continue
        if key not in seen:
            seen[key] = [*differences(kernel.folded, translated)]
        tried += translated
        differing += [difference._replace(defines=member.defines) for difference in seen[key]]
    sample = tried[:: max(1, len(tried) // MAX_GROUPED)] if kernel.folded.grouped else ()
    grouped = translations.in_groups(GROUP_SIZE).variants(variant.defines for variant in sample)
    proof = Proof(
        Compared(len(tried), tuple(differing)),
        Compared(len(grouped), tuple(differences(kernel.folded, grouped, GROUP_SIZE))),
    )
    refused += [difference.defines for difference in proof.wrong]
    return replace(kernel.without(refused) if refused else kernel, proof=proof)


def _key(kernel: PortedKernel, variant: Variant) -> object:
    """The key of define sets that are proved together: both sources, and the parameters."""
    translation = variant.translation
    return kernel.specialised(variant.defines), translation.text, repr(translation.parameters)


# ---------------------------------------------------------------- comparing TTIR


def differences(
    folded: Folded,
    variants: Sequence[Variant],
    group: int | None = None,
) -> Iterator[Difference]:
    """The variants for which the folded kernel has another TTIR; nothing where the proof holds for all.

    ``group``: how many of the programs of both run in a group.
    """
    more = {GROUP: group} if folded.grouped else {}
    for defines, translation in variants:
        wanted = ttir(translation.function, translation.text, translation.parameters, translation.constexprs)
        try:
            constexprs = folded.bind(defines) | more
            actual = ttir(folded.function, folded.text, translation.parameters, constexprs)
        except Exception as error:  # any error of Triton
            yield Difference(defines, tuple(str(error).splitlines()[:MAX_DIFFERENCES]))
            continue
        if not _same(actual, wanted):
            lines = difflib.unified_diff(wanted, actual, "variant", "folded", n=0, lineterm="")
            yield Difference(defines, tuple(map(explained, islice(lines, MAX_DIFFERENCES))))


def _same(actual: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the statements are the same, but for hints that the first lacks."""
    return len(actual) == len(wanted) and all(map(_promises_no_more, actual, wanted))


def _promises_no_more(actual: str, wanted: str) -> bool:
    """Whether the lines are the same, or the first only lacks some of the hints of the second."""
    if actual == wanted:
        return True
    if '"' in actual + wanted:  # a string is not an attribute
        return False
    return _without_hints(actual) == _without_hints(wanted) and {*re.findall(_HINT, actual)} <= {
        *re.findall(_HINT, wanted)
    }


def _without_hints(line: str) -> str:
    """A line without its hints, which are entries of one dictionary."""
    return re.sub(rf" \{{{_HINT}\}}", "", re.sub(rf", {_HINT}", "", re.sub(rf"{_HINT}, ", "", line)))


def ttir(
    function: str,
    text: str,
    parameters: Sequence[Parameter],
    constexprs: Mapping[str, object],
) -> tuple[str, ...]:
    """The normal form of a kernel's TTIR, with every promise kept and addresses that are multiples of 16."""
    key = tuple(
        (p.identifier, signature_type(p.type), max(int(p.multiple_of), int(p.aligned))) for p in parameters
    )
    values = tuple(constexprs.items())
    return _ttir(function, text, key, values, repr(values))


@cache
def _ttir(
    function: str,
    text: str,
    parameters: tuple[tuple[str, str, int], ...],
    constexprs: tuple[tuple[str, Any], ...],
    spelled: str,  # 1, True and 1.0 are equal
) -> tuple[str, ...]:
    kernel = getattr(_loaded(text), function)
    signature = {name: type_ for name, type_, _ in parameters} | {name: "constexpr" for name, _ in constexprs}
    names = kernel.arg_names
    attributes = {}
    for name, type_, promised in parameters:
        divisor = max(promised, 16 if type_.startswith("*") else 1)
        if divisor > 1:
            attributes[names.index(name),] = [["tt.divisibility", divisor]]
    absent = [name for name in names if name not in signature]
    values = dict(constexprs) | dict.fromkeys(absent)
    source = ASTSource(
        fn=kernel,
        signature={name: signature.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in values.items()},
        attrs=attributes,
    )
    return normal_form(_compiled(source))


@cache
def _loaded(text: str) -> ModuleType:
    """The module of a text; Triton reads its source from Python's cache of lines."""
    name = f"proved_{sha256(text.encode()).hexdigest()[:16]}"
    path = f"<{name}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = ModuleType(name)
    module.__file__ = path
    exec(compile(text, path, "exec"), vars(module))
    return module


def _compiled(source: Any) -> str:
    """TTIR as text, without locations."""
    backend, context = _backend()
    options = backend.parse_options({})
    codegen = backend.get_codegen_implementation(options)
    module = source.make_ir(TARGET, options, codegen, backend.get_module_map(), context)
    backend.make_ttir(module, {}, options, 90)
    text: str = module.str_nodebug()
    return text


@cache
def _backend() -> tuple[Any, Any]:
    """The compiler for the target, and a context with its dialects, which takes longer to make than to use."""
    backend = make_backend(TARGET)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return backend, context


# ---------------------------------------------------------------- the normal form


def normal_form(text: str) -> tuple[str, ...]:
    """The statements of a module with effects, each over expressions; names count up from their definition."""
    names: dict[str, str] = {}  # of a value in the text: its expression, or a name that counts up
    lines: list[str] = []
    defined = 0
    for raw in text.splitlines():
        line = _FUNCTION.sub("@kernel", _LOCATION.sub("", raw).strip())
        line = _PRECISION.sub(r"\1", line)
        match = _RESULT.match(line)
        if match is not None and _PURE.match(match[2]):
            names[match[1]] = _hashed(_renamed(match[2], names))
            continue
        opens = _ARGUMENT if line.startswith(("tt.func", "^")) else _DEFINED
        results = [match[1]] if match is not None else []
        for name in [*results, *opens.findall(line)]:
            names[name.partition(":")[0]] = f"%v{defined}"
            defined += 1
        lines.append(_renamed(line, names))
    return tuple(lines)


_expressions: Final[dict[str, str]] = {}  # what the names of expressions stand for, to show differences


def _hashed(expression: str) -> str:
    """A short name for an expression: the same for the same expression."""
    name = f"%{sha256(expression.encode()).hexdigest()[:12]}"
    _expressions[name] = expression
    return name


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text over our names; a result of several (``%3#1``) keeps its number."""

    def ours(match: re.Match[str]) -> str:
        base, mark, place = match[0].partition("#")
        return f"{names[base.partition(':')[0]]}{mark}{place}"

    return _VALUE.sub(ours, text)


def explained(line: str, depth: int = 3) -> str:
    """A line of a normal form with its expressions written out, some levels deep."""
    if depth:
        for name in set(re.findall(r"%[0-9a-f]{12}", line)):
            written = _expressions[name].split(" : ")[0]
            line = line.replace(name, f"({explained(written, depth - 1)})")
    return line
