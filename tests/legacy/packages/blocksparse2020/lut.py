import torch

# Look-up tables. The kernels are told nothing about a layout but what stands in these.


def number_blocks(layout):
    """[heads, rows, cols]: the number of each block in the order of layout.nonzero(), -1 where there is none"""
    numbers = torch.full(layout.shape, -1, dtype=torch.int64)
    numbers[layout > 0] = torch.arange(int((layout > 0).sum()))
    return numbers


def sdd_tables(layout, max_pack):
    """
    Blocks that form a square are computed together: the largest squares first, then what is left.

    returns {pack: table}, one row for each square of pack x pack blocks:
        head, first row, first column, then the numbers of its blocks
    """
    numbers = number_blocks(layout)
    heads, rows, cols = layout.shape
    todo = layout > 0
    tables = dict()
    pack = max_pack
    while pack >= 1:
        entries = []
        for h in range(heads):
            for i in range(rows - pack + 1):
                for j in range(cols - pack + 1):
                    square = (h, slice(i, i + pack), slice(j, j + pack))
                    if not bool(todo[square].all()):
                        continue
                    todo[square] = False
                    entries += [[h, i, j] + numbers[square].flatten().tolist()]
        if entries:
            tables[pack] = torch.tensor(entries, dtype=torch.int32)
        pack = pack // 2
    assert not bool(todo.any())
    return tables


def cut(sizes):
    """
    Rows of very different lengths keep most of the device waiting for the longest one, so that long ones are cut.

    returns for each row the lengths of its pieces; a row without blocks has one piece, since it must be written too
    """
    mean = sum(sizes) / max(1, len(sizes))
    longest = max(1, int(1.5 * mean + 0.5))
    pieces = []
    for size in sizes:
        number = max(1, (size + longest - 1) // longest)
        base, more = divmod(size, number)
        pieces += [[base + 1] * more + [base] * (number - more)]
    return pieces


def dxx_table(layout, block, step, by_column, inner_stride):
    """
    For products of a sparse and a dense matrix. `by_column` walks down columns of the layout instead of along rows;
    `inner_stride` is how far apart elements of a block lie in the direction of the walk.

    returns the table, the number of pieces, the number of locks:
        for each piece six numbers: where its list begins, number of steps, row, head, lock, pieces of its row
        then the lists, for each step two numbers: how far to go in the dense matrix, how far in the sparse one;
        the first step counts from the beginning of both, and after the last one nobody moves
    """
    numbers = number_blocks(layout)
    if by_column:
        numbers = numbers.transpose(1, 2)
    heads, lines, _ = numbers.shape
    found = []
    for h in range(heads):
        for i in range(lines):
            others = (numbers[h, i] >= 0).nonzero().flatten().tolist()
            found += [(h, i, [(other, int(numbers[h, i, other])) for other in others])]
    pieces = cut([len(blocks) for _, _, blocks in found])
    n_pieces = sum(len(lengths) for lengths in pieces)
    n_locks = 0
    header, lists = [], []
    for (h, i, blocks), lengths in zip(found, pieces):
        lock = n_locks
        if len(lengths) > 1:
            n_locks += 1
        begin = 0
        for length in lengths:
            mine = blocks[begin:begin + length]
            begin += length
            header += [6 * n_pieces + len(lists), length * (block // step), i, h, lock, len(lengths)]
            # absolute offsets of all steps
            dense, sparse = [], []
            for other, number in mine:
                for k in range(0, block, step):
                    dense += [other * block + k]
                    sparse += [number * block * block + k * inner_stride]
            # and from one step to the next
            last_dense, last_sparse = 0, 0
            for d, s in zip(dense, sparse):
                lists += [d - last_dense, s - last_sparse]
                last_dense, last_sparse = d, s
            if not mine:
                lists += [0, 0]
            lists += [0, 0]
    return torch.tensor(header + lists, dtype=torch.int32), n_pieces, n_locks
