# From a fresh clone with nothing but Python 3.11 and make: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test attack check lint types docs bench clean

demo: $(READY)
	rm -rf demo
	$(BIN)/medveil demo --out demo

test: $(READY)
	$(BIN)/pytest -n 2

# The attacks on h-ceiling, on a hundred small tables instead of ten.
attack: $(READY)
	MEDVEIL_ATTACK_TABLES=100 $(BIN)/pytest -n 2 tests/attacks

check: lint types docs test

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/python docs/build.py --check

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("medveil needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
