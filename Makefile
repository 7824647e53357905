# What a person types here. `make` alone lists it.
#
# Every target builds the virtual environment it needs with plain python3 and pip, once: .venv is renewed when
# constraints.txt or pyproject.toml changes. CONTRIBUTING.md has the same commands for machines without make.

# The first Python on this machine that we support; `make PYTHON=/path/to/python test` takes another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
# -qq leaves errors and drops warnings about where a machine gets its packages from.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo test coverage check lint format types imports docs picture docs-check bench wheel wheel-test constraints mcp-clients clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# --- using it ----------------------------------------------------------------------------------------------

demo: $(VENV)/runtime ## play the Company X story (builds .venv first: minutes, once)
	@$(BIN)/falsify demo

# --- working on it -----------------------------------------------------------------------------------------

venv: $(VENV)/dev ## build .venv with everything that tests and linters need

test: $(VENV)/dev ## run all tests; PYTEST_ARGS="-m 'not slow'" or a file narrows it
	$(BIN)/python -m pytest $(PYTEST_ARGS)

mcp-clients: ## install the official MCP inspector and conformance suite, for their tests
	npm install --prefix tools/mcp_clients --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error

coverage: $(VENV)/dev ## run all tests and show what they do not reach
	$(BIN)/python -m coverage run -m pytest $(PYTEST_ARGS)
	$(BIN)/python -m coverage report

check: lint types imports docs-check ## everything that reads the code without running it

lint: $(VENV)/dev ## ruff: rules and layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/dev ## ruff: mend what it can
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

types: $(VENV)/dev ## mypy, strict
	$(BIN)/mypy

imports: $(VENV)/dev ## import-linter: which way the arrows point
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/dev ## write the generated pages: docs/cli.md, docs/events.md, docs/settings.md
	$(BIN)/python -m docs.generate

picture: $(VENV)/dev ## draw docs/demo.svg: what `falsify demo` prints
	$(BIN)/python docs/picture.py

docs-check: $(VENV)/dev ## fail if a generated page is not what the code says
	$(BIN)/python -m docs.generate --check

bench: $(VENV)/dev ## run every benchmark under bench/ (minutes)
	@for each in bench/bench_*.py; do echo "== $$each"; $(BIN)/python "$$each" || exit 1; done

wheel: $(VENV)/dev ## build the wheel into dist/
	$(BIN)/python -m hatchling build -t wheel

wheel-test: $(VENV)/dev ## install the wheel into an empty environment outside the checkout and use it
	$(BIN)/python -m pytest tests/test_package.py

constraints: $(VENV)/dev ## resolve constraints.txt anew, with Python 3.11
	$(BIN)/python tools/constraints.py

clean: ## remove what the other targets made
	rm -rf $(VENV) dist build htmlcov .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# --- the environment ---------------------------------------------------------------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Falsify needs Python 3.11, 3.12 or 3.13 on the PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

$(VENV)/runtime: constraints.txt pyproject.toml | $(BIN)/python
	@echo "installing Falsify into $(VENV): two minutes or so, once"
	$(PIP) -e .
	@touch $@

$(VENV)/dev: constraints.txt pyproject.toml | $(BIN)/python
	@echo "installing Falsify and its tools into $(VENV): two minutes or so, once"
	$(PIP) -e . --group dev
	@touch $(VENV)/runtime $@
