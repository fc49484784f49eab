# Every target does its own set-up; nothing but Python 3.11+ and pip is needed.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEVELOPED := .venv/.developed
CHECKED = NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds $(BIN)/python -m pytest -n 2

.PHONY: setup demo test lint bounds bounds-all fuzz bench-quick wheel clean

setup: $(DEVELOPED)

# What users have, kernels compiled: enough for the tour.
$(READY): pyproject.toml
	@echo "setting up .venv (once; a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/tagwright warm-up
	@touch $@

# The tools of developers, too.
$(DEVELOPED): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(READY)
	@$(BIN)/python examples/demo.py

lint: $(DEVELOPED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tests/check_layers.py

test: lint
	$(BIN)/python -m pytest -n 2
	$(CHECKED) -m bounds

# Tests with the indices of kernels checked (but for those of _simd.py, which are LLVM's): those marked `bounds`,
# which reach the kernels quickly, or all.
bounds: $(DEVELOPED)
	$(CHECKED) -m bounds

bounds-all: $(DEVELOPED)
	$(CHECKED)

# Hostile files and calls, CASES of every campaign: a thousand in a minute or two, hours for a million.
CASES ?= 20000
fuzz: $(DEVELOPED)
	@PYTHONPATH=tests:. $(BIN)/python -m tests.fuzz --cases $(CASES)

bench-quick: $(DEVELOPED)
	@$(BIN)/python -m benchmarks.quick

# A wheel with machine code, in dist/. `pip wheel .` makes one without.
wheel: $(DEVELOPED)
	@$(BIN)/python release/wheel.py

clean:
	rm -rf .venv build dist src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
