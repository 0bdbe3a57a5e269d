"""Look-up tables of block-sparse layouts [heads, rows, columns], which sparse2020 and sparse2021 share."""

import torch


def list_blocks(layout, dim):
    """for each row (dim 1) or column (dim 2) of blocks a header, then its blocks and their places"""
    heads, size = layout.size(0), layout.size(dim)
    number = torch.full(layout.shape, -1, dtype=torch.int64)
    number[layout > 0] = torch.arange(int(layout.sum()))
    header, entries = [], []
    for h in range(heads):
        for i in range(size):
            line = number[h].select(dim - 1, i)
            others = (line >= 0).nonzero().flatten().tolist()
            header += [len(others), 4 * heads * size + len(entries), i, h]
            for other in others:
                entries += [int(line[other]), other]
    return header + entries, size


def make_luts(layout, device):
    """the blocks, and those of each row and of each column"""
    layout = layout.cpu().long()
    luts = {"sdd": layout.nonzero().int().contiguous().to(device)}
    for name, dim in (("rows", 1), ("cols", 2)):
        numbers, size = list_blocks(layout, dim)
        luts[name] = torch.tensor(numbers, dtype=torch.int32, device=device), size
    return luts


def make_row_lut(layout, device):
    """the blocks of each row that has any, the number of these rows, and the blocks of the longest"""
    layout = layout.cpu().long()
    where = layout.nonzero()
    header, entries, longest = [], [], 0
    lines = [(h, i) for h in range(layout.size(0)) for i in range(layout.size(1)) if layout[h, i].any()]
    for h, i in lines:
        blocks = ((where[:, 0] == h) & (where[:, 1] == i)).nonzero().flatten().tolist()
        header += [len(blocks), 4 * len(lines) + len(entries), i, h]
        entries += [n for block in blocks for n in (block, int(where[block, 2]))]
        longest = max(longest, len(blocks))
    lut = torch.tensor(header + entries, dtype=torch.int32, device=device)
    return lut, len(lines), longest
