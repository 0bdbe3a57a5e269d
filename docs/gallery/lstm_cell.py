# %%
# # LSTM cell
#
# One step of an LSTM: two matrix products give four gates, and the rest is one kernel.

import torch

import pytriton

SOURCE = """
#define GATE(k) ((gate == k)[newaxis, :, newaxis] ? v : 0)[:, +, :]

// G [m, 4 * n]: what the products give for the gates input, forget, cell, output
__global__ void lstm_cell(TYPE *H __noalias, TYPE *C __noalias, TYPE *G __readonly, TYPE *BIAS __readonly,
                          TYPE *BEFORE __readonly, int m, int n) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int gate[4] = 0 ... 4;
  bool inside[TM, TN] = (rm < m)[:, newaxis] && (rn < n)[newaxis, :];
  long offset[TM, TN] = (long[TM, 1])rm[:, newaxis] * n + rn[newaxis, :];
  int column[4, TN] = gate[:, newaxis] * n + rn[newaxis, :];
  TYPE *pg[TM, 4, TN] = G + (long[TM, 1, 1])rm[:, newaxis, newaxis] * (4 * n) + column[newaxis, :, :];
  float bias[4, TN] = (rn < n)[newaxis, :] ? *(BIAS + column) : 0;
  float v[TM, 4, TN] = (inside[:, newaxis, :] ? *pg : 0) + bias[newaxis, :, :];
  float before[TM, TN] = inside ? *(BEFORE + offset) : 0;
  float c[TM, TN] = sigmoid(GATE(1)) * before + sigmoid(GATE(0)) * tanh(GATE(2));
  *?(inside) (C + offset) = c;
  *?(inside) (H + offset) = sigmoid(GATE(3)) * tanh(c);
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TM": [2, 4], "TN": [128, 256, 512, 1024]}, num_warps=[4, 8])

# %%
# The four gates are one block with an axis of their own, on which a sum picks one of them. So `G` is loaded at
# one place, and its gradient is stored; loaded gate by gate, it would be added up by atomics. Two outputs, `h`
# and `c`, have two cotangents; the derivation adds them. The products are torch's own, and autograd joins the
# three.


@pytriton.op("gallery::lstm_gates", gradient=True)
def gates(g: torch.Tensor, bias: torch.Tensor, before: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What the gates g + bias [m, 4 n] make of the cell [m, n]: the hidden state, and the cell."""
    g, before = g.contiguous(), before.contiguous()
    m, n = before.shape
    h, c = torch.empty_like(before), torch.empty_like(before)
    kernel(
        h,
        c,
        g,
        bias.contiguous(),
        before,
        m,
        n,
        grid=lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
        defines={"TYPE": g.dtype},
    )
    return h, c


def lstm_cell(
    x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, u: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """One step: x [m, k], h and c [m, n], weights [4 n, k] and [4 n, n], in torch's order of gates."""
    return gates(torch.addmm(x @ w.t(), h, u.t()), bias, c)


# %%
# Against torch, forward and gradients:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cell = torch.nn.LSTMCell(10, 70, device=device)
    x, h, c = (torch.randn(9, n, device=device, requires_grad=True) for n in (10, 70, 70))
    ours = lstm_cell(x, h, c, cell.weight_ih, cell.weight_hh, cell.bias_ih + cell.bias_hh)
    theirs = cell(x, (h, c))
    torch.testing.assert_close(ours, theirs)
    leaves, flowing = [x, h, c, *cell.parameters()], [torch.randn_like(y) for y in theirs]
    for mine, other in zip(*(torch.autograd.grad(y, leaves, flowing) for y in (ours, theirs)), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-4)
    print("agrees with torch")
