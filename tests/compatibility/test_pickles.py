"""What earlier versions pickled is read, wherever the files of the package stand now.

Made at commit 110b8e0 with protocol 4; ``test_wrong_use_copies.py`` reads a kernel with constant buffers as well.
If one of these fails, a name that pickles hold has moved: give the old name back, never make the pickle anew.
"""

from __future__ import annotations

import base64
import pickle
import pickletools
from typing import Any

import pytest
import torch

import pytriton

TEXT = """\
__global__ void scale(TYPE* z, TYPE* x, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(x + r) * FACTOR;
}
"""
POINTS = [pytriton.config({"TILE": 16}, 2), pytriton.config({"TILE": 32}, 8, num_stages=3)]

KERNEL = """
gASV/AEAAAAAAACMF3B5dHJpdG9uLnJ1bnRpbWUua2VybmVslIwJdW5waWNrbGVklJOUfZQojAZmb3JtYXSUSwGMB3ZlcnNpb26UjAUwLjEuMJ
SMBnNvdXJjZZRdlCiMml9fZ2xvYmFsX18gdm9pZCBzY2FsZShUWVBFKiB6LCBUWVBFKiB4LCBpbnQgbikgewogIGludCByW1RJTEVdID0gZ2V0
X3Byb2dyYW1faWQoMCkgKiBUSUxFICsgMCAuLi4gVElMRTsKICAqPyhyIDwgbikoeiArIHIpID0gKj8ociA8IG4pKHggKyByKSAqIEZBQ1RPUj
sKfQqUjAg8a2VybmVsPpSMCG1rLnB5OjEylGWMBHRleHSUXZQoTl2UiWWMB2RlZmluZXOUfZQojARUWVBFlIwFdG9yY2iUjAdmbG9hdDMylJOU
jAZGQUNUT1KUSwN1jAludW1fd2FycHOUTowKbnVtX3N0YWdlc5ROjAZwb2ludHOUXZQofZQoaA99lIwEVElMRZRLEHNoFksCdX2UKGgPfZRoHE
sgc2gWSwhoF0sDdWWMCHNldHRpbmdzlH2UjAZkZXZpY2WUTnOMB291dHB1dHOUXZSMCmhldXJpc3RpY3OUTowJY29uc3RhbnRzlH2UKIwKZXZl
cnl3aGVyZZR9lIwCb26UXZR1dYWUUpQu
"""
CONFIG = """
gASVkgAAAAAAAACMGHB5dHJpdG9uLnJ1bnRpbWUub3B0aW9uc5SMCl9jb25maWdfb2aUk5R9lCiMB2RlZmluZXOUfZSMBFRJTEWUSyBzjAludW
1fd2FycHOUSwiMCm51bV9zdGFnZXOUSwOMCXByZWNpc2lvbpSMBGllZWWUjAVyZW1hcJRLAIwLZGVzY3JpcHRvcnOUiXWFlFKULg==
"""
OPERATOR = """
gASVTgAAAAAAAACMG3B5dHJpdG9uLm9wZXJhdG9ycy5vcGVyYXRvcpSMD19vcGVyYXRvcl9uYW1lZJSTlIwUY29tcGF0aWJpbGl0eTo6dHdpY2
WUhZRSlC4=
"""
ERROR = """
gASVOQEAAAAAAACMD3B5dHJpdG9uLmVycm9yc5SMCkNoZWNrRXJyb3KUk5RoAIwKRGlhZ25vc3RpY5STlCmBlF2UKIwFZXJyb3KUjAVUQzMwMZ
SMEyd5JyBpcyBub3QgZGVjbGFyZWSUjA9weXRyaXRvbi5zb3VyY2WUjARTcGFulJOUKYGUXZQoaAqMBlNvdXJjZZSTlCmBlH2UKIwEdGV4dJSM
JV9fZ2xvYmFsX18gdm9pZCBmKGludCogeCkgeyAqeCA9IHk7IH2UjARuYW1llIwDZi5jlIwGb3JpZ2lulE6MB19zdGFydHOUXZRLAGF1YkshSy
JOZWIpjDtnaXZlIGl0IGluIGRlZmluZXMsIGFzIGluIGRlZmluZXM9eyd5JzogLi4ufSwgb3IgZGVjbGFyZSBpdJRlYoWUiYaUUpQu
"""


def made() -> pytriton.Kernel:
    return pytriton.kernel(TEXT, defines={"TYPE": torch.float32, "FACTOR": 3}, autotune_configs=POINTS)


def read(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))


def names(data: bytes) -> set[str]:
    """The names of this package that a pickle of protocol 2 or lower holds."""
    told = [str(value) for code, value, _ in pickletools.genops(data) if code.name == "GLOBAL"]
    return {name.replace(" ", ".") for name in told if name.startswith("pytriton")}


@pytest.fixture
def twice() -> Any:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + x

    return pytriton.op("compatibility::twice", function)


def test_kernel() -> None:
    kernel = read(KERNEL)
    assert kernel.source() == made().source()
    x, z = torch.arange(50.0), torch.zeros(50)
    kernel(z, x, 50, grid=lambda opt: [pytriton.cdiv(50, opt.TILE)])
    torch.testing.assert_close(z, x * 3)


def test_config() -> None:
    assert read(CONFIG) == POINTS[1]


def test_operator(twice: Any) -> None:
    assert read(OPERATOR) is twice


def test_error() -> None:
    with pytest.raises(pytriton.CheckError) as caught:
        pytriton.translate("__global__ void f(int* x) { *x = y; }", name="f.c")
    assert str(read(ERROR)) == str(caught.value)


def test_new_ones_hold_the_same_names(twice: Any) -> None:
    """A process pool may hold workers of an older version: both ways have to work."""
    assert names(pickle.dumps(made(), 2)) == {"pytriton.runtime.kernel.unpickled"}
    assert names(pickle.dumps(POINTS[0], 2)) == {"pytriton.runtime.options._config_of"}
    assert names(pickle.dumps(twice, 2)) == {"pytriton.operators.operator._operator_named"}
