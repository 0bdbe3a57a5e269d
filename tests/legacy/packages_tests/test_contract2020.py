"""contract2020: contractions whose texts are assembled for each pattern."""

from __future__ import annotations

import contract2020
import pytest
import torch

PATTERNS = {
    "mk,kn->mn": ((20, 40), (40, 36)),
    "km,nk->nm": ((40, 20), (36, 40)),
    "bmk,bkn->bmn": ((2, 18, 20), (2, 20, 17)),
    "bhmk,bhnk->bhmn": ((2, 2, 10, 20), (2, 2, 9, 20)),
    "xky,kzl->xyzl": ((3, 24, 5), (24, 4, 6)),
    "mkl,knl->mn": ((20, 5, 7), (5, 19, 7)),
    "kml,lkn->nm": ((3, 20, 11), (11, 3, 5)),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_einsum(device, large, compare, pattern: str) -> None:
    factor = large(1, 4)
    a, b = (
        torch.randn(*(size * factor for size in sizes), device=device)
        .transpose(0, 1)
        .contiguous()
        .transpose(0, 1)
        for sizes in PATTERNS[pattern]
    )
    compare(
        lambda a, b: contract2020.einsum(pattern, a, b),
        lambda a, b: torch.einsum(pattern, a, b),
        (a, b),
        atol=3e-5,
    )


def test_einsum_in_half(device, large, compare) -> None:
    m, k, n = large((33, 35, 18), (1000, 520, 264))
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    compare(
        lambda a, b: contract2020.einsum("mk,kn->mn", a, b),
        lambda a, b: torch.einsum("mk,kn->mn", a.float(), b.float()).half(),
        (a, b),
        rtol=2e-3,
        atol=2e-3,
    )


def test_einsum_time(device, large) -> None:
    a = torch.randn(large(32, 2048), 48, device=device)
    time = contract2020.contract("mk,kn->mn", a, a.t().contiguous(), bench=10)
    assert isinstance(time, int)
    assert time >= 1


def test_chain(device, large) -> None:
    n = large(20, 300)
    a, b, c = (torch.randn(n, n, device=device) for _ in range(3))
    expressions = ["mk,kn->mn", "mk,nk->mn"]
    y, times = contract2020.chain(contract2020.contract, expressions, a, b, c, bench=2)
    torch.testing.assert_close(y, a @ b @ c.t(), rtol=1e-4, atol=1e-3)
    assert len(times) == 2
    assert min(times) >= 1
    torch.testing.assert_close(contract2020.chain(contract2020.contract, expressions, a, b, c), y)


def test_a_label_of_one_operand_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be summed"):
        contract2020.contract("mk,kn->m", torch.zeros(2, 2), torch.zeros(2, 2))
