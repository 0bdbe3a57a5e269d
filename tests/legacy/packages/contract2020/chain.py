from importlib import import_module as load

def chain(op, exprs, first, *others, bench = 0):
    """contractions one after another, each with the result of the one before; with bench also their times"""
    triton = load('triton')
    times = []
    for expr, x in zip(exprs, others):
        if bench:
            times += [op(expr, first, x, bench = bench)]
        first = op(expr, first, x)
    triton.synchronize()
    return (first, times) if bench else first
