# Everything sets itself up: `make demo` and `make test` need nothing but Python 3.11 and a network, once.
#
#   make demo              a duo of scripted agents stalls, is woken, completes (about a minute)
#   make demo ARGS=--json  the same; stdout is the journal as JSON lines and nothing else
#   make test              all tests (ARGS="-k ladder" for some)
#   make test-agents       the tests that drive real agent programs; installs these into .agents
#   make check             format, lint, types, tests, scenarios, stale docs: what CI demands
#   make format            puts the format right
#   make docs              writes the generated pages of docs/ anew
#   make bench             the measurements of benchmarks/ (BENCHMARKS=core for one)
#   make clean             removes what was built; journals of sessions are elsewhere and stay

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo setup test test-agents check format lint types scenarios docs docs-check bench clean

ARGS ?=
BIN := .venv/bin
# More than there are cores: most tests of whole sessions wait for a window of quiet to pass.
WORKERS ?= 6
SCENARIOS = $(wildcard tests/scenarios/*.yaml tests/scenarios/own/*.yaml)
# The soak takes long and deliveries needs real agent programs: each is run by itself, before a release.
BENCHMARKS = $(sort $(filter-out _% soak deliveries,$(basename $(notdir $(wildcard benchmarks/*.py)))))

help:
	@sed -n 's/^#   //p' Makefile

# Only the tmux driver needs tmux.
demo:
	@bin/setup-env $(if $(findstring baton,$(ARGS)),,--tmux)
	@$(BIN)/mat demo $(ARGS)

setup:
	@bin/setup-env --dev --tmux

# Tests of one `xdist_group` run in one worker, one after the other (agent programs are heavy).
# Temporary files of a green run are removed, those of a red one are kept and named.
test: setup
	@ground=$$(mktemp -d "$${TMPDIR:-/tmp}/mat-test-XXXXXX") && \
	if $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --basetemp="$$ground/t" $(ARGS); \
	then rm -rf "$$ground"; else status=$$?; echo "the tests' files are kept in $$ground" >&2; exit $$status; fi

test-agents: setup
	@.ci/install-agents --all
	@MAT_REQUIRE_AGENTS=all $(MAKE) test ARGS="tests/agents $(ARGS)"

# The tests come last, so that their summary is what a reader sees; --cov adds that rules and words are covered.
check: lint types docs-check scenarios
	@$(MAKE) test ARGS="--cov $(ARGS)"

format: setup
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: setup
	@$(BIN)/mypy

scenarios: setup
	@$(BIN)/mat simulate --check $(SCENARIOS)

docs: setup
	@$(BIN)/python -m tests.generated_docs --write

docs-check: setup
	@$(BIN)/python -m tests.generated_docs

bench: setup
	@for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name $(ARGS) || exit; done

clean:
	rm -rf .venv .agents dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
