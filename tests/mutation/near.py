"""Which tests look at a file of pytriton most closely: a mutant of it meets these first, quick ones in front."""

from __future__ import annotations

from pathlib import PurePosixPath

__all__ = ["near"]

_COMPUTED = "tests/translate/test_translate.py::test_computes"
_REFUSED = "tests/errors/test_errors.py"
_FOUND = "tests/fuzz/test_found.py"
_CONVERTED = tuple(
    f"tests/conversions/test_{name}.py"
    for name in ("operators", "shapes", "constants", "mended", "assignments")
)
_JUDGED = ("tests/oracle/test_goldens.py", "tests/fuzz/test_fuzz.py")
_PREFETCHED = (
    "tests/passes/loops/test_prefetch.py",
    "tests/passes/loops/test_prefetch_kept.py",
    "tests/passes/speed/test_peel.py",
    "tests/passes/speed/test_diagonal.py",
    "tests/passes/loops/test_counted.py",
)
_ORDERED = ("tests/oracle/test_threads.py", "tests/passes/memory/test_overlap.py")
_PACKED = ("tests/passes/speed/test_packing.py", "tests/tuning/test_packing.py")
_PREPROCESSED = ("tests/lang/test_preprocess.py", "tests/fuzz/test_macros.py")

# By the innermost folder that is listed; by file where other tests than those of the folder come first.
_FOLDERS = {
    "pytriton": ("tests/translate", "tests/runtime"),
    "pytriton/lang": (_REFUSED, *_CONVERTED, _FOUND, "tests/conversions", _COMPUTED, *_JUDGED),
    "pytriton/passes": (_COMPUTED, _FOUND, "tests/passes", *_ORDERED, *_JUDGED, "tests/programs"),
    "pytriton/emit": (*_CONVERTED, "tests/conversions", _COMPUTED, _FOUND, *_JUDGED),
    "pytriton/runtime": ("tests/runtime",),
    "pytriton/gradient": ("tests/gradient",),
}
_FILES = {
    "pytriton/lang/preprocess/expand.py": _PREPROCESSED,
    "pytriton/lang/preprocess/macros.py": _PREPROCESSED,
    "pytriton/lang/preprocess/directives.py": _PREPROCESSED,
    "pytriton/lang/tokens.py": ("tests/lang/test_tokens.py", *_PREPROCESSED),
    "pytriton/lang/check/masks.py": (_COMPUTED, _FOUND),
    "pytriton/lang/tree/effects.py": ("tests/fuzz/test_effects.py", _COMPUTED),
    "pytriton/passes/memory/barriers.py": _ORDERED,
    "pytriton/passes/memory/overlap.py": _ORDERED,
    "pytriton/passes/analysis/affine.py": ("tests/passes/test_affine.py", *_PREFETCHED, *_ORDERED),
    "pytriton/passes/loops/slices.py": _PREFETCHED,
    "pytriton/passes/loops/counted.py": _PREFETCHED,
    "pytriton/passes/loops/rotate.py": _PREFETCHED,
    "pytriton/passes/loops/prefetch.py": _PREFETCHED,
    "pytriton/passes/speed/peel.py": _PREFETCHED,
    "pytriton/passes/speed/descriptors.py": ("tests/passes/speed/test_descriptors.py",),
    "pytriton/passes/speed/packing.py": _PACKED,
    "pytriton/tuning/copies.py": _PACKED,
    "pytriton/passes/speed/fast_math.py": (
        "tests/passes/speed/test_fast_math.py",
        "tests/passes/speed/test_exp2.py",
    ),
    "pytriton/passes/memory/provenance.py": ("tests/passes/memory/test_provenance.py", *_ORDERED),
    "pytriton/passes/speed/swizzle.py": ("tests/passes/speed/test_swizzle.py",),
    "pytriton/passes/speed/traits.py": (
        "tests/passes/speed/test_stages.py",
        "tests/tuning/test_feasibility.py",
    ),
    "pytriton/passes/analysis/liveness.py": ("tests/passes/lower/test_unreached.py",),
    "pytriton/passes/lower/unreached.py": ("tests/passes/lower/test_unreached.py",),
}


def near(path: str) -> tuple[str, ...]:
    """The tests for an edit of the file; a test stands once, and what it holds with it."""
    room = next(str(folder) for folder in PurePosixPath(path).parents if str(folder) in _FOLDERS)
    return tuple(dict.fromkeys((*_FILES.get(path, ()), *_FOLDERS[room])))
