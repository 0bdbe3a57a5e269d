# The whole project in a handful of commands; `make help` lists them.
#
# TORCH   the torch to install, before anything else, when .venv is made: make demo TORCH=torch
# TRITON  a Triton to pin (triton==3.8.0); empty: the one that torch asks for, else the newest supported
# PYTHON  the Python that makes .venv
# PY      an interpreter that has everything already; then no .venv is made: make test PY=python3
# TORCH, TRITON and PYTHON count when .venv is made; `make clean` first to change them.

TORCH  ?= torch==2.13.0
TRITON ?=
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PYTEST_FLAGS ?= -n 2 --dist worksteal
WHEEL_TESTS ?= tests/translate tests/programs tests/runtime/test_wrong_use.py tests/test_command_line.py

ifdef PY
ENV :=
else
PY  := .venv/bin/python
ENV := .venv/.ready
DOCS := .venv/.docs
endif

.DEFAULT_GOAL := help
.PHONY: help demo test slow check pyright workflows dist wheel-test golden review grammar matrix bench fuzz site site-test clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

demo: $(ENV)  ## a matrix product of 2019: what it became, its tuning, its error
	$(PY) examples/dot.py

test: $(ENV)  ## all tests; those marked gpu skip without a CUDA device
	$(PY) -m pytest $(PYTEST_FLAGS)

slow: $(ENV)  ## what make test leaves out: whole matrices of types, and what takes minutes
	$(PY) -m pytest $(PYTEST_FLAGS) --slow -m slow

check: $(ENV)  ## lint, format, types, and the ceilings of the size
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) tools/size.py

pyright: $(ENV)  ## what pyright finds in a user's program; it needs node, and fetches itself from npm
	$(PY) -m pip install --quiet --editable '.[pyright]'
	$(PY) -m pytest -rs tests/typing

workflows: $(ENV)  ## the files below .github, by zizmor and by their schemas
	$(if $(findstring /,$(PY)),$(dir $(PY)))zizmor --offline --no-progress --quiet .github
	$(PY) -m check_jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(PY) -m check_jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

dist: $(ENV)  ## the wheel and the sdist, in dist
	rm -rf dist
	$(PY) -m hatchling build

# Beside the wheel the environment has torch and the tools; the tests are those of the sdist, without its pytriton/.
wheel-test:  ## the wheel in dist, installed in a new environment and tested there
	rm -rf build/wheel
	mkdir -p build/wheel
	tar xzf dist/*.tar.gz -C build/wheel --strip-components 1
	rm -r build/wheel/pytriton
	$(PYTHON) -m venv build/wheel/.venv
	build/wheel/.venv/bin/python -m pip install --quiet "$(TORCH)" $(TRITON)
	build/wheel/.venv/bin/python -m pip install --quiet "$$(echo dist/*.whl)[dev,torch]"
	cd build/wheel && .venv/bin/python -m pytest $(PYTEST_FLAGS) $(WHEEL_TESTS)

golden: $(ENV)  ## rewrite the expected translations and diagnostics; read the diff before you commit it
	$(PY) -m pytest --update-golden tests/translate tests/fold tests/errors

review:  ## the goldens that changed, one by one: stage each or leave it
	git add --patch tests/translate tests/fold tests/errors

grammar: $(ENV)  ## after an edit of the grammar: lark's tables of it, which are loaded instead of built
	$(PY) tools/grammar.py

matrix: $(ENV)  ## the translation, program and specification tests under every supported Triton
	$(PY) tools/matrix.py

bench: $(ENV)  ## translation times, and matrix products on a GPU
	$(PY) -m benchmarks.translate
	$(PY) -m benchmarks.matmul

N      ?= 1000
SEED   ?= 0
DEVICE ?= cpu

fuzz: $(ENV)  ## N=1000 generated kernels from SEED=0 before all judges; DEVICE=c: before C, too
	$(PY) -m tests.fuzz $(N) --seed $(SEED) --device $(DEVICE)

site: $(ENV) $(DOCS)  ## the site, in build/site: warnings are errors, every link inside it is followed
	rm -rf build/site
	$(PY) -m sphinx -q -W --keep-going -b html docs build/site
	$(PY) -m tools.social build/site/_static/social.png
	$(PY) -m tools.playground build/site
	$(PY) tools/check_links.py build/site

site-test:  ## the site in headless Chromium: the playground, all pages at two widths in build/screenshots, Lighthouse
	$(PY) tools/site_test.py build/site

clean:  ## back to a fresh clone
	rm -rf .venv .matrix .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build

.venv/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo 'no Python 3.11 or newer found; set PYTHON=' >&2; exit 1; }
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet "$(TORCH)"
	$(if $(TRITON),.venv/bin/python -m pip install --quiet "$(TRITON)")
	.venv/bin/python -m pip install --quiet --editable '.[dev,torch]'
	@touch $@

.venv/.docs: .venv/.ready
	.venv/bin/python -m pip install --quiet --editable '.[dev,docs,torch]'
	@touch $@
