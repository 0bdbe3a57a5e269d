"""The flags of a kernel are those that its file asks for."""
import re
from pathlib import Path
import torch
import triton


class Op:
    def __init__(self, name):
        self.src = (Path(__file__).parent / (name + '.c')).read_text()
        self.flags = set(re.findall(r'#ifdef (\w+)', self.src))
        self.typed = 'TYPE' in self.src

    def __call__(self, x, **flags):
        y = torch.empty_like(x)
        defines = {'TM': 32}
        if self.typed:
            defines['TYPE'] = x.dtype
        defines.update({name: 1 for name, given in flags.items() if given and name in self.flags})
        kernel = triton.kernel(self.src, defines=defines)
        kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TM)])
        return y


act = Op('act')


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [act(x), act(x, RELU=True), act(x, RELU=True, OTHER=True)]
