"""The kernels of a text, ported and proved.

Input: what ``port_kernel`` takes. Output: for each ported kernel how many of its define sets are proved: those
whose TTIR is equal (prove.py), those that differ, with the lines that do, and of the latter those that leave the
same bytes in random memory (equivalence.py, on Triton's interpreter). A sample of unseen sizes is
proved as well.

Where something differs, the kernel is folded again without trusting Triton to drop this or that, and the attempt
with the fewest differences is kept. Needs triton, but no GPU.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytriton.errors import CompileError, counted
from pytriton.fold.join import RULES
from pytriton.fold.variants import Variant, number
from pytriton.passes.speed.swizzle import GROUP
from pytriton.port.equivalence import Case, compare, load_ported
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import ORIGINS, DefineSet, PortedKernel, port_kernel
from pytriton.port.ported import PortedText, port_text
from pytriton.port.prove import Difference, differences
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["ProvedKernel", "prove_kernel", "prove_text", "proved_kernels"]

MAX_PROVED: Final = 600  # pairs of a text and a translation, of one kernel
MAX_UNSEEN: Final = 8
MAX_GROUPED: Final = 16  # of those that are proved in groups, too
MAX_TRIES: Final = 200  # to find them
_UNSEEN: Final = (16, 32, 48, 64, 80, 96, 100, 128, 160, 256, 512, 640, 1000, 1024, 2048)


@dataclass(frozen=True)
class ProvedKernel:
    """A ported kernel and what is known of it.

    Of its define sets ``tried`` were compared: all but ``differing`` have equal TTIR. ``unequal`` are those of the
    differing ones that leave other bytes in memory, too, each with the first element. ``unseen`` counts define sets
    with unseen sizes, ``strange`` are the differences among them; ``grouped`` those that were also
    compared with their programs in groups, ``scattered`` are the differences there.
    """

    kernel: PortedKernel
    tried: int
    differing: tuple[Difference, ...]
    unequal: tuple[Difference, ...]
    unseen: int
    strange: tuple[Difference, ...]
    grouped: int = 0
    scattered: tuple[Difference, ...] = ()

    @property
    def wrong(self) -> tuple[Difference, ...]:
        """All differences."""
        return *self.differing, *self.strange, *self.scattered

    @property
    def disproved(self) -> bool:
        """Whether some define set computes something else; it is refused."""
        return bool(self.unequal or self.strange or self.scattered)

    @property
    def by_ttir(self) -> int:
        """How many define sets have equal TTIR."""
        return self.tried - len(self.differing)

    def summary(self) -> str:
        """``84 define sets (80 observed, 4 combined), 84 proved by TTIR``, and what else there is to say."""
        known = self.kernel.sets
        counts = Counter(origin for one in known for origin in one.origins)
        found = ", ".join(f"{counts[origin]} {origin}" for origin in ORIGINS if counts[origin])
        tried = "" if self.tried == len(known) else f"{self.tried} tried, "
        said = f"{counted(len(known), 'define set')} ({found}), {tried}{self.by_ttir} proved by TTIR"
        if self.differing:
            said += f", {len(self.differing) - len(self.unequal)} by bytes on random memory"
        if self.unequal:
            said += f", {len(self.unequal)} differ"
        if self.unseen:
            said += (
                f"; {self.unseen - len(self.strange)} of {counted(self.unseen, 'unseen size')} proved by TTIR"
            )
        if self.grouped:
            said += f"; {self.grouped - len(self.scattered)} of {self.grouped} in groups"
        return said


def proved_kernels(
    source: Source,
    kernel: str | None,
    sets: Sequence[DefineSet],
    *,
    function: str | None = None,
    strict_literals: bool = False,
) -> tuple[ProvedKernel, ...]:
    """The kernel of this name as ``port_kernel`` makes it, with its proof. Raises Unportable."""
    translations = Translations(source, Settings(kernel, strict_literals=strict_literals))
    best: tuple[ProvedKernel, ...] = ()
    for rules in (RULES, *(RULES - {rule} for rule in sorted(RULES)), frozenset[str]()):
        ported = port_kernel(source, kernel, sets, function=function, translations=translations, rules=rules)
        proofs = tuple(prove_kernel(one, translations) for one in ported)
        if not best or _faults(proofs) < _faults(best):
            best = proofs
        if not _faults(best):
            break
    return best


def _faults(proofs: Sequence[ProvedKernel]) -> int:
    return sum(len(proof.wrong) for proof in proofs)


def prove_text(text: PortedText) -> tuple[PortedText, tuple[ProvedKernel, ...]]:
    """The kernels of a text, narrowed to what is proved, with their proofs; ported again where a proof fails."""
    strict = any(use.strict for use in text.job.uses)
    best = text, _proofs(text, strict)
    for rules in (*(RULES - {rule} for rule in sorted(RULES)), frozenset[str]()):
        if not _faults(best[1]):
            break
        again = port_text(text.found, text.given, text.observed, rules)
        proofs = _proofs(again, strict)
        if _faults(proofs) < _faults(best[1]):
            best = again, proofs
    return replace(best[0], kernels=tuple(proof.kernel for proof in best[1])), best[1]


def _proofs(text: PortedText, strict: bool) -> tuple[ProvedKernel, ...]:
    return tuple(
        prove_kernel(kernel, Translations(kernel.source, Settings(kernel.kernel, strict_literals=strict)))
        for kernel in text.kernels
    )


def prove_kernel(kernel: PortedKernel, translations: Translations) -> ProvedKernel:
    """The proof of a ported kernel, and the kernel for the define sets that it confirms.

    A set is proved where its TTIR is equal, or where what is compiled is literally that of a set that is proved, up
    to the values of free constexprs. A set that a launch gives may also leave the same bytes in random memory. All
    others, and those for which there is no time, are refused from now on, with all sets of their rows.
    """
    seen: dict[object, Difference | None] = {}
    tried: list[Variant] = []
    differing: list[Difference] = []
    unequal: list[Difference] = []
    refused: list[Mapping[str, Any]] = []
    for known in sorted(kernel.sets, key=lambda one: one.origins == {"combined"}):
        (variant,) = _translated([known.defines], translations)
        key = _key(kernel, variant)
        if key not in seen and len(seen) >= MAX_PROVED:
            refused.append(known.defines)
            continue
        if key not in seen:
            seen[key] = next(differences(kernel.folded, [variant]), None)
        tried.append(variant)
        difference = seen[key]
        if difference is not None:
            differing.append(difference._replace(defines=known.defines))
            wrong = _unequal(kernel, variant)
            unequal += [wrong] if wrong else []
            if wrong or known.origins == {"combined"}:
                refused.append(known.defines)
    unseen = _translated(itertools.islice(_unseen(kernel), MAX_UNSEEN), translations)
    strange = tuple(differences(kernel.folded, unseen))
    grouped = _in_groups(kernel, tried, translations)
    scattered = tuple(differences(kernel.folded, grouped, GROUP))
    refused += [difference.defines for difference in (*strange, *scattered)]
    return ProvedKernel(
        kernel.without(refused) if refused else kernel,
        len(tried),
        tuple(differing),
        tuple(unequal),
        len(unseen),
        strange,
        len(grouped),
        scattered,
    )


def _key(kernel: PortedKernel, variant: Variant) -> object:
    """What is equal for define sets that are proved together: both texts, and the types of the parameters."""
    types = tuple(
        (p.identifier, str(p.type), p.multiple_of, p.aligned) for p in variant.translation.parameters
    )
    return kernel.folded.specialised(variant.defines), variant.translation.text, types


def _in_groups(kernel: PortedKernel, tried: Sequence[Variant], translations: Translations) -> list[Variant]:
    """Some of the variants with their programs in groups, if the kernel has them."""
    sample = tried[:: max(1, len(tried) // MAX_GROUPED)] if kernel.folded.grouped else ()
    return _translated((variant.defines for variant in sample), translations.in_groups(GROUP))


def _translated(sets: Any, translations: Translations) -> list[Variant]:
    variants = []
    for defines in sets:
        translation = translations(defines)
        if not isinstance(translation, CompileError):
            variants.append(Variant(defines, translation))
    return variants


def _unseen(kernel: PortedKernel) -> Iterator[Mapping[str, Any]]:
    """Define sets that are served, with sizes of blocks that none of the known sets has."""
    chance = random.Random(kernel.function)
    known = [one.defines for one in kernel.sets]
    sizes = [name.name for name in kernel.constexprs if name.kind == "number"]
    sizes = [name for name in sizes if all(isinstance(number(d.get(name)), int) for d in known)]
    seen = [{name: number(defines.get(name)) for name in sizes} for defines in known]
    for _ in range(MAX_TRIES if sizes else 0):
        defines = {**chance.choice(known), chance.choice(sizes): chance.choice(_UNSEEN)}
        here = {name: number(defines[name]) for name in sizes}
        if here not in seen and kernel.refusal(defines) is None:
            seen.append(here)
            yield defines


def _unequal(kernel: PortedKernel, variant: Variant) -> Difference | None:
    """What the folded kernel leaves in random memory that the text does not; None if all bytes are equal."""
    present = [parameter.identifier for parameter in variant.translation.parameters]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "folded.py")
        path.write_text(kernel.text)
        function = getattr(load_ported(path), kernel.function)

        def launch(*arguments: Any, config: Any, grid: Any) -> None:
            given = dict(zip(present, arguments, strict=True))
            function[grid](*(given.get(name) for name in kernel.folded.parameters), **config.kwargs)

        try:
            case = Case(variant.defines, kernel.folded.bind(variant.defines))
            compare(kernel.source.text, variant.translation.kernel, launch, case, 16, (2, 2, 2))
        except Exception as error:  # whatever Triton raises of a kernel that it cannot interpret
            return Difference(variant.defines, tuple(str(error).splitlines()))
    return None
