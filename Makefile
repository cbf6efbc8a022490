# make run    sets up and serves over HTTP on 127.0.0.1
# make test   sets up and checks everything
# make quick  the same in half the time: no thorough tests, each behaviour over one wire
# make bench  prints the figures of the docs (bench-full: the long form)

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: run test quick check bench bench-full docs clean

run: .venv/installed
	$(BIN)/commonplace serve --transport http $(ARGS)

test: check
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile $(ARGS)

quick: check
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile --quick $(ARGS)

check: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/tested
	$(BIN)/python -m benchmarks $(ARGS)

bench-full: .venv/tested
	$(BIN)/python -m benchmarks --full $(ARGS)

docs: .venv/tested
	$(BIN)/python docs/pages.py

clean:
	rm -rf .venv .bench

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade -c constraints.txt pip
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --editable .
	$(BIN)/python -m compileall -q src # as pip does for what it installs, so that the first start is as fast as the next
	touch $@

.venv/tested: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	touch $@
