import torch


def local_layout(heads, size, width):
    """each row of blocks has those at most `width` blocks away from the diagonal"""
    layout = torch.zeros(heads, size, size, dtype=torch.int64)
    for i in range(size):
        layout[:, i, max(0, i - width):i + width + 1] = 1
    return layout


def strided_layout(heads, size, stride):
    """the diagonal, and every stride-th column of blocks up to it; each head begins with another column"""
    layout = torch.zeros(heads, size, size, dtype=torch.int64)
    for h in range(heads):
        for i in range(size):
            layout[h, i, i] = 1
            layout[h, i, h % stride:i:stride] = 1
    return layout


def to_blocks(x, layout, block):
    """[batch, heads, M, N] -> [batch, number, block, block]"""
    ret = torch.empty(x.size(0), int(layout.sum()), block, block, dtype=x.dtype, device=x.device)
    for n, (h, i, j) in enumerate(layout.nonzero().tolist()):
        ret[:, n] = x[:, h, i * block:(i + 1) * block, j * block:(j + 1) * block]
    return ret


def to_dense(x, layout, block):
    """[batch, number, block, block] -> [batch, heads, M, N], zero where there is no block"""
    heads, rows, cols = layout.shape
    ret = torch.zeros(x.size(0), heads, rows * block, cols * block, dtype=x.dtype, device=x.device)
    for n, (h, i, j) in enumerate(layout.nonzero().tolist()):
        ret[:, h, i * block:(i + 1) * block, j * block:(j + 1) * block] = x[:, n]
    return ret
