# Everything a fresh machine needs: Python 3.11 or newer, a C++20 compiler and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard native/*.hpp native/*/*.?pp)

# Warnings of the compiler are errors for developers; a demonstration must build with any compiler.
WERROR ?= ON
demo: WERROR := OFF

# pip, which says in a line what it is doing; its whole output goes to a file.
PIP = $(PYTHON) .ci/progress $(VENV)/pip.log $(BIN)/python -m pip

# All cores; the tests that share a cluster of workers run in one process.
PARALLEL := -n auto --dist loadgroup
# There is a process for every core; more threads of BLAS in each of them would only wait for each other.
test test-papers test-slow test-full test-portable test-clang test-aarch64 test-device: export OPENBLAS_NUM_THREADS := 1

# What the tests of versions, Pythons, compilers and processors run, and what test-wheel runs on the installed package.
TESTS ?= tests
TESTS_OF_WHEELS ?= tests/golden/test_results.py tests/statistics/test_counts.py tests/contracts/test_invariances.py

.PHONY: help demo test test-papers test-slow test-full test-lowest test-newest test-pythons test-device test-pgmpy test-r
.PHONY: test-portable test-aarch64 test-clang test-bits test-browser test-wheel compile-only soak screenshot lint check
.PHONY: check-release sanitize fuzz bench reproduce-small wheel docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9 -]+:.*## / { printf "make %-24s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/installed ## set up, then show what mnlearn does on data that comes with it
	@$(BIN)/mnlearn demo

test: $(VENV)/developing ## set up, then run the tests, in about two minutes on two cores
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not slow"

test-papers: $(VENV)/papers ## the tests of mnlearn-papers, the published experiments in papers
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not slow" papers/tests

test-slow: $(VENV)/papers ## the tests that make test leaves out
	$(BIN)/python -m pytest -q $(PARALLEL) -m slow
	$(BIN)/python -m pytest -q $(PARALLEL) -m slow papers/tests

test-full: $(VENV)/papers ## every test with all its examples, the browser, the documentation and the sanitizers
	MNLEARN_TESTS=full $(BIN)/python -m pytest -q $(PARALLEL)
	MNLEARN_TESTS=full $(BIN)/python -m pytest -q $(PARALLEL) papers/tests
	$(MAKE) test-browser docs sanitize

test-lowest test-newest: $(VENV)/developing ## with every dependency at its lowest declared version; with the newest
	VENV=$(VENV) .ci/versions $(@:test-%=%) $(BIN)/python $(PARALLEL) $(TESTS)

test-pythons: ## with each Python from 3.11 to 3.14 that is on the PATH
	VENV=$(VENV) .ci/pythons $(TESTS)

test-device: $(VENV)/with-device ## install PyTorch, then the tests of device=; a GPU is used where there is one
	$(BIN)/python -m pytest -q $(PARALLEL) tests/statistics/test_device.py

test-pgmpy: $(VENV)/developing ## to_pgmpy with pgmpy, in an environment of its own
	.ci/package build/pgmpy "$$($(BIN)/python -c 'import mnlearn._core as core; print(core.__file__)')"
	.ci/environment $(BIN)/python build/pgmpy
	$(BIN)/python -m pip --python build/pgmpy/environment/bin/python install -q --group pgmpy
	build/pgmpy/environment/bin/python -m pytest -q tests/model/test_pgmpy.py

test-r: $(VENV)/developing ## the package for R; on Debian root gets R if it is missing
	.ci/r "$(abspath $(BIN)/python)"

test-portable: $(VENV)/developing ## with the portable code path of the native core
	MNLEARN_CORE=portable $(BIN)/python -m pytest -q $(PARALLEL) -m "not slow" $(TESTS)

# Emulated, so the tests of the core alone: those of Python code would tell nothing new in ten times the time.
test-aarch64: TESTS := tests/golden/test_results.py tests/test_elementary.py tests/statistics tests/scores \
  tests/regression tests/independence tests/distributions tests/simulate
test-aarch64: $(VENV)/developing ## the native core on 64-bit ARM, emulated by qemu (Debian)
	.ci/aarch64 $(BIN)/python $(PARALLEL) $(TESTS)

test-clang: $(VENV)/developing ## the native core built with clang (CXX=); LIBCXX=1 with its standard library
	.ci/clang $(BIN)/python $(PARALLEL) $(TESTS)

test-bits: $(VENV)/developing ## the golden results as other processors compute them
	.ci/bits $(BIN)/python

compile-only: $(VENV)/with-cross ## check that the native core compiles for macOS, Windows and ARM
	.ci/compile-only $(BIN)/python

KILLS ?= 500
SEED  ?= $(shell date +%s)
soak: $(VENV)/papers ## kill every command that writes at random times, KILLS=500 times; SEED=
	$(BIN)/python tests/soak.py --kills $(KILLS) --seed $(SEED)

test-browser: $(VENV)/with-browser ## the report in a real browser (Debian: apt-get install chromium)
	MNLEARN_BROWSER=required $(BIN)/python -m pytest -q tests/browser

screenshot: $(VENV)/with-browser ## the picture of the report in README.md
	$(BIN)/python docs/screenshot.py

lint: $(VENV)/developing ## the figures of .ci/house, ruff, clang-format, mypy --strict, the stub of the native core
	$(BIN)/python .ci/house --check
	$(BIN)/ruff check src tests papers docs .ci/house .ci/pace
	$(BIN)/ruff format --check src tests papers .ci/house .ci/pace $(wildcard docs/*.py docs/examples/*.py)
	$(BIN)/clang-format --dry-run --Werror $(filter %pp,$(NATIVE))
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_stub.py

check: test lint ## test and lint

SCHEMA = $(BIN)/check-jsonschema --quiet --builtin-schema
check-release: $(VENV)/with-release ## workflows, scripts of .ci and files of a release: schemas, zizmor, shellcheck, actionlint
	$(SCHEMA) vendor.github-workflows $(wildcard .github/workflows/*.yml)
	$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.readthedocs .readthedocs.yaml
	$(SCHEMA) vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/shellcheck --severity=warning $$(grep -lE '^#!.*bash' .ci/*)
	.ci/actionlint

sanitize: $(VENV)/developing ## the tests of the native core with AddressSanitizer and UBSan
	.ci/sanitize $(BIN)/python

# Findings are written to build/fuzz; those that are mended go into tests/fuzz/corpus. FUZZ="--reader pack --seed 7"
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/papers ## randomly changed files for every reader, FUZZ_SECONDS=60 each; SANITIZE=1 as in make sanitize
	$(if $(SANITIZE),.ci/sanitize $(BIN)/python,PYTHONPATH=tests $(BIN)/python) -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)
	$(if $(SANITIZE)$(FUZZ),,PYTHONPATH=tests:papers/tests $(BIN)/python -m fuzz_papers --reader optimize --reader cnf \
	    --seconds $(FUZZ_SECONDS))

bench: $(VENV)/benchmarking ## speed and memory, as ratios to something simple in the same run
	$(BIN)/python papers/benchmarks counting --sizes 1000
	$(BIN)/python papers/benchmarks moments reading reading-memory by-tests separator

# Experiments that need the folder of the data are left out without it. FIGURES=--write writes the expected figures.
DATA ?= ../shared/data
reproduce-small: $(VENV)/papers ## one cell of every published experiment, the same as before; DATA=../shared/data
	$(BIN)/python -m mnlearn_papers.small papers/tests/experiments/reference/small.txt --data $(DATA) $(FIGURES)

wheel: $(VENV)/with-wheels ## a wheel and a source distribution into dist, with their contents, tags and instructions checked
	.ci/wheel build $(BIN)/python

test-wheel: wheel ## both, installed and tested in environments of their own
	.ci/wheel test $(BIN)/python $(TESTS_OF_WHEELS)

docs: $(VENV)/papers $(VENV)/with-docs ## the documentation, its examples run, into docs/_build/html
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# The package itself, editable: Python files are used in place, the native core is built anew when it changes.
$(VENV)/installed: pyproject.toml $(NATIVE)
	@$(PYTHON) -c 'import sys; sys.exit("mnlearn needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV): an environment of Python, the packages that mnlearn needs, and its native core"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip
	@$(PIP) install -v --config-settings=cmake.define.MNLEARN_WERROR=$(WERROR) --editable '.[plot,report]'
	@touch $@

$(VENV)/developing: $(VENV)/installed
	@echo "Installing the tools of developers into $(VENV)"
	@$(PIP) install --group dev
	@touch $@

$(VENV)/papers: $(VENV)/developing papers/pyproject.toml
	@echo "Installing mnlearn-papers into $(VENV)"
	@$(PIP) install --no-deps --editable ./papers
	@touch $@

# More tools: a group of dependencies of pyproject.toml.
$(VENV)/with-%: $(VENV)/developing
	@echo "Installing the group $* of pyproject.toml into $(VENV)"
	@$(PIP) install --group $*
	@touch $@

$(VENV)/benchmarking: $(VENV)/papers
	@echo "Installing what the benchmarks compare with into $(VENV)"
	@$(PIP) install --group bench
	@touch $@

clean: ## remove everything that make made
	rm -rf docs/_build docs/generated docs/tutorials $(VENV) $(VENV)-* build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
