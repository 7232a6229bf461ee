# From a fresh clone with nothing but Python 3.11 and make: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo studio test load attack test-spark coverage check lint types docs bench clean

help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

demo: $(READY) ## Make the tour in demo/: every method on generated patients
	rm -rf demo
	$(BIN)/medveil demo --out demo

studio: $(READY) ## Open medveil in the browser
	$(BIN)/medveil studio

load: $(READY) ## Measure what the studio bears, on a quiet machine
	MEDVEIL_LOAD=1 $(BIN)/pytest tests/studio/load

test: $(READY) ## Run all tests, doctests included
	$(BIN)/pytest -n 2 --dist loadgroup

attack: $(READY) ## Run the attacks on h-ceiling on a hundred tables instead of ten
	MEDVEIL_ATTACK_TABLES=100 $(BIN)/pytest -n 2 tests/attacks

test-spark: $(READY) ## Run the tests that need Spark; installs it (450 MB), and Java where it may
	command -v java > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless; } || true
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark-local]'
	$(BIN)/pytest -n 2 --dist loadgroup tests/engine

coverage: $(READY) ## Run all tests and show which lines none of them reaches
	$(BIN)/pytest -n 2 --dist loadgroup --cov=medveil --cov-report=term:skip-covered --cov-report=html:build/coverage

check: lint types docs test ## Everything that a change must pass: lint, types, docs, tests

lint: $(READY) ## Check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## Check types of the package and its tests
	$(BIN)/mypy

docs: $(READY) ## Check that the reference page is that of the code
	$(BIN)/python docs/build.py --check

bench: $(READY) ## Compare with other tools, in environments of their own
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("medveil needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(READY)

clean: ## Remove what was made, the environment too
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
