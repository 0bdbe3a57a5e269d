"""Section 8: order within a program, what may alias, and the barriers that a GPU needs for it."""

from __future__ import annotations

import pytest
import torch

from tests.specification.asking import ptx, run, same

# What stands between a first and a second statement: whether a barrier is needed there.
# i is a block of 1024 indices; X and Y are pointers that may alias, N and M are not. (A smaller block is held by
# several threads, which do not wait for each other even at one address.)
ORDERS = [
    ("a load of what a store through another block wrote", "*(X + i) = 1;", "a = *(X + 1023 - i);", True),
    ("through the identical block of pointers", "*(X + i) = 1;", "a = *(X + i);", False),
    ("through the identical variable", "*p = 1;", "a = *p;", False),
    ("one element of a stored row (cross-entropy)", "*(X + i) = 1;", "a = *(X + n);", True),
    ("a store over what a load still reads", "a = *(X + 1023 - i);", "*(X + i) = a;", True),
    ("a store over what an identical load read", "a = *(X + i);", "*(X + i) = a + 1;", False),
    ("another parameter may alias", "*(X + i) = 1;", "a = *(Y + i);", True),
    ("unless it is __noalias", "*(X + i) = 1;", "a = *(N + i);", False),
    ("or the stored one is", "*(N + i) = 1;", "a = *(X + i);", False),
    ("two of them", "*(N + i) = 1;", "a = *(M + 1023 - i);", False),
    ("a __noalias parameter aliases itself", "*(N + i) = 1;", "a = *(N + 1023 - i);", True),
    ("a pointer made of it too", "*(N + i) = 1;", "a = *q;", True),
    ("two loads need none", "a = *(X + i);", "b = *(X + 1023 - i);", False),
    ("a masked store and a load of other elements", "*?(i < n)(X + i) = 1;", "a = *?(i >= n)(X + 1023 - i);",
    True),
    ("a load in a ternary", "*(X + i) = 1;", "a = i < n ? *(X + 1023 - i) : 0;", True),
    ("a store in an if", "if (n > 3) *(X + i) = 1;", "a = *(X + 1023 - i);", True),
    ("a load in an if", "*(X + i) = 1;", "if (n > 3) a = *(X + 1023 - i);", True),
    ("a store in a loop", "for (int k = 0; k < n; k += 1) *(X + i) = k;", "a = *(X + 1023 - i);", True),
    ("another type, one address", "*(X + i) = 1;", "b = *((int*)X + 1023 - i);", True),
]  # fmt: skip

TEXT = """
void f(float* X, float* Y, float* N __noalias, float* M __noalias, float* out __noalias, int n) {
  int i[1024] = 0 ... 1024;
  float a[1024] = 0;
  float b[1024] = 0;
  float* p[1024] = X + i;
  float* q[1024] = N + 1023 - i;
  FIRST
  SECOND
  *(out + i) = a + b;
}"""


def between(first: str, second: str) -> str:
    return ptx(TEXT.replace("FIRST", first).replace("SECOND", second))


@pytest.mark.parametrize(("says", "first", "second", "needed"), ORDERS, ids=[x[0] for x in ORDERS])
def test_barriers_where_they_are_needed_and_nowhere_else(
    says: str, first: str, second: str, needed: bool
) -> None:
    assert ("bar.sync" in between(first, second)) == needed


def test_a_barrier_between_the_turns_of_a_loop() -> None:
    """The store of one turn is read through other pointers by the next."""
    loop = "for (int k = 0; k < n; k += 1) { a = *(X + 1023 - i); *(X + i) = a + 1; }"
    assert between(loop, "").count("bar.sync") >= 2
    same_block = "for (int k = 0; k < n; k += 1) { a = *(X + i); *(X + i) = a + 1; }"
    assert "bar.sync" not in between(same_block, "")


def test_statements_keep_program_order() -> None:
    x = torch.tensor([1.0, -2.0, 3.0, -4.0])
    text = """void f(float* X) {
      int i[4] = 0 ... 4;
      float a[4] = *(X + i);
      *(X + 3 - i) = a;
      float b[4] = *(X + i);
      *X = b[+] + *(X + 1);
      *(X + 1) = *X * 10;
    }"""
    run(text, x)
    same(x, [1, 10, -2, 1])


def test_distinct_parameters_may_be_one_tensor() -> None:
    x = torch.arange(8.0) - 3
    text = """void f(float* X, float* Y) {
      int i[4] = 0 ... 4;
      *(Y + i) = *(X + 4 + i);
      *(Y + 4 + i) = *(X + i) * 2;
    }"""
    run(text, x, x)
    same(x, [1, 2, 3, 4, 2, 4, 6, 8])


def test_cross_entropy_in_place() -> None:
    """A row is stored, one element of it is loaded back: its loss."""
    text = """void f(float* X, long* T, float* L, int n) {
      int row = get_program_id(0);
      float* px[T_N] = X + row * n + 0 ... T_N;
      bool in[T_N] = 0 ... T_N < n;
      float x[T_N] = in ? *px : -INFINITY;
      x -= x[max];
      x = log(exp(x)[+]) - x;
      *?(in)px = x;
      *(L + row) = *(X + row * n + *(T + row));
    }"""
    x, t, loss = torch.linspace(-5, 6, 18).reshape(3, 6).clone(), torch.tensor([5, 0, 3]), torch.zeros(3)
    want = torch.nn.functional.cross_entropy(x, t, reduction="none")
    nll = -torch.log_softmax(x, 1)
    run(text, x, t, loss, 6, grid=3, defines={"T_N": 6})
    same(loss, want, 1e-5)
    same(x, nll, 1e-5)
