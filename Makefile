# Two commands do everything: `make demo` and `make test`.  `make help` lists the rest.

PYTHON ?= python3.11
SEED   ?= 0
N      ?= 20000

VENV    := .venv
PY      := $(VENV)/bin/python
SOURCES := pyproject.toml setup.py constraints.txt
NATIVE  := $(wildcard src/frameloom/native/*.c src/frameloom/native/*.h)

# The environment of the core's tests: one per Python version, without torch.
CORE    = .venv-core-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PIP     = -m pip install --quiet --constraint constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test test-core test-native-asan test-cpython test-all bench bench-dispatch bench-trees fuzz goldens clean

help:
	@echo 'make demo                     install and run the main job: real models, captured, compared and timed'
	@echo 'make test                     what every push runs, with torch, on $(PYTHON)'
	@echo 'make test-core PYTHON=...     the tests of the core, without torch, on one of CPython 3.11, 3.12, 3.13'
	@echo 'make test-native-asan         the native tests under the address and undefined behaviour sanitizers'
	@echo 'make test-cpython             CPython'"'"'s own tests under capture, on every Python that is found; takes long'
	@echo 'make test-all                 everything, on every Python that is found; takes long'
	@echo 'make bench                    cost of calls and of captures against torch.compile, as ratios'
	@echo 'make fuzz N=20000 SEED=0      differential tests with that many programs, made from that seed'
	@echo 'make bench-dispatch           cost of calls alone, and of the guards of trees of modules on every Python'
	@echo 'make goldens                  write the golden files anew; read the difference before you commit it'
	@echo 'make clean                    remove environments and build products'

install: $(VENV)/.built

$(VENV)/.installed: $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(PY) $(PIP) setuptools
	@echo 'installing torch, transformers and the test tools (a few minutes the first time)'
	$(PY) $(PIP) --editable '.[torch,test,report,models,demo]'
	touch $@

$(VENV)/.built: $(VENV)/.installed $(NATIVE)
	$(PY) setup.py --quiet build_ext --inplace
	touch $@

demo: $(VENV)/.built
	$(PY) examples/demo.py
	$(PY) examples/train.py

test: $(VENV)/.built
	$(PY) -c 'import torch, frameloom'
	$(PY) -m pytest -m 'not slow' --durations=15 tests

test-core:
	test -x $(CORE)/bin/python || $(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python $(PIP) setuptools
	$(CORE)/bin/python $(PIP) --editable '.[test,report]'
	$(CORE)/bin/python setup.py --quiet build_ext --inplace
	$(CORE)/bin/python -m pytest -m 'not slow and not torch' --durations=5 tests

ASAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g
ASAN_BUILD  = build/asan-$(notdir $(CORE))
ASAN_RUN    = PYTHONPATH=$(ASAN_BUILD)/lib PYTHONMALLOC=malloc \
  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 \
  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
  $(CORE)/bin/python

# Leaks are judged by reference counts and memory over a million calls, not by the sanitizer: CPython never frees all.
test-native-asan:
	test -x $(CORE)/bin/python || $(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python $(PIP) setuptools
	$(CORE)/bin/python $(PIP) --editable '.[test,report]'
	rm -rf $(ASAN_BUILD)
	CFLAGS='$(ASAN_FLAGS)' LDFLAGS='-fsanitize=address,undefined' \
	  $(CORE)/bin/python setup.py --quiet build --build-base $(ASAN_BUILD) --build-lib $(ASAN_BUILD)/lib
	$(ASAN_RUN) -c 'from frameloom.native import _native; assert "asan" in _native.__file__, _native.__file__'
	$(ASAN_RUN) -m pytest -m 'not slow and not torch' tests/native

# One Python after the other, each in its environment without torch; the table in docs/python.md is written from all.
CPYTHON_JOBS    ?= 2
CPYTHON_PYTHONS ?= python3.11 python3.12 python3.13
test-cpython:
	rm -rf build/cpython
	for python in $(CPYTHON_PYTHONS); do $(MAKE) --no-print-directory test-cpython-one PYTHON=$$python || exit 1; done
	$$(ls -d .venv-core-* | head -1)/bin/python -m tests.cpython.table build/cpython --check

test-cpython-one:
	test -x $(CORE)/bin/python || $(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python $(PIP) setuptools
	$(CORE)/bin/python $(PIP) --editable '.[test,report]'
	$(CORE)/bin/python setup.py --quiet build_ext --inplace
	-$(CORE)/bin/python -m tests.cpython.run --jobs $(CPYTHON_JOBS) --save build/cpython

test-all: $(VENV)/.built
	$(PY) -m pytest --hypothesis-profile=all --durations=50 tests
	bash .ci/run --core-only

bench: $(VENV)/.built
	$(PY) -m benchmarks

# The second half needs no torch: it runs on every Python that is found.
bench-dispatch: $(VENV)/.built
	$(PY) -m benchmarks --only calls
	for python in $(CPYTHON_PYTHONS); do $(MAKE) --no-print-directory bench-trees PYTHON=$$python || exit 1; done

bench-trees:
	test -x $(CORE)/bin/python || $(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python $(PIP) setuptools
	$(CORE)/bin/python $(PIP) --editable '.[test,report]'
	$(CORE)/bin/python setup.py --quiet build_ext --inplace
	$(CORE)/bin/python -m benchmarks.trees

fuzz: $(VENV)/.built
	$(PY) -m pytest --hypothesis-profile=fuzz --hypothesis-seed=$(SEED) --programs=$(N) tests/differential/test_programs.py

goldens: $(VENV)/.built
	$(PY) -m pytest --update-goldens tests

clean:
	rm -rf $(VENV) .venv-core-* build dist src/*.egg-info
	find src -name '*.so' -delete
