# `make` lists the targets. Each sets up what it needs; `make PYTHON=python3.12 ...` chooses
# the interpreter (`make clean` first to change it).

PYTHON ?= python3
VENV := .venv
COMPILED := .venv-compiled
ZENOH_RELEASES := 1.0.4 1.5.1
RULE_RELEASES := 1.0.4 1.2.1 1.5.1 1.7.2

export PYTHON
# pip reads the second for the packages a build needs, older ones read the first for both.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
# Some machines forbid bytecode files. Without them every process of the tests compiles the modules
# again, which takes longer than many of the tests.
export PYTHONDONTWRITEBYTECODE :=

BUILD := pyproject.toml setup.py constraints.txt
# With the folders, whose time changes when a file goes away.
SOURCES := $(shell find src/zenlake -name __pycache__ -prune -o '(' -name '*.py' -o -path '*/assets/*' -o -type d ')' -print)
PACKAGES := bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
PIP := bin/python -m pip -qq --disable-pip-version-check install
# Tests that need Spark share a process, and one Java; many others wait for real nodes or for
# children, so six keep two processors busy. `-rs` says which tests were skipped, and why.
PYTEST := bin/python scripts/run_tests.py -q -n 6 --dist loadgroup -rs

.NOTPARALLEL:
.PHONY: help run test test-fast test-plain test-compiled test-full interop releases lint bench attack chaos soak simulate fuzz generate docs clean

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

run: $(VENV)/stamp $(VENV)/java-stamp ## real captures into the tables of demo.lake, and the page demo.html of what they tell
	@rm -rf demo.lake
	@echo '$$ zenlake decode --follow 20 tests/data/captures/queries.pcapng.gz'
	@$(VENV)/bin/zenlake decode --follow 20 tests/data/captures/queries.pcapng.gz
	@echo; echo '$$ zenlake pipeline tests/data/captures --lake demo.lake'
	@$(VENV)/bin/zenlake pipeline tests/data/captures --lake demo.lake
	@echo; echo '$$ zenlake report --lake demo.lake'
	@$(VENV)/bin/zenlake report --lake demo.lake

# Packages of which nothing is compiled.
ONLY_PLAIN := columnar lake pyspark_zenoh report ros why
# Long tests that find the same on plain Python and compiled.
LONG := capture cli links api/session/test_forks.py api/session/test_lifetimes.py
LONG += api/query/test_many_queries.py api/test_typing.py keyexpr/test_tree_bounds.py
LONG += node/test_attacks.py node/test_chaos.py routing/test_memory.py
LONG += routing/network/test_network_memory.py test_sources.py trace/test_byte_errors.py
LONG += trace/test_losses.py testing/simulation/test_seeds.py testing/simulation/test_router_seeds.py
LONG += testing/simulation/test_schedules.py
LONG += hostile/test_many_flows.py recording/test_faults.py recording/test_killed_recorder.py
LONG += recording/test_redacted_captures.py recording/test_topology_state.py
# What is tested on plain Python before everything is tested compiled.
FIRST := -m "not spark and not real" $(ONLY_PLAIN:%=--ignore=tests/%) $(LONG:%=--ignore=tests/%)

# Tests of texts, which nobody compiles.
TEXTS := test_citations.py test_documentation.py test_layering.py test_limits.py
# And those of the suite itself.
TEXTS += test_scheduling.py test_time_limit.py
# What is left when the first tests have passed.
SECOND := $(TEXTS:%=--ignore=tests/%)

# Without a compiler a person still gets an answer; CI gets a failure. What needs Spark or real
# nodes, and what is named above, runs once: compiled, as it is installed, or else plain.
test: ## run the tests, on plain Python and compiled
	@if scripts/bootstrap.sh compiler; then \
		$(MAKE) --no-print-directory test-plain CHOSEN='$(FIRST)' test-compiled LEFT='$(SECOND)'; \
	else $(MAKE) --no-print-directory test-plain && \
		echo "zenlake: only the plain suite ran, the compiled one needs the above" && \
		test -z "$$CI"; fi

test-fast: $(VENV)/stamp ## run the tests that need no Spark, no real nodes and no compiler, in about a minute
	@$(MAKE) --no-print-directory test-plain CHOSEN='$(FIRST)'

test-plain: $(VENV)/stamp $(VENV)/java-stamp ## run the tests on plain Python
	@echo "== tests, plain"
	@ZENLAKE_EXPECT=plain $(VENV)/$(PYTEST) $(CHOSEN)

test-compiled: $(COMPILED)/kernels-stamp $(VENV)/java-stamp ## run the tests on modules compiled by mypyc
	@echo "== tests, compiled"
	@ZENLAKE_EXPECT=compiled $(COMPILED)/$(PYTEST) $(LEFT)

test-full: export ZENLAKE_FULL := 1
test-full: test ## run the tests with many more examples

interop: $(VENV)/stamp $(ZENOH_RELEASES:%=.venv-zenoh-%/stamp) ## our nodes with real ones of several releases
	@echo "== interoperation with eclipse-zenoh $(ZENOH_RELEASES) and the one of constraints.txt"
	@ZENLAKE_INTEROP=full \
		ZENLAKE_ZENOH_VENVS=$$(for one in $(ZENOH_RELEASES); do printf '%s=.venv-zenoh-%s:' $$one $$one; done) \
		$(VENV)/$(PYTEST) --junitxml=$(VENV)/interop.xml tests/interop tests/programs; \
		result=$$?; $(VENV)/bin/python -m tests.interop.table $(VENV)/interop.xml; exit $$result

releases: $(VENV)/stamp $(RULE_RELEASES:%=.venv-zenoh-%/stamp) ## traffic of real nodes of several releases, held to the rules
	@echo "== rules, with eclipse-zenoh $(RULE_RELEASES) and the one of constraints.txt"
	@ZENLAKE_INTEROP=full \
		ZENLAKE_ZENOH_VENVS=$$(for one in $(RULE_RELEASES); do printf '%s=.venv-zenoh-%s:' $$one $$one; done) \
		$(VENV)/$(PYTEST) tests/rules/test_releases.py

lint: $(VENV)/stamp ## check style and types
	@echo "== lint"
	@$(VENV)/bin/ruff check -q .
	@$(VENV)/bin/ruff format -q --check .
	@$(VENV)/bin/mypy

bench: $(COMPILED)/stamp ## run the benchmarks, compiled
	@for file in benchmarks/bench_*.py; do \
		echo "== $$file"; $(COMPILED)/bin/python "$$file" || exit; done

attack: $(COMPILED)/stamp ## attack a node while two clients ping each other through it, compiled
	@$(COMPILED)/bin/python -m attacks.run $(ATTACK)

chaos: $(COMPILED)/stamp ## kill, pause and cut off routers at random for ten minutes, compiled
	@$(COMPILED)/bin/python -m chaos.run $(CHAOS)

soak: $(COMPILED)/stamp ## see whether memory stays flat under load, a minute for each case
	@$(COMPILED)/bin/python benchmarks/soak_session.py

SEEDS := 0..10000
simulate: $(VENV)/stamp ## simulate networks with faults, of 10,000 seeds; SEEDS=0..100 for others
	@for options in "" --routers; do \
		echo "== simulation, seeds $(SEEDS) $$options"; \
		$(VENV)/bin/python -m zenlake.testing.simulation --seeds $(SEEDS) $$options || exit; done

fuzz: $(VENV)/fuzz-stamp ## look for crashes in the decoders
	@$(VENV)/bin/python fuzz/run.py

generate: $(VENV)/stamp ## write the codecs and reference pages from the definition
	@$(VENV)/bin/python -m zenlake.wire.generate
	@$(VENV)/bin/python -m zenlake.columnar.generate
	@$(VENV)/bin/python -m zenlake.lake.schema.generate
	@$(VENV)/bin/python -m zenlake.lake.derive.duck.generate
	@$(VENV)/bin/python -m zenlake.semantics.generate
	@$(VENV)/bin/python -m zenlake.rules.generate
	@$(VENV)/bin/python -m zenlake.lake.fast_reader.screening.generate
	@$(VENV)/bin/python -m zenlake.lake.fast_reader.kernel_digests
	@$(VENV)/bin/python -m zenlake.api.generate

docs: generate ## write the reference pages

clean: ## remove everything made by make
	@rm -rf .venv* build dist demo.lake demo.html src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +

# Bytecode is written by all processors (pip uses one), and that of `src` before anybody imports it:
# a folder that gets one later looks changed to the rule below.
$(VENV)/stamp: $(BUILD)
	@echo "== setting up $(VENV)"
	@scripts/bootstrap.sh venv $(VENV)
	@$(VENV)/$(PIP) pip
	@ZENLAKE_COMPILE=0 $(VENV)/$(PIP) --no-compile -e '.[test,lint]'
	@$(VENV)/bin/python -m compileall -qq -j 0 src "$$($(VENV)/$(PACKAGES))" || true
	@touch $@

# What others wrote is taken from the plain environment: it is large, and the same. Old build output
# would be packed again, so it goes first.
$(COMPILED)/stamp: $(BUILD) $(SOURCES) | $(VENV)/stamp
	@echo "== compiling into $(COMPILED)"
	@scripts/bootstrap.sh compiler
	@scripts/bootstrap.sh venv $(COMPILED)
	@rm -rf build
	@ZENLAKE_COMPILE=1 $(COMPILED)/$(PIP) --no-deps .
	@$(VENV)/$(PACKAGES) > "$$($(COMPILED)/$(PACKAGES))/plain.pth"
	@touch $@

# Once, and not by each process that tests them.
$(COMPILED)/kernels-stamp: $(COMPILED)/stamp
	@echo "== compiling the kernels of the lake"
	@$(COMPILED)/bin/python -m tests.kernels
	@touch $@

# Each release of the other side in an environment of its own.
.venv-zenoh-%/stamp:
	@echo "== setting up $(@D)"
	@scripts/bootstrap.sh venv $(@D)
	@PIP_CONSTRAINT= $(@D)/$(PIP) eclipse-zenoh==$*
	@touch $@

$(VENV)/java-stamp: $(VENV)/stamp
	@scripts/bootstrap.sh java
	@touch $@

$(VENV)/fuzz-stamp: $(VENV)/stamp
	@$(VENV)/$(PIP) --only-binary atheris -e '.[fuzz]' || \
		{ echo "zenlake: atheris has no wheel for this Python: try make PYTHON=python3.12 fuzz"; exit 1; }
	@touch $@
