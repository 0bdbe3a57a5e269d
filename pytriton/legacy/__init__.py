"""Old programs, unmodified: the names of 2019 to 2021 that are not part of the kernel object.

    imports.py      inside chosen packages ``import triton`` gives pytriton; triton.ops and triton.nn are refused
    command.py      the same from a shell: ``pytriton run --legacy``
    submodules.py   triton.utils
    sources.py      read: some kernels of a file
    perf_report.py  Benchmark and perf_report

This file and the first two need neither torch nor triton.
"""
