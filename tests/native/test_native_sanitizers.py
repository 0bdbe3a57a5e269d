"""Generated C under gcc's sanitizers: the kernels of all examples are clean, and what is wrong is reported.

Examples run in a process of their own, in which the sanitizers were loaded first. A compiler that fails would let
the interpreter run them: the objects in the cache show that C did.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytriton.native.c_module import to_c
from pytriton.settings import Settings

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    # torch.compile has a C++ compiler at work in the two others
    path
    for path in (ROOT / "examples").glob("*.py")
    if path.stem not in ("dot_op", "linear_layer")
)
MEMORY = "-fsanitize=address,undefined -fno-sanitize-recover=all"
MEMORY_LIBRARIES = ("libasan.so", "libubsan.so")
OUTSIDE = """
import torch, pytriton
kernel = pytriton.kernel("void f(int *x, int n) { int r[8] = 0 ... 8; *(x + r + n) = r; }", check=False)
kernel(torch.zeros(8).int(), 4, grid=1)
"""
# Programs 0, 2, 4, ... by one thread and 1, 3, 5, ... by another: Python itself is not compiled for this sanitizer.
HARNESS = """
#include <pthread.h>
#include <stdlib.h>

static int32_t z[4096], lock[1], owners[32 * 129];
static uint64_t words[129];
struct wait;

static void *run(void *first) {
    const struct arguments arguments = {.z = z, .lock = lock};
    const int32_t counts[3] = {64, 1, 1};
    SETUP
    for (int64_t n = *(int64_t *)first; n < 64; n += 2) f_programs(&arguments, counts, n, n + 1 PASSED);
    return NULL;
}

int main(void) {
    int64_t first[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &first[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
"""
CHECKS = """struct checks *checks = calloc(1, sizeof *checks + 9 * sizeof(struct site));
    checks->conflicts = calloc(checks->capacity = 1024, sizeof(struct conflict));
    for (int i = 0; i < 9; i++)
        checks->sites[i] = (struct site){.low = (uint64_t)(uintptr_t)z, .span = sizeof z - 3, .owners = owners,
            .words = words, .owners_low = (uint64_t)(uintptr_t)z, .width = 4, .compares = 1};"""
ROWS = "int r[64] = 0 ... 64; *(z + get_program_id(0) * 48 + r) = get_program_id(0);"
ELEMENTS = "int r[64] = 0 ... 64; *(z + get_program_id(0) * 48 + r * 2 - r) = get_program_id(0);"
ATOMICS = "int r[64] = 0 ... 64; atomic_add(z + r, 1);"
LOCK = "while (atomic_cas(lock, 0, 1)); *z = *z + 1; atomic_xchg(lock, 0);"


def library(name: str) -> str:
    """The path of a library of gcc; its bare name where there is none."""
    command = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def has(*names: str) -> bool:
    return shutil.which("gcc") is not None and all(os.path.isabs(library(name)) for name in names)


def sanitized(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python, with kernels compiled for the sanitizers of memory and of undefined behaviour."""
    compiler = folder / "cc"
    # The flags of c_compiler.py come first, which turn these off.
    compiler.write_text(f'#!/bin/sh\nunset LD_PRELOAD\nexec gcc "$@" -O1 -g {MEMORY}\n')
    compiler.chmod(0o700)
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "LD_PRELOAD": " ".join(map(library, MEMORY_LIBRARIES)),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTRITON_CC": str(compiler),
        "PYTRITON_CACHE_DIR": str(folder / "objects"),
        "PYTRITON_THREADS": "2",
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=600)


def is_clean(run: subprocess.CompletedProcess[str], folder: Path) -> bool:
    """Whether C ran, and nothing was reported."""
    assert run.returncode == 0, run.stderr[-4000:]
    assert not any(word in run.stderr for word in ("Sanitizer", "runtime error", "interpreter")), run.stderr[
        :4000
    ]
    return any((folder / "objects").glob("*.so"))


@pytest.mark.slow
@pytest.mark.skipif(not has(*MEMORY_LIBRARIES), reason="needs gcc with its sanitizers")
class TestMemory:
    @pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
    def test_examples_are_clean(self, example: Path, tmp_path: Path) -> None:
        run = sanitized([str(example)], tmp_path)
        assert is_clean(run, tmp_path)

    def test_an_access_outside_is_reported(self, tmp_path: Path) -> None:
        run = sanitized(["-c", OUTSIDE], tmp_path)
        assert run.returncode
        assert "AddressSanitizer: heap-buffer-overflow" in run.stderr
        assert "kernel.c" in run.stderr


@pytest.mark.slow
@pytest.mark.skipif(not has("libtsan.so"), reason="needs gcc with its sanitizers")
class TestThreads:
    @pytest.mark.parametrize(
        ("body", "checked"), [(ROWS, True), (ELEMENTS, True), (ATOMICS, False), (LOCK, False)]
    )
    def test_owners_atomics_and_turns_are_clean(self, body: str, checked: bool, tmp_path: Path) -> None:
        run = self.run(body, checked, tmp_path)
        assert run.returncode == 0, run.stderr[:4000]

    @pytest.mark.parametrize("body", [ROWS, "*z = *z + 1;"])
    def test_a_race_is_reported(self, body: str, tmp_path: Path) -> None:
        assert "ThreadSanitizer: data race" in self.run(body, False, tmp_path).stderr

    def run(self, body: str, checked: bool, folder: Path) -> subprocess.CompletedProcess[str]:
        source = f"void f(int *z, int *lock) {{ {body} }}"
        module = to_c(source, {}, Settings(checked=checked, on_cpu=True))
        waits = bool(module.loops)
        harness = HARNESS.replace("SETUP", CHECKS if checked else "")
        harness = harness.replace("PASSED", ", checks" * checked + ", &wait" * waits)
        harness = harness.replace(
            "struct wait;", "static struct wait wait = {.program = -1};" if waits else ""
        )
        file, program = folder / "kernel.c", folder / "kernel"
        file.write_text(module.text + harness)
        flags = ["-std=gnu11", "-O1", "-g", "-fwrapv", "-fsanitize=thread", "-pthread"]
        subprocess.run(["gcc", *flags, str(file), "-o", str(program), "-lm"], check=True)
        return subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
