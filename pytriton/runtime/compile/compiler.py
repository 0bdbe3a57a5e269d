"""One specialised function -> machine code for one target, by Triton's compiler. No GPU is needed.

``triton.compile(ASTSource(...), target, options)`` has the same form in Triton 3.6 to 3.9.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from pytriton.compat.triton_names import ASTSource, GPUTarget, PTXASError, knobs, triton
from pytriton.errors import CompileError
from pytriton.pipeline import Translation
from pytriton.runtime.compile.failures import Generated, complaint
from pytriton.runtime.compile.load import load
from pytriton.runtime.compile.module_cache import directory
from pytriton.runtime.compile.specialize import pin_ones, specialize
from pytriton.runtime.errors import LOG, refusal, remark, warn_once
from pytriton.runtime.launch.arguments import ONE, PLAIN
from pytriton.runtime.locks import compiling
from pytriton.runtime.options.defines import Config
from pytriton.source import Source

# Triton's own cache directory, moved into ours where it cannot be written.
#
# Triton stores what it compiles, and the C code with which it launches, and stops where it cannot: in a read-only
# home, on a full disk. Each compilation looks whether its directory can be written at all (``usable_cache``); a
# disk that fills up later is met where it stops the compiler (``move_cache``).


def usable_cache() -> None:
    """Move the cache if its directory cannot be made or written."""
    place = str(knobs.cache.dir)
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
    except OSError as error:
        move_cache(error)


def move_cache(error: OSError) -> bool:
    """Let Triton use a directory in ours from now on; False if it does already."""
    place = str(directory() / "triton")
    if place == knobs.cache.dir:
        return False
    warn_once(
        remark(
            f"Triton cannot use its cache directory {knobs.cache.dir} ({error.strerror}); "
            f"it uses {place}. Name another in TRITON_CACHE_DIR.",
            "TC561",
        )
    )
    knobs.cache.dir = place
    return True


ASSEMBLY_MODES: Final = ("ttir", "ttgir", "llir", "ptx", "amdgcn")

_TARGET: Final = re.compile(r"cuda:(?P<capability>[0-9]{2,3})|hip:(?P<arch>gfx[0-9a-f]{3,4})")


def parse_target(text: object) -> Any:
    """``cuda:90`` or ``hip:gfx942`` as Triton's ``GPUTarget``; raises LaunchError for anything else."""
    match = _TARGET.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise refusal(f"unknown target {text!r}", "TC518", "write cuda:80, cuda:90 or hip:gfx942")
    if match["capability"]:
        return GPUTarget("cuda", int(match["capability"]), 32)
    # CDNA (gfx9) runs 64 threads in lockstep, RDNA (gfx10 and later) 32.
    return GPUTarget("hip", match["arch"], 64 if match["arch"].startswith("gfx9") else 32)


def compile_kernel(
    translation: Translation, specialization: Sequence[int], config: Config, target: Any, source: Source
) -> Any:
    """Triton's ``CompiledKernel`` for arguments of a ``specialization`` (a kind for each parameter, arguments.py).

    Raises UnsupportedError if Triton refuses the code; ``source`` is quoted then.
    """
    looser = tuple(PLAIN if kind == ONE else kind for kind in specialization)
    attempts = [_Attempt(translation, config, tuple(specialization))]
    if looser != attempts[0].specialization:
        # Triton 3.6: a load fails in a loop that is known never to be entered, as where a bound is 1; ptxas crashes
        # on attention to a single key.
        attempts.append(_Attempt(translation, config, looser))
    failures: list[Exception] = []
    LOG.debug("%s: %s is compiled for %s", translation.kernel, config, target)
    for attempt in attempts:
        try:
            return attempt.compiled(target)
        except Exception as error:
            failures.append(error)
            if not (_says_nothing(error) or isinstance(error, PTXASError)):
                break
    raise attempts[0].refused(failures[0], target, source) from failures[0]


class _Attempt:
    """A kernel with everything that Triton's compiler gets with it."""

    def __init__(self, translation: Translation, config: Config, specialization: tuple[int, ...]) -> None:
        self.specialization = specialization
        self._pinned = pin_ones(translation, specialization)
        self._module = load(self._pinned.function, self._pinned.text)
        self._options = _options(translation, config)
        names = self._module.compiled.arg_names
        self._source = specialize(self._pinned.parameters, self._pinned.constexprs, specialization, names)

    def compiled(self, target: Any) -> Any:
        source = ASTSource(fn=self._module.compiled, **self._source)
        with compiling():
            return _compiled(source, target, self._options)

    def refused(self, error: Exception, target: Any, source: Source) -> CompileError:
        printed = None
        if _says_nothing(error):
            printed = complaint(self._module.path, self._module.function, self._source, target, self._options)
        return Generated(self._pinned, self._module.path, source).refused(error, printed)


def _says_nothing(error: Exception) -> bool:
    """Whether an error comes from MLIR, which prints what is wrong instead of raising it."""
    return type(error) is RuntimeError


def _compiled(ast_source: Any, target: Any, options: Mapping[str, object]) -> Any:
    """What Triton makes of it; where it cannot write to its own cache, that moves into ours for this process."""
    usable_cache()
    try:
        return triton.compile(ast_source, target=target, options=options)
    except OSError as error:
        if not move_cache(error):
            raise
        return triton.compile(ast_source, target=target, options=options)


def _options(translation: Translation, config: Config) -> Mapping[str, object]:
    """Fusing a * b + c is allowed, as in C; double is exact, unless the user wants it fast. Given explicitly, as
    Triton's default will change."""
    options: dict[str, object] = {
        "num_warps": config.num_warps,
        "enable_fp_fusion": config.fast_math or not translation.traits.doubles,
    }
    if config.num_stages is not None:
        options["num_stages"] = config.num_stages
    return options


def assembly(compiled: Any, mode: str) -> str:
    """One stage of a compiled kernel as text; raises LaunchError for a stage that it lacks."""
    text = compiled.asm.get(mode) if mode in ASSEMBLY_MODES else None
    if not isinstance(text, str):
        stages = [stage for stage in ASSEMBLY_MODES if stage in compiled.asm]
        backend = compiled.metadata.target.backend
        raise refusal(
            f"there is no {mode!r} of a kernel for {backend}", "TC518", f"ask for {', '.join(stages)}"
        )
    return text


# Rows of ``pytriton info`` where torch and triton are installed.


def rows() -> dict[str, str]:
    """The devices that kernels run on, and where what is compiled and measured is kept."""
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "device": ", ".join(names) or "no GPU",
        "cache": str(directory()),
    }
