# Every target sets up its own virtual environment; a new machine needs Python >= 3.11 and the package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# uv installs in seconds what takes pip minutes; of the package itself it must not keep an older build.
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --reinstall-package pedanova
# The package is built once for all environments: its wheel serves every Python.
WHEEL = $$(ls build/wheel/*.whl)

# The tests start some hundred interpreters: none of them compiles the libraries again, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

# What the installed package is made of: when one of these changes, it is installed anew.
SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE $(shell find src -type f -not -name '*.pyc')

# Tests of whatever touches a library that others release.
TOUCHING := tests/base/test_table.py tests/counting/test_same_tallies.py tests/measures/test_forest.py \
    tests/report/figures/test_plots.py tests/report/live/test_server.py tests/sources/optuna tests/sources/tables
# What concerns no library is left to `make test`: many questions at once, Ctrl-C, answers from equal tallies, broken files.
TOUCHED := -q -p no:cacheprovider -o filterwarnings=default -n auto --dist loadfile -m "not heavy" $(TOUCHING) \
    -k "not TestServers and not look_as_they_did and not every_road and not hundreds and not ctrl_c and not repeated \
    and not spoilt and not damaged_files and not thousand_columns and not gzip_bomb"

# Tests that reach every loop of the kernel, with the sizes, types and strides that a table can have.
KERNEL := tests/base/kernel $(addprefix tests/counting/test_,arrays.py goal_plane.py levels.py reference.py tally.py tradeoff.py) \
    tests/laws/test_invariances.py tests/laws/test_levels_of_others.py

# Files with a test that runs a real tool: the others need not be read for them.
HEAVY := $(shell grep -rl --include='test_*.py' 'mark\.heavy' tests)

# One more than there are cores: a test that waits for a browser or a server leaves its core to another.
WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: demo test check every quick slow heavy oldest newest wheel lint style types bench history paper docs gallery sanitize clean help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.demo  ## analyse the bundled random search; ends with a table and report.html
	$(BIN)/pedanova demo --report report.html

# mypy keeps one core busy: beside the tests, which leave a core alone at times. What fails is said by both.
test: $(VENV)/.test  ## lint, types and every test; of the documentation only where it changed (PEDANOVA_DOCS=1: always)
	$(MAKE) --no-print-directory style
	$(MAKE) --no-print-directory --jobs 2 --keep-going types every

check: $(VENV)/.test  ## lint, types and the quick tests of every subpackage, for use while working
	$(MAKE) --no-print-directory style
	$(MAKE) --no-print-directory --jobs 2 --keep-going types quick

every: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --docs-if-changed

quick: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m "not slow and not heavy" -q

slow: $(VENV)/.test  ## list in tests/slow.txt, from a run of every test, those that `make check` leaves out
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --list-slow

heavy: .venv-tools/.done  ## tests that run the real tools whose logs are read (SMAC3, Ray Tune, MLflow …)
	PEDANOVA_HEAVY=1 .venv-tools/bin/python -m pytest -m heavy -n auto --dist loadfile --no-loadscope-reorder $(HEAVY)

oldest: .venv-oldest/.done  ## tests with the oldest versions of everything that pyproject.toml allows
	.venv-oldest/bin/python -m pytest $(TOUCHED)

newest: .venv-newest/.done  ## tests with the newest versions, pre-releases among them
	.venv-newest/bin/python -m pytest $(TOUCHED)

wheel: .venv-release/.done  ## sdist and wheels for this machine, the same bytes twice, and the bill of materials: dist/
	.venv-release/bin/python packaging/wheels.py --check
	.venv-release/bin/python packaging/materials.py

lint: style types  ## ruff, mypy and clang-format

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror src/kernel/* src/pedanova/scale/cuda/kernels.cu

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.bench  ## speed against peers and limits, as ratios; quiet machine, some minutes
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/pairs.py
	$(BIN)/python benchmarks/fanova.py
	$(BIN)/python benchmarks/streaming.py

history: $(VENV)/.bench  ## the ratios that matter, appended to benchmarks/history.jsonl; warns at a loss of 10 %
	$(BIN)/python benchmarks/history.py

# `make paper PAPER="--runs 1 --largest 4"` is the short run of CI; `PAPER=--docs` also writes the tables of docs/paper.md.
paper: $(VENV)/.bench  ## every figure and table of the paper that needs no data from outside: build/paper/index.html
	$(BIN)/python experiments/paper/all.py --out build/paper $(PAPER)

docs: $(VENV)/.docs  ## the documentation site, strictly and without network: build/site/index.html
	rm -rf build/site
	$(BIN)/python -m sphinx --fail-on-warning --fresh-env --keep-going --quiet -b html -d build/doctrees docs build/site
	$(BIN)/python docs/_site/check_links.py build/site

gallery: $(VENV)/.test  ## run the notebooks of docs/gallery and store what they show
	$(BIN)/python docs/gallery/run.py

sanitize: $(VENV)/.test  ## the kernel's tests under AddressSanitizer and UBSan
	$(BIN)/cmake -S . -B build/sanitize -DPEDANOVA_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug > /dev/null
	$(BIN)/cmake --build build/sanitize > /dev/null
	LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PEDANOVA_KERNEL=build/sanitize/_kernel.so \
	$(BIN)/python -m pytest -q -n auto -p no:cacheprovider $(KERNEL)

clean:  ## remove environments and builds
	rm -rf .venv .venv-tools .venv-oldest .venv-newest .venv-release build dist report.html

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

build/wheel/.done: $(SOURCES) $(VENV)/.uv
	rm -rf build/wheel
	$(UV) build --quiet --wheel --python $(BIN)/python --out-dir build/wheel .
	@touch $@

$(VENV)/.demo: build/wheel/.done
	$(INSTALL) --python $(BIN)/python "$(WHEEL)[all]"
	@touch $@

$(VENV)/.test: build/wheel/.done
	$(INSTALL) --python $(BIN)/python "$(WHEEL)[lint]"
	@touch $@

.venv-tools/.done: build/wheel/.done
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv-tools
	$(INSTALL) --python .venv-tools/bin/python "$(WHEEL)[tools]"
	@touch $@

# uv alone can resolve to the lowest versions; what is not named here is as new as they let it be.
.venv-oldest/.done .venv-newest/.done: build/wheel/.done
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(@D)
	$(UV) pip compile --quiet --python $(@D)/bin/python --extra all --extra excel --extra fanova --extra optuna --extra polars --extra oldest pyproject.toml \
	    --upgrade -o $(@D)/chosen.txt $(if $(findstring oldest,$@),--resolution lowest-direct,--prerelease allow)
	$(UV) pip install --quiet --python $(@D)/bin/python -r $(@D)/chosen.txt
	$(INSTALL) --python $(@D)/bin/python --no-deps $(WHEEL)
	@touch $@

$(VENV)/.uv: $(BIN)/python
	$(BIN)/python -m pip --disable-pip-version-check --quiet install 'uv>=0.9'
	@touch $@

.venv-release/.done: pyproject.toml $(VENV)/.uv
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv-release
	$(UV) pip install --quiet --python .venv-release/bin/python -r pyproject.toml --extra release
	@touch $@

$(VENV)/.bench: build/wheel/.done
	$(INSTALL) --python $(BIN)/python "$(WHEEL)[bench]"
	@touch $@

$(VENV)/.docs: build/wheel/.done
	$(INSTALL) --python $(BIN)/python "$(WHEEL)[docs]"
	@touch $@
