"""A file whose text is changed before it is launched, in several ways."""
import re
from pathlib import Path
import torch
import triton


def text():
    return (Path(__file__).parent / 'scale.c').read_text()


def scale(x, factor=None, pattern=False):
    src = text()
    if factor is not None:
        src = re.sub(r'1\.\d', repr(factor), src) if pattern else src.replace('1.5', repr(factor))
    y = torch.empty_like(x)
    kernel = triton.kernel(src, defines={'TYPE': x.dtype, 'TN': 32})
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    results = [scale(x), scale(x, 2.5), scale(x, 3.5, True)]
    if seed:
        try:  # a text that the port has not seen
            results.append((scale(x, 7.0) - 7 * x).abs().max() < 1e-5)
        except TypeError as error:
            results.append(torch.tensor('not ported, port again with a --run that makes it' in str(error)))
    return results
