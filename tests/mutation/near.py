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
    "tests/passes/test_prefetch.py",
    "tests/passes/test_prefetch_kept.py",
    "tests/passes/test_split.py",
    "tests/passes/test_loops.py",
)
_ORDERED = ("tests/oracle/test_threads.py", "tests/passes/test_steps.py")
_PREPROCESSED = ("tests/test_preprocess.py", "tests/fuzz/test_macros.py")

# By the innermost folder that is listed; by file where other tests than those of the folder come first.
_FOLDERS = {
    "pytriton": ("tests/translate", "tests/runtime"),
    "pytriton/lang": (_REFUSED, *_CONVERTED, _FOUND, "tests/conversions", _COMPUTED, *_JUDGED),
    "pytriton/passes": (_COMPUTED, _FOUND, "tests/passes", *_ORDERED, *_JUDGED, "tests/programs"),
    "pytriton/emit": (*_CONVERTED, "tests/conversions", _COMPUTED, _FOUND, *_JUDGED),
    "pytriton/runtime": ("tests/runtime",),
}
_FILES = {
    "pytriton/lang/expand.py": _PREPROCESSED,
    "pytriton/lang/macros.py": _PREPROCESSED,
    "pytriton/lang/preprocess.py": _PREPROCESSED,
    "pytriton/lang/tokens.py": ("tests/test_tokens.py", *_PREPROCESSED),
    "pytriton/lang/masks.py": (_COMPUTED, _FOUND),
    "pytriton/passes/barriers.py": _ORDERED,
    "pytriton/passes/disjoint.py": _ORDERED,
    "pytriton/passes/owners.py": _ORDERED,
    "pytriton/passes/steps.py": _ORDERED,
    "pytriton/passes/history.py": _PREFETCHED,
    "pytriton/passes/linear.py": _PREFETCHED,
    "pytriton/passes/loops.py": _PREFETCHED,
    "pytriton/passes/match.py": _PREFETCHED,
    "pytriton/passes/moved.py": _PREFETCHED,
    "pytriton/passes/prefetch.py": _PREFETCHED,
    "pytriton/passes/slices.py": _PREFETCHED,
    "pytriton/passes/split.py": _PREFETCHED,
    "pytriton/passes/descriptors.py": ("tests/passes/test_descriptors.py",),
    "pytriton/passes/powers.py": ("tests/passes/test_powers.py",),
    "pytriton/passes/provenance.py": ("tests/passes/test_provenance.py", *_ORDERED),
    "pytriton/passes/remap.py": ("tests/passes/test_remap.py",),
    "pytriton/passes/streams.py": ("tests/passes/test_streams.py",),
    "pytriton/passes/dead.py": ("tests/passes/test_unreached.py",),
    "pytriton/passes/tiles.py": ("tests/runtime/test_feasibility.py",),
    "pytriton/passes/unreached.py": ("tests/passes/test_unreached.py",),
}


def near(path: str) -> tuple[str, ...]:
    """The tests for an edit of the file; a test stands once, and what it holds with it."""
    room = next(str(folder) for folder in PurePosixPath(path).parents if str(folder) in _FOLDERS)
    return tuple(dict.fromkeys((*_FILES.get(path, ()), *_FOLDERS[room])))
