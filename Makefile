# Two commands on a bare machine with Python 3.11 or newer:  make demo   and   make test
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test check bench agreement docs sbom wheel smoke clean

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
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/gradient.py
	$(BIN)/python bench/fits.py
	$(BIN)/python bench/tracks.py
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[bench]"
	$(BIN)/python bench/simulation.py

agreement: setup
	$(BIN)/python bench/agreement.py

docs: setup
	$(BIN)/mkdocs build --strict --quiet

sbom: setup
	$(BIN)/python tools/sbom.py

wheel: setup
	rm -rf dist
	$(BIN)/python tools/packing.py dist

smoke: wheel
	rm -rf build/smoke
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	build/smoke/bin/shoal --version
	build/smoke/bin/shoal formats > build/smoke/formats.txt
	cd build/smoke && bin/python -I ../../tools/smoke.py

clean:
	rm -rf .venv build dist site demo
