# Levee. `make run` and `make test` do all set-up themselves; the packages of tests come with `make test` and `make check`.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
VENV_PYTHON := .venv/bin/python

.PHONY: help setup run test test-fast test-all check-setup test-setup check bench screens lock clean python

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 \t\2/p' Makefile | expand -t 24

python:
	@test -n "$(PYTHON)" || { echo "Levee needs Python 3.11 or newer as python3: install it (on Debian: apt-get install python3)."; exit 1; }

setup: python ## install what run needs, once
	@$(PYTHON) -m tools.setup

run: setup ## serve the console with a sandbox lake (PORT=8000, LEVEE_HOME=var)
	@exec .venv/bin/levee run

test: test-setup ## run what a change has to pass (ARGS="tests/lake -k commit" for some of it)
	@$(VENV_PYTHON) -m tools.test $(ARGS)

test-fast: test-setup ## run what needs no Spark, browser or other process: after each change
	@$(VENV_PYTHON) -m tools.test --fast $(ARGS)

test-all: test-setup ## run everything, part by part (PART=spark for one of them): before an issue is resolved
	@$(VENV_PYTHON) -m tools.test --all $(if $(PART),--only $(PART)) $(ARGS)

check-setup: python
	@$(PYTHON) -m tools.setup --tests

test-setup: python
	@$(PYTHON) -m tools.setup --tests --dynamodb-local
	@$(VENV_PYTHON) -m lake.spark.archive

check: check-setup ## run ruff, mypy, the import contracts, the ratchets and the other checks (ARGS=types for one)
	@$(VENV_PYTHON) -m tools.check $(ARGS)

bench: check-setup ## measure against the peers
	@$(VENV_PYTHON) -m benchmarks $(ARGS)

screens: check-setup ## take pictures of the main pages of the sandbox into docs/screens/, while `make run` serves it
	@$(VENV_PYTHON) -m tests.browser.screens

lock: setup ## compile requirements/*.in to *.txt with hashes
	@$(VENV_PYTHON) -m tools.lock

clean: ## remove what make made, but not var/, where Levee keeps its data
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +
