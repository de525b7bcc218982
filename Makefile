# Everything a developer or CI does, one target each. `make` alone lists the targets.
# Works with GNU Make 3.81 (macOS) and later; the recipes need only a POSIX shell, the scripts in tools/ need bash 3.2.

GO ?= go

# Time per target of `make fuzz`; `make test` takes 2 s, and 5 for what strangers can reach, for some targets; `make soak` SOAKTIME.
FUZZTIME ?= 60s
SOAKTIME ?= 10m
# Which benchmarks, and how often (10 gives benchstat something to work with).
BENCH ?= .
COUNT ?= 1
# What `make flaky` looks at. Without PKG that is what `make unit` runs; CONSOLE or BROWSER alone leaves Go out.
PKG ?=
RUN ?=
LOAD ?=
CONSOLE ?=
BROWSER ?=
FLAKY_COUNT = $(if $(filter command,$(origin COUNT))$(filter environment,$(origin COUNT)),$(COUNT),10)
FLAKY_PACKAGES = $(if $(PKG),$(PKG),$(if $(CONSOLE)$(BROWSER),,$(UNIT)))
comma = ,
# Further arguments of the program behind `make run` or `make play`, for instance ARGS=--fast.
ARGS ?=
# Versions of the CLI that `make clis` installs; empty means the pinned ones.
VERSION ?=
# A test binary that takes longer is stopped with all its goroutines' stacks.
UNIT_TIMEOUT ?= 8m
CONFORMANCE_TIMEOUT ?= 20m
E2E_TIMEOUT ?= 20m

# On Linux and Windows the race detector needs a C compiler. Without one the tests run without it, and `make test` ends with saying so.
# It looks at everything but the C code of SQLite and its library, which were translated into Go: there it finds nothing of ours, and watching
# them takes half the time of the tests of the hub.
RACE ?= $(if $(filter 1,$(shell $(GO) env CGO_ENABLED))$(filter darwin,$(shell $(GO) env GOOS)),$(RACE_FLAGS))
RACE_FLAGS = -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false
# Lint vets everything, and nobody debugs the tests of a whole run.
TEST_PURE = $(GO) run ./internal/testrun test -vet=off -ldflags=-w
TEST = $(TEST_PURE) $(RACE)
# Three packages at a time: on two cores one of them waits for a process or a socket.
UNIT_FLAGS = -shuffle=on -p 3 -timeout $(UNIT_TIMEOUT)

# tools/stages asks for the durations of tests, to name the slowest. $(call VITEST,name) runs the tests of the console.
VITEST = npx vitest run $(if $(SWITCHBOARD_TEST_TIMES),--reporter=default --reporter=json --outputFile.json=$(SWITCHBOARD_TEST_TIMES)/$(1).json)

# Where the tests of the sandbox find bubblewrap. Without one the rest runs, and they fail.
BWRAP = SWITCHBOARD_BWRAP="$$(tools/bubblewrap)"

# Tools are pinned in a module of their own and built by Go itself; the build cache keeps them.
LINT = $(GO) tool -modfile=tools/go.mod golangci-lint

# The conformance suite starts real CLIs and has a target of its own; so has what it tries with the official SDK. So have the kill tests.
UNIT = $$($(GO) list ./... | grep -Ev '/internal/(conformance(/sdk)?|e2e)$$')

# Packages that start no goroutine. The race detector has nothing to find in their own tests, which compute, and take up to ten times as
# long with it; those of the packages that use them concurrently run with it. With -race they run in `make soak`, and alone in
# `make flaky`.
PURE ?= wire wire/fold wire/internal/gen internal/apigen internal/audit internal/link internal/naming internal/rooms internal/transcript \
	internal/trust internal/units internal/terminal/ask internal/terminal/compose internal/terminal/decide internal/terminal/paint \
	internal/terminal/talk internal/terminal/words

# A go.work in a folder above would change what is built, and forbids -modfile.
export GOWORK = off
export GO VULNDB

# Without the folder's name in what is built, every clone shares the build cache.
GOFLAGS += -trimpath
export GOFLAGS

# A program with the race detector sleeps for a second before it ends, and so does every test binary.
GORACE ?= atexit_sleep_ms=0
export GORACE

# Recipes share the two cores, the terminal and the generated files.
.NOTPARALLEL:
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@echo 'Usage: make TARGET [VARIABLE=value]'
	@echo
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Variables: FUZZTIME=$(FUZZTIME) SOAKTIME=$(SOAKTIME) FUZZ=regexp BENCH=$(BENCH) COUNT=$(COUNT) ARGS= VERSION= VULNDB='

.PHONY: run
run: build ## demo: the hub with a simulated agent; no account or Claude Code needed (ARGS=--auto: answer automatically)
	@echo '==> the hub, with a simulated agent'
	@bin/switchboard demo $(ARGS)

.PHONY: play
play: ## the same task without a hub, on the Go SDK alone (ARGS=--real: a real Claude Code with a simulated model)
	@echo '==> a session with an agent'
	@$(GO) run ./internal/conformance/cmd/play $(ARGS)

.PHONY: test
test: ## everything CI checks: setup, lint, unit tests, kill tests, browser tests, conformance, short fuzzing
	@SWITCHBOARD_REQUIRE_CLIS=1 MAKE='$(MAKE)' STAGES_NOTE='$(if $(RACE),,no C compiler was found: the tests ran WITHOUT the race detector)' \
		tools/stages setup:set-up lint::8 unit::6 e2e:kill-tests:7+browser::5 conformance::5 fuzz-short:fuzz:2

.PHONY: build
build: console ## build the console and bin/switchboard
	@echo '==> go build ./...'
	@$(GO) build ./...
	@$(GO) build -o bin/ ./cmd/switchboard

# The console: its packages from npm, and what is built of it. Both are made anew when what they are made of has changed.
.PHONY: console
console: web/dist/app/index.html

# Not npm ci: a registry may lack the parts of packages for systems that nobody here has, and the lock file then lacks them too.
web/node_modules/.installed: web/package.json web/package-lock.json
	@$(MAKE) --no-print-directory need
	@echo '==> npm packages of the console'
	@cd web && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# The tools for api/openapi.json, pinned apart from the console's packages: the generator needs another TypeScript.
tools/openapi/node_modules/.installed: tools/openapi/package.json tools/openapi/package-lock.json
	@$(MAKE) --no-print-directory need
	@echo '==> npm packages for the OpenAPI document'
	@cd tools/openapi && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# The client that a public generator makes of the document; web/test/browser/client.test.ts uses it.
web/test/client/v1.d.ts: api/openapi.json tools/openapi/node_modules/.installed
	@echo '==> a TypeScript client of the OpenAPI document'
	@mkdir -p $(@D)
	@cd tools/openapi && out=$$(node_modules/.bin/openapi-typescript ../../api/openapi.json -o ../../$@ 2>&1) || { echo "$$out"; exit 1; }

WEB_SOURCES = $(shell find web/src web/public -type f) web/index.html web/vite.config.ts web/tsconfig.json api/v1.d.ts

web/dist/app/index.html: $(WEB_SOURCES) web/node_modules/.installed
	@echo '==> building the console'
	@cd web && npx vite build --logLevel warn
	@touch $@

.PHONY: lint
lint: generate-check golangci crosscheck tidy-check api-check console-check ## check generated files, golangci-lint, other systems, go.mod, the OpenAPI document, the console

# Both tools work offline; redocly would otherwise report what it is used for.
.PHONY: api-check
api-check: tools/openapi/node_modules/.installed
	@echo '==> the OpenAPI document: redocly, and the JSON schema of OpenAPI 3.1'
	@cd tools/openapi && export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true; \
	for check in 'redocly lint --config redocly.yaml' validate-api; do \
		out=$$(node_modules/.bin/$$check ../../api/openapi.json 2>&1) || { echo "$$out"; exit 1; }; \
	done

.PHONY: console-check
console-check: web/node_modules/.installed web/test/client/v1.d.ts
	@echo '==> the console: types and style'
	@cd web && npx tsc --noEmit && npx biome check --error-on-warnings .

.PHONY: unit
unit: web/node_modules/.installed ## unit tests with the race detector, and those of the console
	@echo '==> unit tests$(if $(RACE), with the race detector, WITHOUT the race detector: no C compiler found)'
	@export $(BWRAP); status=0; pure='$(if $(PURE),$(shell $(GO) list $(addprefix ./,$(PURE))))'; all="$(UNIT)"; \
	$(TEST) $(UNIT_FLAGS) $$(printf '%s\n' $$all | grep -vxF "$$(printf '%s\n' $${pure:-none})") || status=1; \
	if [ -n "$$pure" ]; then $(TEST_PURE) $(UNIT_FLAGS) $$pure || status=1; fi; \
	echo '==> unit tests of the console'; \
	(cd web && $(call VITEST,console)) || status=1; \
	exit $$status

.PHONY: browser
browser: build clis ## test the console in Chromium (installed if missing), with the real program and a simulated agent
	@echo '==> the console in Chromium'
	@$(GO) build -o bin/ ./internal/conformance/cmd/model
	@export $(BWRAP); chromium=$$(tools/chromium) && cd web && SWITCHBOARD_CHROMIUM="$$chromium" $(call VITEST,browser) --config vitest.browser.config.ts

.PHONY: bench-console
bench-console: build ## measure the console: opening, scrolling, streaming and memory with 10,000 messages
	@chromium=$$(tools/chromium) && cd web && SWITCHBOARD_CHROMIUM="$$chromium" npx vitest run --config vitest.bench.config.ts

.PHONY: screenshots
screenshots: build ## regenerate the pictures in docs/media: every page, light and dark, desktop and phone
	@chromium=$$(tools/chromium) && cd web && SWITCHBOARD_CHROMIUM="$$chromium" npx vitest run --config vitest.shots.config.ts

.PHONY: e2e
e2e: clis ## test the whole program: killed at the worst moments, cut off, on a full disk
	@echo '==> end-to-end and kill tests'
	@SWITCHBOARD_REQUIRE_CLIS=1 $(BWRAP) $(TEST) -count=1 -v -timeout $(E2E_TIMEOUT) ./internal/e2e

.PHONY: conformance
conformance: clis ## run the conformance suite on the pinned CLIs (VERSION=x.y.z: differences in another version)
ifeq ($(VERSION),)
	@echo '==> conformance suite, and the official SDK'
	@status=0; export SWITCHBOARD_REQUIRE_CLIS=1; \
	$(TEST) -count=1 -v -timeout 5m ./internal/conformance/sdk || status=1; \
	$(TEST) -count=1 -v -timeout $(CONFORMANCE_TIMEOUT) ./internal/conformance || status=1; \
	exit $$status
else
	@echo '==> conformance suite: what differs in $(VERSION) (some minutes)'
	@SWITCHBOARD_REQUIRE_CLIS=1 SWITCHBOARD_VERSIONS='$(VERSION)' SWITCHBOARD_MATRIX='$(CURDIR)/bin/drift.txt' \
		$(TEST) -count=1 -run '^TestSuite$$' -timeout 30m ./internal/conformance
	@cat bin/drift.txt
endif

.PHONY: bench
bench: clis ## run benchmarks (BENCH=regexp, COUNT=n); compares the relay with a pipe on Bun, and the SDK with the official one
	@$(GO) run ./internal/conformance/cmd/clis --bun
	@echo '==> benchmarks matching "$(BENCH)"'
	@$(BWRAP) $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 60m $(UNIT) ./internal/conformance/sdk ./internal/e2e

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (FUZZ=regexp: only matching ones)
	@tools/fuzz $(FUZZTIME)

# What reads bytes of strangers, agents and links, and what decides. The rest reads what the user wrote, or serves tests: its seeds run with
# the unit tests, and `make fuzz` and `make soak` fuzz it.
SHORT_FUZZ = ./wire ./internal/link ./internal/policy ./internal/sandbox/netproxy ./internal/server ./internal/terminal/paint

.PHONY: fuzz-short
fuzz-short:
	@PACKAGES='$(SHORT_FUZZ)' tools/fuzz 2s ./internal/server=5s

.PHONY: soak
soak: ## run the long tests, for hours: 1,000 kills, full load, the whole conformance suite, SOAKTIME per fuzz target
	@SWITCHBOARD_SOAK=1 PURE= MAKE='$(MAKE)' FUZZTIME='$(SOAKTIME)' UNIT_TIMEOUT=2h CONFORMANCE_TIMEOUT=2h E2E_TIMEOUT=4h \
		tools/stages setup:set-up unit e2e browser conformance fuzz

# PKG names packages (./internal/... among them), RUN tests, COUNT how often with each of three values of GOMAXPROCS, LOAD how many
# processors are kept busy meanwhile. CONSOLE=1 runs the unit tests of the console too, BROWSER=1 those in Chromium.
.PHONY: flaky
flaky: ## find flaky tests: many runs, shuffled, on a busy machine (PKG=./internal/hub RUN=regexp COUNT=n LOAD=n CONSOLE=1)
	@echo '==> looking for flaky tests'
	@$(if $(BROWSER),$(MAKE) --no-print-directory build clis && $(GO) build -o bin/ ./internal/conformance/cmd/model && export SWITCHBOARD_CHROMIUM=$$(tools/chromium) &&) \
		$(BWRAP) $(GO) run ./internal/testrun flaky -build='$(RACE) -vet=off -ldflags=-w' -count=$(FLAKY_COUNT) -run='$(RUN)' $(if $(LOAD),-load=$(LOAD)) \
		-vitest='$(if $(CONSOLE),vitest.config.ts)$(if $(BROWSER),$(if $(CONSOLE),$(comma))vitest.browser.config.ts)' $(FLAKY_PACKAGES)

.PHONY: vuln
vuln: ## check for known vulnerabilities (needs vuln.go.dev; not part of test)
	@echo '==> govulncheck'
	@tools/vuln

.PHONY: setup
setup: need ## download what the tests need: Go modules, npm packages, Chromium, bubblewrap, the pinned CLIs, the official SDK
	@echo '==> downloading modules'
	@$(GO) mod download
	@$(GO) mod download -modfile=tools/go.mod
	@# Building the linter takes minutes of computing, the rest minutes of waiting for the network.
	@$(LINT) version >/dev/null & linter=$$!; \
	$(MAKE) --no-print-directory web/node_modules/.installed tools/openapi/node_modules/.installed && tools/chromium >/dev/null && tools/bubblewrap >/dev/null && $(MAKE) --no-print-directory clis; status=$$?; \
	wait $$linter && exit $$status

.PHONY: clis
clis: need ## install the pinned CLIs and SDK into your cache folder (VERSION=x.y.z for another CLI)
	@echo '==> Claude Code CLIs from npm'
	@$(GO) run ./internal/conformance/cmd/clis $(VERSION)

# Many downloads, each removed again; it continues where it was interrupted. ARGS=--max=5 stops after five versions.
.PHONY: since
since: need ## find which versions of the CLI have which flags, requests and hooks (ARGS=--max=n: try n more versions)
	@echo '==> features by version'
	@nice $(GO) run ./internal/conformance/cmd/since $(ARGS)
	@$(GO) generate ./wire

.PHONY: record
record: ## record the terminal sessions in docs/media again
	@echo '==> recording'
	@$(GO) test -count=1 -run '^TestRecording' ./cmd/switchboard -record

.PHONY: generate
generate: ## regenerate the generated files
	@echo '==> go generate ./...'
	@$(GO) generate ./...

.PHONY: generate-check
generate-check:
	@MAKE='$(MAKE)' tools/generate-check

.PHONY: golangci
golangci:
	@echo '==> golangci-lint (the first run builds it, which takes some minutes)'
	@$(LINT) run --allow-parallel-runners ./...

# golangci-lint vets for the system it runs on. For the others, types are checked and most of vet's checks are made, tests included.
.PHONY: crosscheck
crosscheck:
	@host=$$($(GO) env GOHOSTOS); targets=; \
	for target in linux/amd64 darwin/arm64 windows/amd64; do \
		[ "$${target%/*}" = "$$host" ] || targets="$$targets $$target"; \
	done; \
	echo "==> types and vet for$$targets"; \
	$(GO) build -C tools -o ../bin/ ./crosscheck && bin/crosscheck $$targets

.PHONY: fmt
fmt: ## format all Go files
	@echo '==> golangci-lint fmt'
	@$(LINT) fmt ./...

.PHONY: fix
fix: ## apply the linters' automatic fixes
	@echo '==> golangci-lint run --fix'
	@$(LINT) run --fix --allow-parallel-runners ./...

.PHONY: tidy-check
tidy-check: ## check that go.mod and go.sum are tidy, in both modules
	@echo '==> go mod tidy -diff'
	@$(GO) mod tidy -diff
	@cd tools && $(GO) mod tidy -diff
	@$(GO) mod verify

.PHONY: need
need:
	@for program in $(GO) git node npm; do \
		command -v $$program >/dev/null || { echo "$$program is not on PATH; README.md lists the requirements"; exit 1; }; \
	done

.PHONY: clean
clean: ## remove build output (keeps caches and installed CLIs)
	@echo '==> removing bin, the built console and leftover test binaries and profiles'
	@rm -rf bin web/dist/app web/node_modules web/test/client tools/openapi/node_modules
	@find . -type f \( -name '*.test' -o -name '*.prof' -o -name 'coverage*.out' \) -not -path './.git/*' -exec rm -f {} +
