# gpucloud-operator: the two commands of the README are `make demo` and `make test`.
# Everything else is a subset or a maintainer's tool. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
UV_VERSION := 0.13.8
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := .venv/bin
READY := .venv/.ready
# A run's temporary files live in a folder of its own, which goes with it, interrupted or not.
PYTEST = t=$$(mktemp -d) && trap 'rm -rf "$$t"' EXIT && TMPDIR="$$t" $(RUN)/python -m pytest

.PHONY: help setup check test test-unit test-e2e demo crds endpoints lock clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.uv/bin/uv:
	@echo "==> installing uv $(UV_VERSION) into .uv (once)"
	@$(PYTHON) -m venv .uv && .uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(READY): pyproject.toml uv.lock $(filter .uv/bin/uv,$(UV))
	@echo "==> installing locked dependencies into .venv"
	@env -u VIRTUAL_ENV $(UV) sync --quiet --frozen --all-extras --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"
	@touch $@

setup: $(READY) ## make the virtual environment from the lock file

check: $(READY) ## format, lint, types, import rules, generated files
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .
	$(RUN)/mypy
	$(RUN)/lint-imports --no-cache
	$(RUN)/python -m gpucloud crds --check crds --docs docs/reference

test-unit: $(READY) ## decisions, client and simulator, without any server
	$(PYTEST) -n 2 tests/unit tests/simulator

test-e2e: $(READY) ## the operator against a real kube-apiserver
	$(RUN)/python -m controlplane ensure
	$(PYTEST) -n 2 --dist worksteal tests/e2e

test: check $(READY) ## everything, as CI runs it
	$(RUN)/python -m controlplane ensure
	$(PYTEST) -n 2 --dist worksteal

demo: $(READY) ## control plane, simulated cloud and operator; the life of VPC, VMs and snapshot, watched (KEEP=1 leaves it running)
	@$(RUN)/python -m demo $(if $(KEEP),--keep)

crds: $(READY) ## print crds/*.yaml from the models
	$(RUN)/python -m gpucloud crds --write crds --docs docs/reference

endpoints: $(READY) ## print docs/reference/endpoints.md from the tests
	PYTHONPATH=tests $(RUN)/python -m support.specification --write

lock: ## refresh uv.lock
	$(UV) lock --upgrade

clean: ## remove the environment and caches of this checkout
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis out
