"""Declarations: parameters, locals, and the constants and types at file scope.

Attributes become the promises of a ``Symbol``; one that does not exist is an error with a suggestion.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any, Final

from pytriton.errors import closest
from pytriton.lang.check.context import CheckContext, ValueType, declare_failed
from pytriton.lang.check.expressions import value_of, values_of
from pytriton.lang.check.operators import defines_note, integer_constant
from pytriton.lang.check.words import base_type, build_type
from pytriton.lang.parse import syntax
from pytriton.lang.recording import is_power_of_2
from pytriton.lang.tree.convert import constant, convert, wrap
from pytriton.lang.tree.typed import Size, Symbol
from pytriton.lang.tree.types import ERROR, INT, TYPE_NAMES, BlockType, PointerType, ScalarType
from pytriton.source import Span

_WITHOUT_ARGUMENT: Final = {"readonly", "writeonly", "noalias", "retune"}
_WITH_ARGUMENT: Final = {"aligned", "multipleof"}
_IGNORED: Final = {"const", "volatile", "__constant__", "unused", "always_inline"}
MAX_BUFFER_BYTES: Final = 2**31 - 1
_RESTRICT: Final = {"restrict", "__restrict", "__restrict__"}


def declare_parameter(
    specifiers: syntax.Specifiers, declarator: syntax.Declarator, span: Span, context: CheckContext
) -> Symbol | None:
    """One parameter of a kernel, entered in scope."""
    if declarator.name is None:
        context.report.error("TC206", "a parameter needs a name", span, help="as in 'float *X'")
        return None
    type_ = build_type(base_type(specifiers, context), declarator.stars, (), span, context)
    if type_ is not None and (declarator.shape or isinstance(type_, BlockType)):
        context.report.error(
            "TC206",
            f"parameter '{declarator.name.text}' cannot be a block",
            span,
            help="pass a pointer and load the block in the kernel",
        )
        type_ = None
    if type_ is None:
        declare_failed(declarator, context)
        return None
    promises = _promises(specifiers, declarator, type_, context)
    if declarator.name.text in context.without_promises:
        promises |= {"multiple_of": 1, "aligned": 1}
    symbol = Symbol(
        declarator.name.text,
        type_,
        declarator.name.span,
        parameter=True,
        declaration=_declaration_text(specifiers, declarator),
        word=_type_word(specifiers),
        const=_is_const(specifiers, declarator),
        const_target=specifiers.has("const") and declarator.stars > 0,
        **promises,
    )
    context.scope.declare(symbol, context.report)
    return symbol


def local_symbol(
    specifiers: syntax.Specifiers, base: ValueType, declarator: syntax.Declarator, context: CheckContext
) -> Symbol | None:
    """A variable of a kernel, not yet in scope (its initialiser may use an outer one)."""
    assert declarator.name is not None
    if declarator.parameters is not None:
        message = "a function cannot be declared inside a kernel"
        help_ = "remove it: built-in functions need no declaration, and there are no others"
        context.report.error("TC405", message, declarator.span, help=help_)
        return None
    type_ = _declared_type(base, declarator, context)
    if type_ is None:
        return None
    promises = _promises(specifiers, declarator, type_, context)
    return Symbol(
        declarator.name.text,
        type_,
        declarator.name.span,
        declaration=declarator.span.text,
        word=_type_word(specifiers),
        multiple_of=promises.get("multiple_of", 1),
        aligned=promises.get("aligned", 1),
        const=_is_const(specifiers, declarator),
    )


def check_file_scope(node: syntax.Declaration, context: CheckContext) -> None:
    """A ``typedef``, an ``enum``, an integer constant, a constant buffer or an ignored prototype."""
    specifiers = node.specifiers
    if specifiers.enum is not None:
        _enum(specifiers.enum, context)
    if not node.declarators:
        return
    if any(declarator.parameters is not None for declarator in node.declarators):
        return  # a prototype of a built-in
    base = base_type(specifiers, context)
    for declarator in node.declarators:
        assert declarator.name is not None
        type_ = _declared_type(base, declarator, context)
        if type_ is None:
            declare_failed(declarator, context)
        elif specifiers.has("typedef"):
            context.scope.define_type(declarator.name.text, type_, declarator.name.span, context.report)
        elif isinstance(type_, PointerType) and _is_calloc(declarator.initializer):
            _buffer(specifiers, declarator, type_, context)
        else:
            _constant(declarator, type_, context)


def check_static_assert(node: syntax.StaticAssert, context: CheckContext) -> None:
    """``_Static_assert``: an error where its condition is 0."""
    condition = value_of(node.condition, context)
    if integer_constant(condition, "the condition of '_Static_assert'", context) == 0:
        message = f": {node.message}" if node.message else ""
        notes = defines_note(condition)
        context.report.error("TC316", f"static assertion failed{message}", node.condition.span, *notes)


# ---------------------------------------------------------------- parts


def _declared_type(
    base: ValueType | None, declarator: syntax.Declarator, context: CheckContext
) -> ValueType | None:
    sizes = values_of(declarator.shape, context)
    return build_type(base, declarator.stars, sizes, declarator.span, context)


def _enum(node: syntax.Enum, context: CheckContext) -> None:
    value = -1
    for token, expression in node.constants:
        value += 1
        if expression is not None:
            given = integer_constant(value_of(expression, context), "an enum constant", context)
            value = value if given is None else given
        if wrap(value, INT) != value:
            context.report.error("TC319", f"'{token.text}' does not fit into an int", token.span)
        symbol = Symbol(token.text, INT, token.span, value=value)
        context.scope.declare(symbol, context.report)


def _constant(declarator: syntax.Declarator, type_: ValueType, context: CheckContext) -> None:
    """``static const int T = 64;``"""
    assert declarator.name is not None
    value: int | float | None = None
    if isinstance(type_, ScalarType) and declarator.initializer is not None:
        expr = value_of(declarator.initializer, context)
        if expr.type == ERROR:
            declare_failed(declarator, context)
            return
        value = constant(convert(expr, type_)) if isinstance(expr.type, ScalarType) else None
    if value is None:
        context.report.error(
            "TC405",
            f"'{declarator.name.text}' at file scope must be a known constant",
            declarator.span,
            help="a buffer is 'float __constant__* name = calloc(64);', a size in bytes"
            if _is_calloc(declarator.initializer)
            else "write 'static const int name = 64;', or pass it as a parameter",
        )
        declare_failed(declarator, context)
        return
    symbol = Symbol(declarator.name.text, type_, declarator.span, value=value)
    context.scope.declare(symbol, context.report)


def _buffer(
    specifiers: syntax.Specifiers, declarator: syntax.Declarator, type_: PointerType, context: CheckContext
) -> None:
    """``char __constant__* tab = calloc(64);``: memory that the launcher supplies, like a parameter."""
    call = declarator.initializer
    assert declarator.name is not None
    assert isinstance(call, syntax.Call)
    if len(call.arguments) != 1 or isinstance(call.arguments[0], syntax.TypeName):
        message = "'calloc' takes one argument, a number of bytes"
        context.report.error("TC308", message, call.span, help="as in 'calloc(16 * sizeof(int))'")
        declare_failed(declarator, context)
        return
    size = integer_constant(value_of(call.arguments[0], context), "the size of a buffer", context)
    if size is not None and not 1 <= size <= MAX_BUFFER_BYTES:
        message = f"a buffer of {size} bytes: its size is 1 to {MAX_BUFFER_BYTES}"
        context.report.error("TC308", message, call.arguments[0].span)
        size = None
    if size is None:
        declare_failed(declarator, context)
        return
    symbol = Symbol(
        declarator.name.text,
        type_,
        declarator.name.span,
        parameter=True,
        declaration=_declaration_text(specifiers, declarator),
        noalias=True,
        buffer=size,
    )
    context.scope.declare(symbol, context.report)
    context.buffers.append(symbol)


def _promises(
    specifiers: syntax.Specifiers, declarator: syntax.Declarator, type_: ValueType, context: CheckContext
) -> dict[str, Any]:
    """The fields of a ``Symbol`` that the attributes set."""
    promises: dict[str, Any] = {}
    for attribute in (*specifiers.attributes, *declarator.attributes):
        name = attribute.name.strip("_")
        if name in _WITH_ARGUMENT:
            field = "aligned" if name == "aligned" else "multiple_of"
            promises[field] = max(promises.get(field, 1), _promised(attribute, name, type_, context))
        elif name in _WITHOUT_ARGUMENT or attribute.name in _RESTRICT:
            promises["noalias" if name == "restrict" else name] = True
        elif attribute.name not in _IGNORED:
            near = closest(name, _WITH_ARGUMENT | _WITHOUT_ARGUMENT)
            help = f"did you mean '{near}'?" if near else None
            context.report.error("TC317", f"unknown attribute '{attribute.name}'", attribute.span, help=help)
    if any(token.text in _RESTRICT for token in specifiers.words):
        promises["noalias"] = True
    return promises


def _promised(attribute: syntax.Attribute, name: str, type_: ValueType, context: CheckContext) -> int:
    """The number in ``aligned(n)`` or ``multipleof(n)``; 1 after an error."""
    if len(attribute.arguments) != 1:
        help_ = f"write '{name}(16)'"
        context.report.error("TC317", f"'{name}' takes one number", attribute.span, help=help_)
        return 1
    promised = value_of(attribute.arguments[0], context)
    value = integer_constant(promised, f"the argument of '{name}'", context)
    if value is None:
        return 1
    if value < 1 or (name == "aligned" and not is_power_of_2(value)):
        wanted = "a positive power of two" if name == "aligned" else "positive"
        context.report.error("TC317", f"'{name}' must be {wanted}, not {value}", attribute.span)
        return 1
    scalar = type_.element if isinstance(type_, BlockType) else type_
    pointer = isinstance(scalar, PointerType)
    if pointer != (name == "aligned") or (not pointer and scalar.is_float):  # type: ignore[union-attr]
        wanted = "pointers" if name == "aligned" else "integers"
        message = f"'{name}' applies to {wanted}, not to a value of type {type_}"
        help_ = "for a pointer there is '__aligned(16)', in bytes" if pointer else "remove it"
        help_ = "for an integer there is '__multipleof(8)'" if name == "aligned" and not pointer else help_
        context.report.error("TC317", message, attribute.span, help=help_)
        return 1
    return Size(value, promised)


def _is_const(specifiers: syntax.Specifiers, declarator: syntax.Declarator) -> bool:
    """Whether the variable itself is ``const``, not what it points to."""
    own = any(attribute.name == "const" for attribute in declarator.attributes)
    return own or (specifiers.has("const") and not declarator.stars)


def _is_calloc(value: syntax.Expr | None) -> bool:
    match value:
        case syntax.Call(callee=syntax.Name(id="calloc")):
            return True
    return False


def _type_word(specifiers: syntax.Specifiers) -> str:
    """The words of a type: a macro's name for all that it stands for."""
    spans = [token.span for token in specifiers.words if token.text in TYPE_NAMES]
    return " ".join([span.text for span, _ in groupby(spans)])


_LONG_FORM: Final = re.compile(r"__attribute__\s*\(\(\s*$")


def _declaration_text(specifiers: syntax.Specifiers, declarator: syntax.Declarator) -> str:
    """A parameter on one line, stars as ``pytriton format`` has them: ``__noalias float *X``."""
    span = specifiers.span.to(declarator.span)
    for attribute in specifiers.attributes:
        span = span.to(attribute.span)
    before = _LONG_FORM.search(span.source.text, max(0, span.start - 40), span.start)
    start = before.start() if before else span.start
    head, *promises = " ".join(span.source.text[start : span.end].split()).partition("(")
    text = re.sub(r" ?(\*[* ]*)(?=\w)", lambda stars: f" {stars[1].replace(' ', '')}", head) + "".join(
        promises
    )
    # The span of `__attribute__((...))` after the name ends with its last promise.
    return text + ")" * (text.count("(") - text.count(")"))
