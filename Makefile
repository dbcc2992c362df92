# Two commands on a bare machine with Python 3.11 or newer:  make demo   and   make test
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test check bench docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,docs]"
	touch $(STAMP)

demo: setup
	$(BIN)/shoal demo --out demo

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest -n auto --dist loadfile

bench: setup
	$(BIN)/python bench/gradient.py
	$(BIN)/python bench/fits.py
	$(BIN)/python bench/tracks.py
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[bench]"
	$(BIN)/python bench/simulation.py

docs: setup
	$(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv build dist site demo
