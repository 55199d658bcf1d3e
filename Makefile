# gpucloud-operator: the two commands of the README are `make demo` and `make test`.
# Everything else is a subset or a maintainer's tool. `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
UV_VERSION := 0.13.8
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := .venv/bin
READY := .venv/.ready
SERVED := --extra operator --extra sim --extra otel # what the image holds, as in the Dockerfile
CHART_CRDS := deploy/helm/gpucloud-operator-crds/files/crds
# Temporary files, uv's locks among them, live in a folder of its own, which goes with the command, interrupted or not.
TIDY = t=$$(mktemp -d) && trap 'rm -rf "$$t"' EXIT
# What one worker of a run has compiled no other one compiles again, whatever the shell says.
PYTEST = $(TIDY) && $(INTERRUPTED) && TMPDIR="$$t" PYTHONDONTWRITEBYTECODE= run $(RUN)/python -m pytest
# A signal to make, or to all that it began, interrupts a run as Ctrl-C does. A shell with the run in the foreground would end
# without it, and remove the folder of a run that goes on.
INTERRUPTED = run() { set -m; "$$@" & p=$$!; set +m; trap 'kill -INT -- "-$$p"' HUP INT TERM; \
  while wait "$$p"; code=$$?; kill -0 "$$p" 2>/dev/null; do :; done; return "$$code"; }

.PHONY: help setup check test test-unit test-chart test-e2e test-packages chaos fuzz simulate planted mutants bench bench-page demo prose recordings pages crds chart manifests argocd image sbom dist plugin docs site endpoints messages metrics lock clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.uv/bin/uv:
	@echo "==> installing uv $(UV_VERSION) into .uv (once)"
	@$(PYTHON) -m venv .uv && .uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(READY): pyproject.toml uv.lock $(filter .uv/bin/uv,$(UV))
	@echo "==> installing locked dependencies into .venv"
	@$(TIDY) && export TMPDIR="$$t" && env -u VIRTUAL_ENV \
	  $(UV) sync --quiet --frozen --all-extras --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" && \
	  env -u VIRTUAL_ENV UV_PROJECT_ENVIRONMENT=.venv/product \
	  $(UV) sync --quiet --frozen --no-dev $(SERVED) --compile-bytecode --python $(RUN)/python
	@touch $@

setup: $(READY) ## make the virtual environment from the lock file
	@echo "==> .venv is up to date; its programs are in .venv/bin"

check: $(READY) ## format, lint, types, import rules, generated files
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .
	$(RUN)/yamllint --strict .
	$(RUN)/mypy
	$(RUN)/lint-imports --no-cache
	$(RUN)/python -m prose
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --site-dir out/checked-site # links and anchors; --quiet would let broken ones pass
	$(RUN)/python -m gpucloud crds --check crds --schemas schemas
	$(RUN)/python -m gpucloud crds --check $(CHART_CRDS)
	$(RUN)/python -m pages --check
	$(RUN)/python -m chartfiles chart --check
	PYTHONPATH=tests $(RUN)/python -m support.messages --check
	PYTHONPATH=tests $(RUN)/python -m support.metricspage --check

test-unit: $(READY) ## decisions, client and simulator, without any server
	$(PYTEST) -n 2 tests/unit tests/simulator

test-chart: $(READY) ## the chart, rendered by a real Helm
	$(RUN)/python -m helmcli
	-$(RUN)/python -m promtool
	$(RUN)/python -m controlplane ensure
	$(PYTEST) -n 2 tests/chart

test-e2e: $(READY) ## the operator against a real kube-apiserver
	$(RUN)/python -m helmcli
	$(RUN)/python -m controlplane ensure
	$(PYTEST) -n 4 --dist worksteal tests/e2e

chaos: $(READY) ## tests/chaos whole, within two hours; what came of each also in out/chaos.jsonl
	$(RUN)/python -m controlplane ensure
	export CHAOS=whole; $(PYTEST) -n 3 --dist worksteal --timeout 3600 tests/chaos

fuzz: $(READY) ## the generated tests whole: specs, answers, decisions
	$(RUN)/python -m controlplane ensure
	export CHAOS=whole SITUATIONS=30000; $(PYTEST) -n 3 --dist worksteal --timeout 3600 tests/unit/fuzz \
	  tests/unit/reconcile/test_properties.py tests/e2e/test_generated_specs.py

SIMULATE := HISTORIES FIRST MINUTES SEED EXHAUSTIVE DEPTH START DEFECTS FLEET SHARDS RIVALS HELP PYTHON
set = $(filter-out 0,$($(1)))
simulate: $(READY) ## histories in a simulated world: HISTORIES=2000, SEED=n, DEFECTS=1; HELP=1: more
	$(foreach v,$(filter-out MAKE% -%,$(.VARIABLES)),$(if $(and $(filter command,$(origin $(v))),$(filter-out $(SIMULATE),$(v))),$(error make simulate has no $(v); it has $(SIMULATE))))
	@PYTHONHASHSEED=0 PYTHONPATH=tests $(RUN)/python -m simulation $(if $(call set,HELP),--help) \
	  $(if $(SEED),--seed $(SEED)) $(if $(FIRST),--first $(FIRST)) $(if $(HISTORIES),--histories $(HISTORIES)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(call set,DEFECTS),--defects $(if $(filter-out 1,$(DEFECTS)),"$(DEFECTS)")) $(if $(FLEET),--fleet $(FLEET)) \
	  $(if $(call set,SHARDS),--shards) $(if $(call set,RIVALS),--rivals) \
	  $(if $(call set,EXHAUSTIVE),--exhaustive) $(if $(DEPTH),--depth $(DEPTH)) $(if $(START),--start $(START))

planted: $(READY) ## known defects of others, planted one at a time: the suite must find each
	$(PYTEST) -n 2 --dist worksteal tests/planted

mutants: $(READY) ## small defects made by a machine: a sample, or MUTANTS=all; log in out/mutants
	PYTHONPATH=tools $(RUN)/python -m mutation

bench: $(READY) ## what the operator costs beside two peers: N=200,1000, PEERS=0, IMAGE=1
	@$(RUN)/python -m bench run $(if $(N),--objects $(N)) $(if $(filter 0,$(PEERS)),--no-peers) $(if $(BUDGET),--budget $(BUDGET)) $(if $(IMAGE),--image)

bench-page: $(READY) ## print what is kept of it, or RESULTS="FILE …", into the documentation
	$(RUN)/python -m bench page $(RESULTS)

test: check $(READY) ## everything, as CI runs it
	$(RUN)/python -m helmcli
	-$(RUN)/python -m promtool
	$(RUN)/python -m controlplane ensure
	$(PYTEST) -n 5 --dist worksteal --ignore tests/packages

test-packages: $(READY) ## the wheel without extras and the plugin, built in a fresh clone
	$(RUN)/python -m controlplane ensure
	$(PYTEST) -n 0 tests/packages

demo: $(READY) ## the life of a VPC, VMs and a snapshot, watched; KEEP=1 leaves it running
	@$(RUN)/python -m demo $(if $(filter-out 0,$(KEEP)),--keep)

pages: manifests messages endpoints metrics ## print all files that are printed from the code

crds: $(READY) ## print crds/*.yaml, schemas/ and the reference pages from the code
	$(RUN)/python -m gpucloud crds --write crds --schemas schemas
	$(RUN)/python -m gpucloud crds --write $(CHART_CRDS)
	$(RUN)/python -m pages

chart: $(READY) ## print the chart's schema, tables, list of settings and alerts of all kinds
	$(RUN)/python -m chartfiles chart

manifests: crds chart ## print deploy/manifests from the chart, by a Helm that is built once
	$(RUN)/python -m chartfiles manifests

prose: $(READY) ## spelling and wording of the documents
	$(RUN)/python -m prose

recordings: $(READY) ## record the demo and the plugin, and draw the dashboard, into docs/images, as SVG
	$(RUN)/python -m recording

endpoints: $(READY) ## print docs/reference/endpoints.md from the tests
	PYTHONPATH=tests $(RUN)/python -m support.specification --write

messages: $(READY) ## print docs/reference/messages.md from the code and its tables of decisions
	PYTHONPATH=tests $(RUN)/python -m support.messages

metrics: $(READY) ## print the tables of docs/reference/metrics.md from the code
	PYTHONPATH=tests $(RUN)/python -m support.metricspage

docs: $(READY) ## the documentation as a site, in out/site
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build

site: $(READY) ## add the documentation as VERSION=1.2 to the published site
	$(if $(VERSION),,$(error make site needs VERSION=1.2))
	export NO_MKDOCS_2_WARNING=1 PATH="$(CURDIR)/$(RUN):$$PATH"; mike deploy --update-aliases $(VERSION) latest && mike set-default latest

argocd: $(READY) ## print the patch and values in deploy/argocd from Argo CD's scripts
	$(RUN)/python tools/argocd.py

image: $(READY) ## build the image twice, without a container engine (as root on Debian); compare
	$(RUN)/python -m image --twice

sbom: $(filter .uv/bin/uv,$(UV)) ## the image's bill of materials, from the lock file, in out/sbom.cdx.json
	@mkdir -p out
	$(UV) export --quiet --frozen --no-dev $(SERVED) --format cyclonedx1.5 --output-file out/sbom.cdx.json

dist: $(READY) ## the Python package, in dist/, built by what the lock file names
	env -u VIRTUAL_ENV UV_PROJECT_ENVIRONMENT=.venv/build $(UV) sync --quiet --frozen --only-group build --python $(RUN)/python
	VIRTUAL_ENV=.venv/build $(UV) build --quiet --clear --no-build-isolation --python .venv/build/bin/python

# A folder, since one file would unpack itself at each start; without what only the library's own servers and builds need.
# Installed anew, as uv looks at pyproject.toml alone to see whether the code has changed.
plugin: $(READY) ## kubectl-gpucloud with its interpreter, in out/plugin
	env -u VIRTUAL_ENV UV_PROJECT_ENVIRONMENT=.venv/plugin $(UV) sync --quiet --frozen --no-dev --extra cli --group plugin \
	  --no-editable --reinstall-package gpucloud-operator --python $(RUN)/python
	.venv/plugin/bin/pyinstaller --noconfirm --log-level WARN --onedir --name kubectl-gpucloud --distpath out/plugin \
	  --exclude-module setuptools --exclude-module kubernetes.aio --exclude-module aiohttp \
	  --collect-submodules gpucloud.cli.plugin \
	  --workpath out/plugin-build --specpath out/plugin-build .venv/plugin/bin/kubectl-gpucloud
	cp LICENSE deploy/krew/kubectl_complete-gpucloud out/plugin/kubectl-gpucloud/

lock: ## refresh uv.lock
	$(UV) lock --upgrade

clean: ## remove the environment and caches of this checkout
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis out
