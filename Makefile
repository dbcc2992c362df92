# Two commands on a bare machine with Python 3.11 or newer:  make demo   and   make test
# make test leaves out tests marked slow; make test ALL=1, or make test-all, leaves out nothing
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup programs demo test test-all check bench agreement docs sbom wheel smoke clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e ".[test,docs]"
	touch $(STAMP)

programs:
	bash tools/debian.sh

demo: setup
	$(BIN)/shoal demo --out demo

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check $(if $(ALL),programs)
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(ALL),,-m "not slow")

test-all:
	$(MAKE) test ALL=1

bench: setup
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/gradient.py
	$(BIN)/python bench/fits.py
	$(BIN)/python bench/tracks.py
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[bench]"
	$(BIN)/python bench/simulation.py

agreement: setup
	$(BIN)/python bench/agreement.py

# every example of every page is run, and a notebook made of each
docs: setup programs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

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
