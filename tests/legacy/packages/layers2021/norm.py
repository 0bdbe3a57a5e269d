import pkgutil
import torch
import triton

_text = pkgutil.get_data(__name__.rsplit('.', 1)[0], 'trsrc/norm.tr').decode('utf-8')
_kernels = {}


def _width(n):
    """short rows to the next multiple of 32, long ones to the next power of two"""
    return triton.cdiv(n, 32) * 32 if n < 1024 else triton.next_power_of_2(n)


def _kernel(device, dtype, n, backward, rms, residual=False):
    width = _width(n)
    key = (device, dtype, width, backward, rms, residual)
    if key not in _kernels:
        defines = {'TYPE': dtype, 'WIDTH': width}
        if backward:
            defines['BACKWARD'] = 1
        if rms:
            defines['RMS'] = 1
        if residual:
            defines['RESIDUAL'] = 1
        num_warps = 1 if width <= 128 else 4 if width < 2048 else 8
        _kernels[key] = triton.kernel(_text, device=device, defines=defines, num_warps=num_warps)
    return _kernels[key]


class _norm(torch.autograd.Function):

    # rows of partial sums
    max_programs = 96

    @staticmethod
    def forward(ctx, x, residual, weight, bias, eps):
        x = x.contiguous()
        n = x.shape[-1]
        m = x.numel() // n
        y = torch.empty_like(x)
        mean = torch.empty(m, dtype=torch.float32, device=x.device)
        scale = torch.empty(m, dtype=torch.float32, device=x.device)
        rms = bias is None
        kernel = _kernel(x.device, x.dtype, n, False, rms, residual is not None)
        args = [x.data_ptr(), y.data_ptr()]
        sum = x
        if residual is not None:
            residual = residual.contiguous()
            sum = torch.empty_like(x)
            args += [residual.data_ptr(), sum.data_ptr()]
        args += [weight.data_ptr()]
        if not rms:
            args += [bias.data_ptr(), mean.data_ptr()]
        args += [scale.data_ptr(), n, eps]
        kernel(*args, grid=lambda opt: [m])
        ctx.save_for_backward(sum, weight, mean, scale)
        ctx.rms, ctx.residual = rms, residual is not None
        ctx.set_materialize_grads(False)
        if residual is None:
            return y
        return y, sum

    @staticmethod
    def backward(ctx, dy, dsum=None):
        x, weight, mean, scale = ctx.saved_tensors
        dy = torch.zeros_like(x) if dy is None else dy.contiguous()
        n = x.shape[-1]
        m = x.numel() // n
        programs = min(m, _norm.max_programs)
        dx = torch.empty_like(x)
        dweight = torch.empty(programs, n, dtype=torch.float32, device=x.device)
        dbias = torch.empty(programs, n, dtype=torch.float32, device=x.device)
        kernel = _kernel(x.device, x.dtype, n, True, ctx.rms)
        if ctx.rms:
            args = [dx.data_ptr(), dy.data_ptr(), x.data_ptr(), weight.data_ptr(), dweight.data_ptr(),
                    scale.data_ptr(), m, n]
        else:
            args = [dx.data_ptr(), dy.data_ptr(), x.data_ptr(), weight.data_ptr(), dweight.data_ptr(),
                    dbias.data_ptr(), mean.data_ptr(), scale.data_ptr(), m, n]
        kernel(*args, grid=(programs,))
        if dsum is not None:
            dx = dx + dsum
        return dx, dx if ctx.residual else None, dweight.sum(0), None if ctx.rms else dbias.sum(0), None


def norm(x, weight, bias=None, residual=None, eps=1e-5):
    """
    x normalised along its last dimension, or x + residual, and then this sum as well; without a bias by the root
    of the mean square. Weight and bias are float.
    """
    return _norm.apply(x, residual, weight, bias, eps)
