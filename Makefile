# `make demo` and `make test` set up everything they need; `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# A directory of questions with known answers, one folder a task; without it only what needs none is measured.
DATA ?=
# A directory of adapters to the stores that others use, with the runner that measures them all alike.
PEERS ?=

.PHONY: help demo test soak adapters golden check style types format browser conformance bench load attack evals peers lock docs clean

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/core ## Remember, recall and travel in time on one SQLite file
	$(BIN)/python examples/demo.py

# What is compiled, what the tests' assertions become and what the embedder made of their texts is kept from one run to
# the next, and not beside the source.
# The types are looked at beside the tests, one of which waits now and then; what they say is told at the end.
test: style $(VENV)/dbt/ready $(VENV)/foreign/ready conformance browser ## Run every check and every test, on SQLite and on a real PostgreSQL
	@$(BIN)/mypy > $(VENV)/types.txt 2>&1 & types=$$!; \
	PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(abspath $(VENV))/compiled \
	ONRECORD_TEST_VECTORS=$(abspath $(VENV))/vectors \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal; tests=$$?; \
	wait $$types; typed=$$?; cat $(VENV)/types.txt; [ $$tests -eq 0 ] && [ $$typed -eq 0 ]

soak: $(VENV)/dbt/ready $(VENV)/foreign/ready conformance browser ## Run the tests with many times the examples, kills, rounds and rows, which takes long
	ONRECORD_TEST_SOAK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# A wheel of ours and one framework with its extra: nothing else that the development packages would bring.
FRAMEWORKS := langgraph pydantic-ai openai-agents anthropic

adapters: $(VENV)/dev ## Try each framework in an environment of its own, with its extra alone
	@for each in $(FRAMEWORKS); do \
		there=$(VENV)/adapters/$$each; tests=tests/frameworks/test_$$(echo $$each | tr - _).py; \
		$(PYTHON) -m venv $$there && \
		$$there/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$$each]" pytest pytest-timeout && \
		$$there/bin/python -m pytest $$tests --confcutdir tests/frameworks || exit 1; \
	done

golden: $(VENV)/dev ## Write the answers that tests compare with anew, for `git diff` to show what has changed
	rm -rf tests/golden/answers
	ONRECORD_TEST_GOLDEN=write $(BIN)/python -m pytest -m golden tests/golden tests/faces

check: style types ## Format, lint, types and the direction of imports

style: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo

types: $(VENV)/dev
	$(BIN)/mypy

format: $(VENV)/dev ## Put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

browser: ## Install Debian's Chromium, in which the pages are tested, where that can be done
	@command -v chromium > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium > /dev/null; } \
		|| echo "No Chromium: the tests of the pages in a browser are skipped. Install the package chromium, then run this again."

conformance: $(VENV)/dev ## Install the conformance suite of the protocol, from npm, where that can be done
	@command -v npm > /dev/null && $(MAKE) --no-print-directory $(VENV)/conformance/ready \
		|| echo "The conformance suite of the protocol is skipped: it wants npm, and the packages in requirements/conformance."

bench: $(VENV)/dev ## Measure speed, as ratios against raw SQLite and FTS5 in one run
	$(BIN)/python benchmarks/speed.py $(if $(DATA),--data $(DATA))

load: $(VENV)/dev ## Ask real servers from sixteen clients, beside the same calls in process
	$(BIN)/python benchmarks/serving.py $(if $(DATA),--data $(DATA)) $(if $(PEERS),--stub $(PEERS))

attack: $(VENV)/dev ## For ten minutes: what hostile inputs cost, and what load, floods and kills do
	$(BIN)/python benchmarks/attack.py

evals: $(VENV)/dev ## Measure quality: secrets found, repetitions seen, and questions answered on DATA
	$(BIN)/python evals/scrubbing.py
	$(BIN)/python evals/said_already.py
	$(BIN)/python evals/languages.py
	$(BIN)/python evals/checked_claims.py
	$(if $(DATA),$(BIN)/onrecord eval --data $(DATA))

peers: $(VENV)/dev ## Do the same work as the systems whose adapters are in PEERS, and compare
	$(BIN)/python benchmarks/peers.py --peers "$(PEERS)"

docs: $(VENV)/dev ## Write the reference, the man page, the stub of the doors and what registries read anew from the code
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/manual.py
	$(BIN)/python docs/stub.py
	$(BIN)/python docs/announce.py

lock: $(VENV)/dev ## Compile the requirements anew, with hashes
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --quiet \
		--extra postgres pyproject.toml requirements/build.in -o requirements/core.txt
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --quiet \
		--extra postgres --group dev pyproject.toml requirements/build.in -o requirements/dev.txt
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --quiet \
		--no-strip-extras requirements/dbt.in -o requirements/dbt.txt
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --quiet \
		--no-strip-extras requirements/foreign.in -o requirements/foreign.txt
	npm --prefix requirements/conformance install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund

clean: ## Remove what was made
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# The marks say which requirements the environment holds, so that a second run starts at once.
$(VENV)/core: requirements/core.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/core.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/dev: requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@ $(VENV)/core

# dbt makes the artefacts that the tests read. It wants older versions of what we use, so it lives apart.
$(VENV)/dbt/ready: requirements/dbt.txt $(VENV)/dev
	$(PYTHON) -m venv $(VENV)/dbt
	$(VENV)/dbt/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dbt.txt
	touch $@

# An MCP server of others, before which the tests put the proxy. It wants an older library of the protocol.
$(VENV)/foreign/ready: requirements/foreign.txt $(VENV)/dev
	$(PYTHON) -m venv $(VENV)/foreign
	$(VENV)/foreign/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/foreign.txt
	touch $@

$(VENV)/conformance/ready: requirements/conformance/package-lock.json $(VENV)/dev
	mkdir -p $(VENV)/conformance
	cp requirements/conformance/package.json requirements/conformance/package-lock.json $(VENV)/conformance
	npm --prefix $(VENV)/conformance ci --ignore-scripts --no-audit --no-fund --loglevel=error > /dev/null
	touch $@
