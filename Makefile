# `make` alone lists the targets. The work is done by the scripts in infra/dev, which work from any folder.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Targets share a build folder and the machine, so they must not run concurrently.
.NOTPARALLEL:
.PHONY: help install up stop psql demo first-app build release test test-scripts test-protocol test-api test-release screenshots test-long test-mutants simulate bench \
	format lint check clean

DEV := infra/dev

# The project's Swift files, separated by zero bytes. Generated code is left out.
SWIFT_FILES = find $(wildcard Packages Apps Tests Benchmarks Package.swift) \
	-name '.build*' -prune -o -type f -name '*.swift' ! -name '*.pb.swift' -print0
SHELL_FILES = .ci/run $(wildcard $(DEV)/*.sh Tests/scripts/*.sh)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 } \
		/^## / { sub(/^## /, ""); printf "\n%s\n", $$0 }' Makefile

## Run it

up: ## Install missing packages, build, and run the whole platform until Ctrl-C
	@TOMBOLO_MAKE_TARGET=up $(DEV)/up.sh

demo: ## Show the product in a minute: two devices, a conference, plain SQL
	@TOMBOLO_MAKE_TARGET=demo $(DEV)/demo.sh

first-app: ## Follow docs/first-app.md in an empty folder, with the stock programs
	@$(DEV)/first-app.sh

psql: ## Open psql on the database of `make up` (as a service: ROLE=tombolo_app)
	@$(DEV)/cluster.sh psql $(if $(ROLE),--as-service $(ROLE))

stop: ## Stop the PostgreSQL of `make up` if it's still running
	@$(DEV)/cluster.sh stop

## Build it

install: ## Install missing system packages (Debian, Ubuntu) and check the Swift version
	@$(DEV)/install.sh

build: install ## Build everything for debugging
	swift build

release: install ## Build the servers and tools for other machines, in .build/programs
	@$(DEV)/release.sh

clean: ## Delete build products; keeps the data of `make up`
	rm -rf .build .build-bench

## Test it

test: install ## Run all tests
	@$(DEV)/test.sh

test-scripts: install ## Test the scripts that manage the development database
	@Tests/scripts/cluster-test.sh

test-protocol: build ## Test the Python client of docs/protocol.md against the gateway
	@Tests/scripts/protocol-test.sh

test-api: build ## Check the admin server's API against its OpenAPI description; downloads two packages from PyPI
	@Tests/scripts/openapi-test.sh

test-release: release ## Test the programs of `make release` without Swift's libraries, and with the demo
	@Tests/scripts/release-test.sh

screenshots: build ## Use the panel in Chromium, by mouse and by keyboard; saves pictures in .build/screenshots
	@$(DEV)/install.sh --browser
	@Tests/scripts/screenshots.sh

test-long: install ## Run all tests, including the long ones at full length
	@TOMBOLO_LONG_TESTS=1 $(DEV)/test.sh

test-mutants: install ## Switch on known bugs one at a time; the simulator must catch each
	swift run simulate mutants

simulate: install ## Run the simulator, or replay one of its seeds: make simulate SEED=42
	swift run simulate $(if $(SEED),seed $(SEED) --trace,run)

bench: install ## Measure against the raw limits; prints a table, writes a JSON file (options: make bench ARGS=--quick)
	. $(DEV)/lib.sh; swift build -c release $$(release_flags) --package-path Benchmarks --scratch-path .build-bench --product bench
	$(DEV)/with-cluster.sh .build-bench/release/bench --output .build-bench/bench.json $(ARGS)

## Keep it tidy

format: ## Format the Swift files
	@$(SWIFT_FILES) | xargs -0 swift format format --in-place --parallel --configuration .swift-format

lint: ## Check the format of the Swift files, and the shell scripts if shellcheck is installed
	@$(SWIFT_FILES) | xargs -0 swift format lint --strict --parallel --configuration .swift-format
	@if command -v shellcheck >/dev/null; then shellcheck -x $(SHELL_FILES); \
	else echo "lint: no shellcheck here, so that the shell scripts are not checked"; fi

check: ## Run what CI runs
	@.ci/run
