# ruff: noqa: E501
"""What the forward left in its outputs (gradient/derive/stored.py): read where it is what the backward needs.

Each program is compared with central differences in double, whether something is read or not.
"""

from __future__ import annotations

import pytest
import torch

import pytriton
from examples import attention
from tests.gradient.test_mutants import loaded
from tests.gradient.test_rescaled import FOUR, compare
from tests.mutation.mutant import Mutant
from tests.mutation.of_gradient import STORED as MUTANTS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

READ = "as the forward left it"
SUMS = f"T m[4] = -9; T s[4] = 0; T c[4, 4] = 0; {FOUR} T f[4, 4] = a[:, newaxis] * v[newaxis, :]; T q[4] = max(m, f[:, max]); T e[4] = exp(m - q); T p[4, 4] = exp(f - q[:, newaxis]); T g[4, 4] = a[newaxis, :] + v[:, newaxis]; s = s * e + p[:, +]; c = c * e[:, newaxis] + p @ g; m = q; }} T u[4] = *(x + o); "
LSE = "(y + r * 40 + o)"
MEAN = "(y + r * 40 + 4 + o[:, newaxis] * 4 + o[newaxis, :])"
OTHER = "(y + r * 40 + 20 + o[:, newaxis] * 4 + o[newaxis, :])"

# Large scores without a number beyond 1000 in the source, next to which nothing stored is read.
LARGE = SUMS.replace("T q[4]", "f = o[:, newaxis] < 3 ? f : 500 * (4 * f); T q[4]")

# By the number of values that the backward reads.
PROGRAMS: dict[str, tuple[int, str]] = {
    "both": (2, f"*{LSE} = m + log(s); *{MEAN} = c / s[:, newaxis];"),
    "under one mask": (2, f"*?(o < 3) {LSE} = m + log(s); *?((o < 3)[:, newaxis]) {MEAN} = c / s[:, newaxis];"),
    "under a mask with a name": (2, f"bool some[4] = o < 3; bool all[4, 4] = some[:, newaxis]; *?(some) {LSE} = log(s) + m; *?(all) {MEAN} = c / s[:, newaxis];"),
    "by variables": (2, f"T d[4, 4] = c / s[:, newaxis]; T n2[4] = m + log(s); T *z[4, 4] = {MEAN}; *{LSE} = n2; *z = d;"),
    "the exponent alone, which saves nothing": (0, f"*{LSE} = m + log(s); *{MEAN} = c / s[:, newaxis] * u[newaxis, :];"),
    "the exponent under another mask": (1, f"*?(o < 3) {LSE} = m + log(s); *{MEAN} = c / s[:, newaxis];"),
    "the exponent under a mask of columns": (1, f"*?(o < 3) {LSE} = m + log(s); *?((o < 3)[newaxis, :]) {MEAN} = c / s[:, newaxis];"),
    "the exponent beside a value without a mask": (0, f"*?(o < 3) {LSE} = m + log(s); *{MEAN} = c / s[:, newaxis] * u[newaxis, :];"),
    "a mean under its mask": (1, f"*?((o < 3)[newaxis, :]) {MEAN} = c / s[:, newaxis];"),
    "a mean that another output reads": (0, f"*?((o < 3)[newaxis, :]) {MEAN} = c / s[:, newaxis]; *{OTHER} = c / s[:, newaxis] * u[newaxis, :];"),
    "a mean that a branch reads": (0, f"T b[4, 4] = c; if (r > 0) b = c * 2; *?((o < 3)[newaxis, :]) {MEAN} = c / s[:, newaxis]; *{OTHER} = b / s[:, newaxis];"),
    "a multiple of a mean": (0, f"*{MEAN} = c / s[:, newaxis] * 2;"),
    "a mean that programs add up": (0, f"atomic_add({MEAN} - r * 40, c / s[:, newaxis]);"),
    "large scores outside of the mask": (2, f"*?(o < 3) {LSE} = m + log(s); *?((o < 3)[:, newaxis]) {MEAN} = c / s[:, newaxis];"),
}  # fmt: skip


def body_of(name: str) -> str:
    return (LARGE if "large" in name else SUMS) + PROGRAMS[name][1]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(4)
def test_reads(name: str) -> None:
    assert compare(body_of(name)).count(READ) == PROGRAMS[name][0]


@pytest.mark.parametrize(
    ("mutant", "name"), [pytest.param(Mutant(*row[:4]), row[4], id=row[0]) for row in MUTANTS]
)
@pytest.mark.sampled(2)
def test_mutant(mutant: Mutant, name: str) -> None:
    with loaded(mutant) as derive, pytest.raises((AssertionError, KeyError, pytriton.UnsupportedError)):
        compare(body_of(name), derive)


STATISTICS = attention.SOURCE.replace(
    "int M, int N,", "TYPE *LSE __noalias __writeonly, int M, int N,"
).replace("  acc = acc / l", "  *?(rm < M) (LSE + (head * (long)M + rm)) = m + log(l);\n  acc = acc / l")


@pytest.mark.parametrize("causal", [False, True])
def test_attention_reads_its_statistics(causal: bool) -> None:
    """With cotangents of both outputs, against torch. Each kernel has one loop: nothing is computed again."""
    generator, keys = torch.Generator().manual_seed(5), 40 if causal else 24
    q, k, v, flow = (torch.randn(2, size, 16, generator=generator).double() for size in (40, keys, keys, 40))
    of_rows = torch.randn(2, 40, generator=generator).double()
    defines = {"TYPE": torch.double, "TM": 16, "TN": 16, "D": 16, **({"CAUSAL": 1} if causal else {})}
    kernel = pytriton.kernel(STATISTICS.replace("float", "TYPE"), defines=defines)
    derived = pytriton.gradient(kernel)
    o, lse = torch.full_like(q, torch.nan), torch.full((2, 40), torch.nan).double()
    strides = (step for tensor in (q, k, v) for step in tensor.stride()[:2])
    arguments = q, k, v, o, lse, 40, keys, 0.25, *strides
    kernel(*arguments, grid=(3, 2))
    gradients = derived(*arguments, grid=(3, 2), d_outputs={"O": flow, "LSE": of_rows})
    inputs = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
    scores = inputs[0] @ inputs[1].mT * 0.25
    if causal:
        scores = scores.masked_fill(torch.ones(40, keys).triu(1).bool(), -torch.inf)
    ((scores.softmax(-1) @ inputs[2] * flow).sum() + (scores.logsumexp(-1) * of_rows).sum()).backward()
    for name, tensor in zip("QKV", inputs, strict=True):
        torch.testing.assert_close(gradients[name], tensor.grad)
    source = str(derived.source())
    assert source.count(READ) == 2
    assert "exp(m - m_new)" not in source


def test_rounded_statistics_are_computed_again() -> None:
    """Of halves, an exponent has three digits; means are as exact as the output."""
    text = STATISTICS.replace("TYPE *LSE", "half *LSE")
    source = str(
        pytriton.gradient(
            pytriton.kernel(text, defines={"TYPE": "half", "TM": 16, "TN": 16, "D": 16})
        ).source()
    )
    assert source.count(READ) == 1
    assert "*(O + " in source
    assert "*(LSE + " not in source
