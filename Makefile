# make          build bin/arcrawl
# make test     install what the tests need, run the linters and all tests  (TEST_TIMEOUT=40m for one package)
# make short    run the linters and the first tier of tests: under two minutes, without the race detector
# make slow     run the second tier of tests only: those that -short skips
# make check    run the linters only
# make race     run all tests under the race detector: half an hour
# make bench    run all benchmarks          (BENCH=pattern, COUNT=n, BENCHTIME=1s)
# make bench-frontier   measure the frontier next to Badger and Pebble  (URIS=1000000, HOSTS=20000, ARGS=)
# make bench-render     measure rendering next to a plain Chromium  (ARGS=)
# make bench-crawl      measure the whole program next to a bare loop and wget  (ROUNDS=5, ARGS=)
# make hostile  attack a daemon from servers on loopback, next to a healthy site: a quarter of an hour  (ROW=name)
# make soak     run the daemon for 240 hours of virtual time and check that nothing grows: 10 to 30 minutes  (HOURS=720: a month)
# make year     play a year of a daemon that is stopped, killed and left without disk space, for which it must be root  (ARGS="-seed 1 -within 70m")
# make faults   kill, pause and cut off the real program, and break its disk and clock: 15 minutes  (ARGS="-kills 1000"; ARGS=-help; SWEEP=.)
# make error-paths  count which branches after failed operations on files the sweep of SWEEP=. and the tests take: an hour
# make cluster  let nodes crawl while they are killed, frozen, stopped and cut  (FAULTS=20 NODES=4 HOSTS=400)
# make engine   run the tests of clusters, and faults of nodes, on your own server  (ARCRAWL_DATABASE=postgres://…, FAULTS=20)
# make cluster-figures  measure what a cluster costs, and how long a takeover takes: an hour, and 40 GB of disk
# make paper    play rules of revisiting through histories, and write the figures of docs/completeness.md: 10 minutes  (HISTORIES=DIR)
# make vuln     look for known vulnerabilities in the dependencies  (CLONE=DIR: in a clone of golang/vulndb)
# make readers  let programs of other authors read archives: two minutes  (pywb, warcio, py-wacz, bagit-python, jwarc, JWAT, SolrWayback: scripts/readers)
# make corpus   verify 100,000 sound records, and find each kind of damage in them at random places  (RECORDS=5000 SEED=7)
# make fuzz     run each fuzz target in turn  (FUZZTIME=30s)
# make pictures  make the pictures of the documentation again, with Chromium: two minutes
# make demo     run the demo for a minute   (FOR=60s)
# make trial    crawl real pages            (see scripts/trial)
# make package  write .deb and .rpm to dist/  (VERSION=1.2.3; default: the last tag)
# make release  look for known vulnerabilities, and write all files of a release to dist/1.2.3 if there are none  (VERSION=1.2.3 CLONE=DIR; UNCHECKED=yes: do not look, and say so)
# make test-release  build the release twice, in clean clones, compare them, and run the image without root; as root, half an hour
# make package-replay  write the package arcrawl-replay, the engine that shows archived pages, to dist/; needs npm
# make replay-assets   write that engine to a folder  (DIR=replay)
# make test-package  install, upgrade and remove the .deb in a clean Debian; as root, 1 to 3 minutes
# make clean    remove what was built

GO        ?= go
# Without the name of a folder in it, what is compiled once serves every copy of the tree.
export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath
# Without a tag arcrawl reports the version that the go command stamps into every build.
VERSION   := $(shell git describe --tags --dirty 2>/dev/null)
BENCH     ?= .
BENCHTIME ?= 1s
READERS   ?= Replay|Pywb|Toolkit|MementoClient|Warcio|OtherPrograms|AnotherIndexer|ForeignReaders|Datapackage
COUNT     ?= 1
URIS      ?= 1000000
ROUNDS    ?= 5
FUZZTIME  ?= 30s
ROW       ?= .
# The packages that check that the work of their parsers grows with the size of the input.
WORK       = $(shell grep -rl --include='*_test.go' '^func TestWorkOf' . | xargs -n1 dirname | sort -u)
HOURS     ?= 240
FAULTS    ?= 20
FOR       ?= 60s
DIR       ?= replay
# The time limit of one package. A machine with a load of 30 needs it.
TEST_TIMEOUT ?= 40m

# The linters are pinned, so that a passing tree keeps passing. This staticcheck is 2026.2.2.
GOFMT       := $(shell $(GO) env GOROOT)/bin/gofmt
GOFUMPT     := bin/tools/gofumpt-v0.12.0
GOTESTSUM   := bin/tools/gotestsum-v1.13.0
STATICCHECK := bin/tools/staticcheck-v0.8.2
GOVULNCHECK := bin/tools/govulncheck-v1.9.0
VULNDB      := bin/vulndb
NFPM        := bin/tools/nfpm-v2.43.0
UMOCI       := bin/tools/umoci-v0.6.0
SBOM        := bin/tools/cyclonedx-gomod-v1.10.0

.PHONY: build test short slow race test-deps check format vet staticcheck house bench bench-frontier bench-crawl bench-render hostile soak year faults error-paths cluster engine cluster-figures paper readers vuln fuzz pictures demo trial package release test-release package-replay replay-assets test-package clean
.DELETE_ON_ERROR:

# The binary needs no library of the machine it runs on.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(if $(VERSION),-X github.com/arcrawl/arcrawl/cmd/arcrawl/cli.version=$(VERSION))' -o bin/arcrawl ./cmd/arcrawl

# CI runs both tiers, in one command where it can: each test is linked once, and tests that wait for real processes wait
# beside others. The linters run first because they take less time; the house test is one of them. Some tests run
# in full only without the race detector: it would count as a cost of a visit, or play days five times as long. All
# three commands run even if one fails, so that one run shows every failure.
test: test-deps $(GOTESTSUM)
	$(MAKE) check
	@$(SUM) 'failed=; \
	$(TEST) -race $(filter-out $(UNRACED) ./internal/house,$(PACKAGES)) || failed=1; \
	$(TEST) $(UNRACED) || failed=1; \
	$(TEST) -run "$$(scripts/slow-tests unraced)" $(ALSO_UNRACED) || failed=1; \
	test -z "$$failed"'

# make check has run go vet already. Many tests wait, so there are more at once than processors.
TEST     := $(GO) test -json -vet=off -shuffle=on -timeout $(TEST_TIMEOUT) -p $(shell expr $$(nproc) + 1) -parallel $(shell expr $$(nproc) \* 3)
# Prints each failure and each package as it ends, and all failures again at the end. go test would print packages in the
# order in which they are named.
SUM       = ARCRAWL_REQUIRE_FOREIGN=1 $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg --hide-summary skipped --raw-command -- sh -c
# The longest packages come first, because the others can run beside them.
LONGEST  := ./frontier ./crawler ./cluster ./render/chromium ./curator ./admin
PACKAGES  = $(LONGEST) $(filter-out $(LONGEST),$(shell $(GO) list ./... | sed 's|^github.com/arcrawl/arcrawl|.|'))

# The race detector takes five to ten times as long. It watches the packages in which goroutines meet. UNRACED packages
# start none, or only use those of packages below, whose own tests run under it; the house test has the reasons. Before
# a release, make race runs all tests under it.
UNRACED := ./cmd/arcrawl ./archive/captures ./archive/wacz ./config ./digest ./discover ./aspects/spaces \
	./evaluators ./internal/benchcrawl ./internal/demosite ./lab ./lab/heritrix ./lab/sim ./noise/infer ./uri

# Packages with tests that run in full only without the race detector.
ALSO_UNRACED = $(filter-out $(UNRACED),$(shell scripts/slow-tests unraced-packages))

race: $(GOTESTSUM)
	@$(SUM) '$(TEST) -race $(filter-out ./internal/house,$(PACKAGES))'

short: check
	$(GO) test -short ./...

# Slow tests call slow.Test first. Their names are read from the source.
slow: $(GOTESTSUM)
	@$(SUM) 'failed=; \
	$(TEST) -race -run "$$(scripts/slow-tests names)" $(filter-out $(UNRACED),$(shell scripts/slow-tests packages)) || failed=1; \
	$(TEST) -run "$$(scripts/slow-tests names)" $(UNRACED) || failed=1; \
	$(TEST) -run "$$(scripts/slow-tests unraced)" $(ALSO_UNRACED) || failed=1; \
	test -z "$$failed"'

test-deps:
	scripts/test-deps

check: format vet staticcheck house

# Both formatters run. gofumpt contains the printer of a later Go, which aligns some tables differently than gofmt. A
# table on which the two disagree is divided by an empty line.
format: $(GOFUMPT)
	@unformatted=$$($(GOFUMPT) -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted; run $(GOFUMPT) -w on:"; echo "$$unformatted"; exit 1; fi
	@unformatted=$$($(GOFMT) -l .); \
	if [ -n "$$unformatted" ]; then echo "gofmt disagrees; divide the table, then run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

vet:
	$(GO) vet ./...

staticcheck: $(STATICCHECK)
	$(STATICCHECK) ./...

house:
	$(GO) test ./internal/house

$(GOTESTSUM):
	GOBIN=$(CURDIR)/bin/tools $(GO) install gotest.tools/gotestsum@v1.13.0
	mv bin/tools/gotestsum $@

$(GOFUMPT):
	GOBIN=$(CURDIR)/bin/tools $(GO) install mvdan.cc/gofumpt@v0.12.0
	mv bin/tools/gofumpt $@

$(STATICCHECK):
	GOBIN=$(CURDIR)/bin/tools $(GO) install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	mv bin/tools/staticcheck $@

$(GOVULNCHECK):
	GOBIN=$(CURDIR)/bin/tools $(GO) install golang.org/x/vuln/cmd/govulncheck@v1.9.0
	mv bin/tools/govulncheck $@

# One package at a time: two that share the processor measure each other.
bench:
	$(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(COUNT) -benchmem ./...

# A module of its own, because of Pebble.
bench-frontier:
	cd internal/benchfrontier && $(GO) run . -uris $(URIS) -hosts $(or $(HOSTS),20000) $(ARGS)

bench-crawl:
	$(GO) run ./internal/benchcrawl -rounds $(ROUNDS) $(ARGS)

# The closing lines of each reader: what it read, or that it is not installed.
readers:
	$(GO) test -count=1 -v -run '$(READERS)' ./archive/... ./warcout ./crawler ./curator 2>&1 | \
		grep -E '^ *(---|ok|FAIL)|NOT RUN|played|compared|captures'

# In memory, if there is space: the writer syncs each of 39,000 visits, which took half an hour on a busy disk.
corpus: export GOTMPDIR := $(or $(TMPDIR),/tmp)
corpus: export TMPDIR := $(or $(wildcard /dev/shm),$(TMPDIR),/tmp)
corpus:
	ARCRAWL_RECORDS=$(or $(RECORDS),100000) ARCRAWL_SEED=$(or $(SEED),1) \
		$(GO) test -count=1 -timeout $(TEST_TIMEOUT) -v -run TestVerifyFindsEachDamage ./archive

bench-render:
	$(GO) run ./render/benchrender $(ARGS)

hostile:
	ARCRAWL_HOSTILE=1 $(GO) test -count=1 -timeout $(TEST_TIMEOUT) -v -run 'TestHostile/$(ROW)' ./internal/hostile
	ARCRAWL_HOSTILE=1 $(GO) test -count=1 -timeout $(TEST_TIMEOUT) -run '^TestWorkOf' $(WORK)

soak:
	ARCRAWL_SOAK=$(HOURS) $(GO) test -count=1 -timeout 3h -v -run TestSoak ./internal/soak

# A table at the end has a row for each kind of fault. Most kinds need root, and no container. SWEEP is an expression of
# operations that fail once each, before.
faults:
	$(if $(SWEEP),ARCRAWL_DISK_ERRORS='$(SWEEP)' $(GO) test -count=1 -timeout 3h -parallel 4 -run TestEachDiskErrorOnce ./cmd/arcrawl)
	ARCRAWL_FAULT_TABLE='$(ARGS)' $(GO) test -count=1 -timeout 5h -v -run 'TestFaults$$' ./cmd/arcrawl

# The real program notes the statements that it runs in each life of the sweep; tests note theirs. The paths that none
# takes need a reason in cmd/arcrawl/testdata/errorpaths.txt.
DURABLE := ./frontier ./warcout ./dedup ./crawllog ./daemon ./internal/fileio
PATHS   := $(CURDIR)/bin/error-paths

error-paths:
	rm -rf $(PATHS)
	mkdir -p $(PATHS)/sweep $(PATHS)/tests
	GOCOVERDIR=$(PATHS)/sweep ARCRAWL_DISK_ERRORS=. $(GO) test -count=1 -timeout 3h -parallel 4 -run TestEachDiskErrorOnce ./cmd/arcrawl
	$(GO) test -count=1 -timeout $(TEST_TIMEOUT) -cover -coverpkg=$(shell echo $(DURABLE) | tr ' ' ,) \
		$(DURABLE) ./crawler -args -test.gocoverdir=$(PATHS)/tests
	GOCOVERDIR=$(PATHS)/tests $(GO) test -count=1 -timeout $(TEST_TIMEOUT) ./cmd/arcrawl
	ARCRAWL_ERROR_PATHS=$(PATHS) $(GO) test -count=1 -v -run TestErrorPaths ./cmd/arcrawl

# Of flags that are named twice the last one wins.
year:
	$(GO) test -count=1 -timeout 5h -v -run 'TestAYear$$' ./internal/soak -args -days 365 -hosts 300 -seed 0 -within 2h $(ARGS)

cluster:
	ARCRAWL_FAULTS=$(FAULTS) ARCRAWL_NODES=$(or $(NODES),4) ARCRAWL_HOSTS=$(or $(HOSTS),400) $(GO) test -count=1 -timeout 5h -v -run 'TestCluster$$' ./cluster

# Each test makes a database of its own and drops it. Nodes are killed, frozen and cut; the server is left alone.
engine:
	$(if $(ARCRAWL_DATABASE),,$(error ARCRAWL_DATABASE is not set, see internal/postgres))
	$(GO) test -count=1 -timeout 1h ./cluster/shared
	$(GO) test -count=1 -timeout 3h -parallel 2 ./cluster
	ARCRAWL_FAULTS=$(FAULTS) $(GO) test -count=1 -timeout 5h -v -run 'TestCluster$$' ./cluster

# On a quiet machine. The sizes are those of docs/benchmarks.md.
cluster-figures:
	ARCRAWL_FIGURES=1 $(GO) test -count=1 -timeout 30m -v -run 'TestClusterFigures|TestAPromotedStandBy' ./cluster
	ARCRAWL_FIGURES=1 ARCRAWL_TAKEOVER=10000000 $(GO) test -count=1 -timeout 1h -v -run 'TestClusterFigures/takeover' ./cluster
	ARCRAWL_URIS=100000 $(GO) test -run '^$$' -timeout 1h -bench 'Revisit/shipped' -benchtime 40000x -count 10 ./cluster
	ARCRAWL_URIS=1000000 $(GO) test -run '^$$' -timeout 1h -bench 'Revisit/shipped$$' -benchtime 300000x ./cluster
	ARCRAWL_URIS=20000 $(GO) test -run '^$$' -timeout 1h -bench 'Revisit/shipped$$' -benchtime 200000x ./cluster
	ARCRAWL_URIS=20000 $(GO) test -run '^$$' -timeout 1h -bench Load -benchtime 2x ./cluster
	ARCRAWL_URIS=1000000 $(GO) test -run '^$$' -timeout 1h -bench Payload -benchtime 20000x ./cluster
	ARCRAWL_URIS=100000000 $(GO) test -run '^$$' -timeout 2h -bench Payload -benchtime 20000x ./cluster

# Playing makes much garbage and takes little memory.
paper:
	@test -n '$(HISTORIES)' || { echo 'name a folder of histories: make paper HISTORIES=DIR'; exit 64; }
	GOGC=400 $(GO) run ./internal/paper -histories '$(HISTORIES)' -page docs/completeness.md

vuln: $(GOVULNCHECK)
	$(if $(CLONE),@$(GO) run ./internal/vulndb $(CLONE) $(VULNDB) "$$(git -C $(CLONE) log -1 --format=%cI)")
	@$(GOVULNCHECK) -show version,verbose $(if $(CLONE),-db file://$(abspath $(VULNDB))) ./...

fuzz:
	scripts/fuzz $(FUZZTIME)

pictures:
	ARCRAWL_PICTURES=$(abspath docs/pictures) ARCRAWL_REQUIRE_FOREIGN=1 $(GO) test -count=1 -v -run TestPictures ./internal/pictures

demo: build
	bin/arcrawl demo --for $(FOR)

trial: build
	scripts/trial/run.sh

package: $(NFPM)
	scripts/package

release: $(GOVULNCHECK) $(NFPM) $(UMOCI) $(SBOM)
	scripts/release

test-release: $(NFPM) $(UMOCI) $(SBOM)
	scripts/test-release

package-replay: $(NFPM)
	scripts/package-replay

replay-assets:
	scripts/replay-assets $(DIR)

test-package: $(NFPM)
	scripts/test-package

$(NFPM):
	GOBIN=$(CURDIR)/bin/tools $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0
	mv bin/tools/nfpm $@

# go install refuses a module that replaces others, so this one is built in its folder.
$(UMOCI):
	cd "$$($(GO) mod download -json github.com/opencontainers/umoci@v0.6.0 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" && \
		CGO_ENABLED=0 $(GO) build -o $(CURDIR)/$@ ./cmd/umoci

$(SBOM):
	GOBIN=$(CURDIR)/bin/tools $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
	mv bin/tools/cyclonedx-gomod $@

clean:
	rm -rf bin dist
