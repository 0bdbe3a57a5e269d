import torch
import triton
from functools import reduce
from operator import mul

# The kernel text is assembled for each pattern of labels. Batch labels stand in A, B and C, outer labels in C
# and one operand, contracted labels in A and B. Offsets along the contracted labels come from tables in constant
# memory, so that any number of them costs one look-up.

class pattern:

    def __init__(self, expr):
        lhs, self.c = expr.replace(' ', '').split('->')
        self.a, self.b = lhs.split(',')
        self.batch = [l for l in self.c if l in self.a and l in self.b]
        self.rows = [l for l in self.c if l in self.a and l not in self.b]
        self.cols = [l for l in self.c if l in self.b and l not in self.a]
        self.inner = [l for l in self.a if l in self.b and l not in self.c]
        if set(self.a + self.b) != set(self.c) | set(self.inner):
            raise ValueError('labels of one operand only cannot be summed: ' + expr)

def unravel(src, labels, prefix, shape):
    """C text: the coordinates of a flattened index, last label fastest"""
    ret, div = '', ''
    for l in reversed(labels):
        ret += f"  int {prefix}_{l}{shape} = {src}{div} % dim_{l};\n"
        div += f" / dim_{l}"
    return ret

def offset(operand, labels, prefix):
    return ' + '.join([f"{prefix}_{l} * stride_{operand}_{l}" for l in labels]) or '0'

def generate(name, p, n_inner):
    every = p.batch + p.rows + p.cols
    dims = ''.join([f", int dim_{l}" for l in every])
    strides = ''.join([f", int stride_{o}_{l}"
                       for o, labels in (('a', p.a), ('b', p.b), ('c', p.c))
                       for l in labels if l in every])
    return f"""
char __constant__* AD = calloc({4 * n_inner});
char __constant__* BD = calloc({4 * n_inner});

__global__ void {name}(TYPE * A __noalias __readonly __aligned(4),
                       TYPE * B __noalias __readonly __aligned(4),
                       TYPE * C __noalias __aligned(4),
                       int M, int N, int K{dims}{strides}) {{
  // program ids: 0x{LOW:x} rows of tiles stay together
  int pid = get_program_id(0);
  int grid_m = (M + TM - 1) / TM;
  int grid_n = (N + TN - 1) / TN;
  int group = pid / (WIDTH * grid_n);
  int size = min(grid_m - group * WIDTH, WIDTH);
  int pid_m = group * WIDTH + pid % size;
  int pid_n = (pid % (WIDTH * grid_n)) / size;
  int pid_b = get_program_id(1);
  // coordinates
  int rm[TM] = pid_m * TM + 0 ... TM;
  int rn[TN] = pid_n * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
{unravel('rm', p.rows, 'm', '[TM]')}{unravel('rn', p.cols, 'n', '[TN]')}{unravel('pid_b', p.batch, 'b', '')}
  int offa[TM] = {offset('a', p.rows, 'm')};
  int offb[TN] = {offset('b', p.cols, 'n')};
  TYPE *pa0 = A + {offset('a', p.batch, 'b')};
  TYPE *pb0 = B + {offset('b', p.batch, 'b')};
  // tables
  int __constant__* pad[TK] = (int __constant__*)AD + rk;
  int __constant__* pbd[TK] = (int __constant__*)BD + rk;
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {{
    bool checkk[TK] = rk < k;
    int ad[TK] = checkk ? *pad : 0;
    int bd[TK] = checkk ? *pbd : 0;
    bool checka[TM, TK] = (rm < M)[:, newaxis] && checkk[newaxis, :];
    bool checkb[TK, TN] = checkk[:, newaxis] && (rn < N)[newaxis, :];
    TYPE *pa[TM, TK] = pa0 + offa[:, newaxis] + ad[newaxis, :];
    TYPE *pb[TK, TN] = pb0 + bd[:, newaxis] + offb[newaxis, :];
    TYPE a[TM, TK] = checka ? *pa : 0;
    TYPE b[TK, TN] = checkb ? *pb : 0;
    acc += a @ b;
    pad += TK;
    pbd += TK;
  }}
  // epilogue
  int offm[TM] = {offset('c', p.rows, 'm')};
  int offn[TN] = {offset('c', p.cols, 'n')};
  TYPE *pc[TM, TN] = C + {offset('c', p.batch, 'b')} + offm[:, newaxis] + offn[newaxis, :];
  TYPE c[TM, TN] = acc;
  bool checkc[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
  *?(checkc) pc = c;
}}
"""

LOW = 0x4

class instance:
    """a kernel for one pattern, one data type and one set of shapes and strides"""

    def __init__(self, expr, dtype, a, b):
        self.p = p = pattern(expr)
        self.dim = {**dict(zip(p.a, a.shape)), **dict(zip(p.b, b.shape))}
        for labels, x in ((p.a, a), (p.b, b)):
            assert [self.dim[l] for l in labels] == list(x.shape), expr
        self.size = lambda labels: reduce(mul, [self.dim[l] for l in labels], 1)
        K = self.size(p.inner)
        self.kernel = triton.kernel(generate('contract_' + expr.replace(',', '_').replace('->', '_'), p, K),
                                    defines = {'TYPE': dtype, 'TM': ['0x10', '0x20'], 'TN': hex(32),
                                               'TK': '0x10', 'WIDTH': hex(LOW)},
                                    num_warps = [2, 4])
        self.kernel.set_constant('AD', self.table(p.inner, p.a, a))
        self.kernel.set_constant('BD', self.table(p.inner, p.b, b))

    def table(self, inner, labels, x):
        """offset of each contracted element, the last label fastest"""
        ret = torch.zeros(1, dtype=torch.int32)
        for l in inner:
            step = torch.arange(self.dim[l], dtype=torch.int32) * x.stride(labels.index(l))
            ret = (ret[:, None] + step[None, :]).reshape(-1).to(torch.int32)
        return ret

    def __call__(self, a, b, c, bench):
        p = self.p
        M, N, K, L = [self.size(x) for x in (p.rows, p.cols, p.inner, p.batch)]
        every = p.batch + p.rows + p.cols
        dims = [self.dim[l] for l in every]
        strides = [x.stride(labels.index(l))
                   for labels, x in ((p.a, a), (p.b, b), (p.c, c))
                   for l in labels if l in every]
        grid = lambda opt: [triton.cdiv(M, opt.d('TM')) * triton.cdiv(N, opt.d('TN')), L]
        return self.kernel(a, b, c, M, N, K, *dims, *strides, grid=grid, bench=bench)

instances = dict()

def contract(expr, a, b, bench = 0):
    """the contraction, or with bench its time in nanoseconds"""
    key = (expr, a.dtype, a.device, a.shape, a.stride(), b.shape, b.stride())
    if key not in instances:
        instances[key] = instance(expr, a.dtype, a, b)
    made = instances[key]
    c = torch.empty([made.dim[l] for l in made.p.c], dtype=a.dtype, device=a.device)
    time = made(a, b, c, bench)
    return time if bench else c

class _einsum(torch.autograd.Function):

    @staticmethod
    def forward(ctx, expr, a, b):
        ctx.expr = expr
        ctx.save_for_backward(a, b)
        return contract(expr, a, b)

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        p = pattern(ctx.expr)
        da = contract(f'{p.c},{p.b}->{p.a}', dc, b)
        db = contract(f'{p.a},{p.c}->{p.b}', a, dc)
        return None, da, db

def einsum(expr, a, b):
    return _einsum.apply(expr, a, b)
