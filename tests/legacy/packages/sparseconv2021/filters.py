import torch

# Filters [K, C, R, S] are cut along their channels. A layout [K / block, C / block, R, S] (rounded up) says which
# pieces are kept; these are stored as [number, block, block] in the order of layout.nonzero(), with zeros where
# the last block of channels is not full.


def blocks(n, block):
    return (n + block - 1) // block


def random_layout(K, C, R, S, block, density):
    """each row and column of blocks has at least one"""
    layout = (torch.rand(blocks(K, block), blocks(C, block), R, S) < density).long()
    for i in range(layout.size(0)):
        layout[i, i % layout.size(1), R // 2, S // 2] = 1
    for j in range(layout.size(1)):
        layout[j % layout.size(0), j, R // 2, S // 2] = 1
    return layout


def pack(w, layout, block):
    K, C, R, S = w.shape
    padded = w.new_zeros(layout.size(0) * block, layout.size(1) * block, R, S)
    padded[:K, :C] = w
    ret = []
    for k, c, r, s in layout.nonzero().tolist():
        ret += [padded[k * block:(k + 1) * block, c * block:(c + 1) * block, r, s]]
    return torch.stack(ret)


def unpack(x, layout, block, K, C):
    ret = x.new_zeros(layout.size(0) * block, layout.size(1) * block, layout.size(2), layout.size(3))
    for n, (k, c, r, s) in enumerate(layout.nonzero().tolist()):
        ret[k * block:(k + 1) * block, c * block:(c + 1) * block, r, s] = x[n]
    return ret[:K, :C]


def group_by(layout, dim):
    """
    for each block of output channels (dim 0) or input channels (dim 1): where its list begins, how long it is;
    in a list four numbers for each piece of a filter: block of the other channels, row, column, number of the piece
    """
    lines = [[] for _ in range(layout.size(dim))]
    for n, where in enumerate(layout.nonzero().tolist()):
        lines[where[dim]] += [[where[1 - dim], where[2], where[3], n]]
    begin = 2 * len(lines)
    header, entries = [], []
    for line in lines:
        header += [begin + len(entries), len(line)]
        for piece in line:
            entries += piece
    return torch.tensor(header + entries, dtype=torch.int32)


def one_by_one(layout):
    """four numbers for each piece: blocks of output and input channels, row, column"""
    return layout.nonzero().int().contiguous()
