"""Vector addition: the smallest Triton-C programs.

Three texts, each one step further. One program adds one block (`0 ... TILE` is a block of indices,
a block of pointers is loaded with `*`); many programs share a vector of any length (`*?(mask)`
touches only what is inside); and a list of tile sizes lets the fastest win.

    python examples/vector_add.py
"""

from __future__ import annotations

import torch

import pytriton as triton

ONE_BLOCK = """
__global__ void add(TYPE *Z, TYPE *X, TYPE *Y) {
  int i[TILE] = 0 ... TILE;
  TYPE *pz[TILE] = Z + i;
  TYPE x[TILE] = *(X + i);
  TYPE y[TILE] = *(Y + i);
  *pz = x + y;
}
"""

MANY_BLOCKS = """
__global__ void add(TYPE *Z __noalias, TYPE *X __noalias __readonly, TYPE *Y __noalias __readonly,
                    int n) {
  // this program's elements; the last program may own a few that do not exist
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n;
  TYPE *pz[TILE] = Z + i;
  TYPE *px[TILE] = X + i;
  TYPE *py[TILE] = Y + i;
  TYPE x[TILE] = *?(inside) px;
  TYPE y[TILE] = *?(inside) py;
  *?(inside) pz = x + y;
}
"""

one_block = triton.kernel(ONE_BLOCK)
many_blocks = triton.kernel(MANY_BLOCKS)


def add_one_block(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y in a single program; the length is the tile, so every length is another kernel."""
    z = torch.empty_like(x)
    one_block(z, x, y, grid=(1,), defines={"TYPE": x.dtype, "TILE": x.numel()})
    return z


def add(x: torch.Tensor, y: torch.Tensor, tile: int | list[int] = 512) -> torch.Tensor:
    """x + y for contiguous tensors of any length; a list of tiles is tuned over."""
    z = torch.empty_like(x)
    n = z.numel()
    many_blocks(
        *(z, x, y, n),
        grid=lambda opt: (triton.cdiv(n, opt.TILE),),
        defines={"TYPE": x.dtype, "TILE": tile},
    )
    return z


def add_tuned(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y with the fastest of four tiles."""
    return add(x, y, tile=[256, 512, 1024, 2048])


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    n = 10_000_019 if device == "cuda" else 10_019
    x, y = torch.randn(2, n, device=device)
    print(many_blocks.source({"TYPE": x.dtype, "TILE": 512}))
    want = x + y
    print(f"one block equals torch:   {torch.equal(add_one_block(x[:64], y[:64]), want[:64])}")
    print(f"many blocks equal torch:  {torch.equal(add(x, y), want)}")
    print(f"tuned tile equals torch:  {torch.equal(add_tuned(x, y), want)}")
    print(f"chosen among four tiles:  {many_blocks.best_config}")


if __name__ == "__main__":
    main()
