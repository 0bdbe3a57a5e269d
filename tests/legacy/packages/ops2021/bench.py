import torch
import triton
from triton.testing import Benchmark, perf_report, do_bench
from .matmul import matmul
from .softmax import softmax

device = 'cuda' if torch.cuda.is_available() else 'cpu'

confs = [
    Benchmark(
        x_names=["M", "N", "K"],
        x_vals=[64, 128] if device == 'cpu' else [512 * i for i in range(1, 9)],
        y_name="provider",
        y_vals=["triton", "torch"],
        y_lines=["Triton", "Torch"],
        ylabel="TFLOPS",
        plot_name=f"matmul-{layout}",
        args={"layout": layout},
    ) for layout in ["nn", "nt"]
]


@perf_report(confs)
def bench_matmul(M, N, K, provider, layout):
    a = torch.randn((M, K), device=device)
    b = torch.randn((K, N) if layout[1] == "n" else (N, K), device=device)
    b = b if layout[1] == "n" else b.t()
    rep = 5 if device == 'cpu' else 100
    fn = {"triton": lambda: matmul(a, b), "torch": lambda: torch.matmul(a, b)}[provider]
    median, fast, slow = do_bench(fn, warmup=1, rep=rep)
    return [2. * M * N * K / ms * 1e-9 for ms in (median, slow, fast)]


@perf_report(
    Benchmark(['N'], [20, 40] if device == 'cpu' else [256 * i for i in range(1, 20)], 'provider',
              ['triton', 'torch'], ['Triton', 'Torch'], 'softmax', {'M': 4 if device == 'cpu' else 4096},
              xlabel='columns', ylabel='GBPS', x_log=True))
def bench_softmax(M, N, provider):
    x = torch.randn(M, N, device=device)
    fn = softmax if provider == 'triton' else lambda x: torch.softmax(x, 1)
    ms = do_bench(lambda: fn(x), warmup=1, rep=2 if device == 'cpu' else 100, percentiles=None)
    return 2 * x.numel() * x.element_size() / ms * 1e-6


if __name__ == '__main__':
    bench_matmul.run(print_data=True)
    bench_softmax.run(print_data=True)
