# Parts of the gate. Sourced by .ci/run, which sets short to -short, or to nothing for the full
# programme. The comment behind a part's name is its line in the usage.
#
# COATCHECK_LENGTH says how long tests are (internal/check/testkit/length.go). Those that start
# goroutines are so long under the race detector, and all are without it. Where tests run again for
# another reason, as with other numbers of processors, they are short.

# tool builds a command that internal/tools requires.
tool() {
	[ -x "$scratch/$1" ] || go build -C "$root/internal/tools" -o "$scratch/$1" "$2"
}

staticcheck() {
	tool staticcheck honnef.co/go/tools/cmd/staticcheck
	"$scratch/staticcheck" "$@"
}

# compiler skips the step if no C compiler can be had, without which there is no race detector.
compiler() { need "gcc libc6-dev" gcc; }

# tags are those of builds of their own, some in one build. internal/check/gate finds one that is
# missing, and a file that no build has.
tags="interleave coatcheck_debug,coatcheck_costs"

# tagged prints the packages that have files for the build tags of a build alone.
tagged() {
	grep -rlE --include='*.go' "^//go:build.*\\b(${1//,/|})\\b" epoch shard pool internal |
		grep -v '^internal/check/linearize/' | sed 's|^|./|; s|/[^/]*$||' | sort -u
}

# nested prints the folders of the nested modules. With -c it prints those that need a C compiler,
# without it the others. internal/tools is the part home.
nested() {
	local module
	for module in $(find . -mindepth 2 -name go.mod -not -path './.*' | sed 's|^\./||; s|/go\.mod$||' | sort); do
		[ "$module" != internal/tools ] || continue
		if grep -rqE --include='*.go' '^import "C"' "$module"; then
			[ "${1:-}" != -c ] || echo "$module"
		else
			[ "${1:-}" = -c ] || echo "$module"
		fi
	done
}

# coatvet fails if coatvet tells of misuse of a pool in the module of this folder. Tests misuse pools on
# purpose, but examples, which documents show, do not.
coatvet() {
	[ -x "$scratch/coatvet" ] || go build -C "$root/pool/coatvet" -o "$scratch/coatvet" ./cmd/coatvet
	local told
	told=$(go vet -vettool="$scratch/coatvet" ./... 2>&1 | awk '!/^#/ && (!/_test\.go:/ || /example[^\/]*_test\.go:/)') || true
	[ -z "$told" ] || { echo "$told"; exit 1; }
}

part_quick() { # formatting, modules, vet, staticcheck, short tests
	step "formatting"
	local unformatted
	unformatted=$(gofmt -l .)
	if [ -n "$unformatted" ]; then
		printf 'not formatted by gofmt:\n%s\n' "$unformatted"
		exit 1
	fi

	step "modules are tidy, and the core requires three"
	go mod tidy -diff
	local direct
	direct=$(go mod edit -json | tr -d ' \t\n' | grep -oE '\{"Path":"[^"]*","Version":"[^"]*"\}' | wc -l)
	if [ "$direct" -ne 3 ] || grep -q '^tool' go.mod; then
		echo "the core's go.mod must require three modules and no tools:"
		cat go.mod
		exit 1
	fi

	step "vet"
	go vet ./...
	local tag packages
	for tag in $tags; do
		packages=$(tagged "$tag")
		go vet -tags "$tag" $packages
	done

	step "staticcheck"
	staticcheck ./...
	for tag in $tags; do
		packages=$(tagged "$tag")
		staticcheck -tags "$tag" $packages
	done

	step "workflows"
	tool actionlint github.com/rhysd/actionlint/cmd/actionlint
	"$scratch/actionlint"
	local part workflow module
	for workflow in gate full; do
		for part in $(declare -F | sed -n 's/^declare -f part_//p'); do
			if ! grep -oE 'parts: [^}]*|^ +- [a-z0-9 ]+$' ".github/workflows/$workflow.yml" | grep -qw "$part" && [ "$workflow $part" != "gate arm64" ]; then
				echo ".github/workflows/$workflow.yml does not run the part $part"
				exit 1
			fi
		done
	done
	for module in $(find . -path './*/go.mod' -not -path './.*' | sed 's|^\.||; s|/go\.mod$||'); do
		if ! grep -qx " *- $module" .github/dependabot.yml; then
			echo ".github/dependabot.yml does not list $module"
			exit 1
		fi
	done

	if [ -z "$whole" ]; then # which runs them longer
		step "short tests"
		go test -vet=off -short ./...
	fi

	step "steps, counted"
	go test -vet=off -short -tags coatcheck_costs ./internal/check/costs
}

part_plain() { # all tests, without the race detector
	step "all tests, without the race detector"
	go test -vet=off ./...
}

part_race() { # the README's test command; no preemption by signals
	step "the README's test command"
	if compiler; then
		# internal/check/gate compares it with README's. Vet is another part.
		GOFLAGS="$GOFLAGS -vet=off" go test -race ./...
	fi

	step "without preemption by signals"
	GODEBUG=asyncpreemptoff=1 go test -vet=off -count=1 -short ./pool/command ./pool/dense ./pool/tree

	# Here the system preempts threads at any instruction, and hardly anything takes the time that
	# it takes elsewhere. Programs of one goroutine are left out.
	step "without preemption by signals, beside four busy loops a processor"
	busy
	GODEBUG=asyncpreemptoff=1 go test -vet=off -count=1 -short -skip 'Replay|Snapshot|ForgedOrders|Inline|AllocateNothing|MatchModel|TestTrim|SharedWorker' . ./epoch ./shard/... ./pool
	idle
}

part_machines() { # tests on 1, 4 and 16 processors, in a tree without .git; do they compile for others?
	local n processors="1 4 16" packages="./epoch ./shard/... ./pool"
	[ -n "$short" ] || processors="1 4 8 16 32 64" packages=./...
	mkdir "$scratch/tree"
	tar -c --exclude=./.git . | tar -x -C "$scratch/tree"
	for n in $processors; do
		step "with GOMAXPROCS=$n, in a tree without .git"
		(cd "$scratch/tree" && go test -vet=off -count=1 -short -exec "env -u GOGC GOMAXPROCS=$n" $packages)
	done
	if [ -n "$short" ]; then
		step "the other packages, in a tree without .git"
		(cd "$scratch/tree" && go test -vet=off -short $(go list ./... | grep -vE '/(epoch|shard|shard/slots|pool)$'))
	else
		step "with GOMAXPROCS=16, under the race detector"
		if compiler; then
			go test -vet=off -race -count=1 -exec "env -u GOGC GOMAXPROCS=16" ./...
		fi
	fi

	step "tests compile for macOS and Windows"
	GOOS=darwin GOARCH=arm64 go vet ./...
	GOOS=windows GOARCH=amd64 go vet ./...
}

part_debug() { # the tests with records of who did what
	# The records have locks of their own. What they record, several goroutines at once, is
	# tested under the race detector.
	step "records of who did what"
	if compiler; then
		go test -vet=off -race -short -tags coatcheck_debug -run 'Record|Explain|Tell|Told|Name|Report|Misuse|Storm' ./pool ./pool/pooltest ./pool/poolhttp ./pool/command
	fi

	step "with records of who did what, poison and a quarantine"
	# Without long tests of what these do not change: replays, which have the order of other builds; snapshots
	# of many kinds; the tracer, which works without the tag; and what else counts bytes, lives or steps for long.
	local skip='^Test(.*Replay.*|SnapshotRoundTrip|TrimmedPoolIsWrittenInShort|SparseSnapshotsAreRead|DamagedSnapshots|ForgedOrders'
	skip+='|TraceGuardsNamesNoneThatWasUnpinned|TraceGuardsDraws|SharedWorkerIsNoticed'
	skip+='|MemoryIsBoundedByUse|TrimGivesMemoryBack|TrimGivesUpWhatGrowMade|TrimGivesBack|GrowMakesRoomForTheIndex|StatsTellTheLimits'
	skip+='|BacklogDoesNotWaitForLaterGuards|SynchronizeStopsInABacklog|IdlePoolLetsGoBesideShortGuards|IdleWorkerKeepsNoTrimmedPage'
	skip+='|BoundedPoolDoesNotEnd|ScansAreMadeOnce|LargePagesAreAskedForSeldom|VirtualHoursAreShort)$'
	[ -n "$short" ] || skip='^$'
	go test -vet=off -short -tags coatcheck_debug -skip "$skip" ./shard/... ./pool ./pool/pooltest ./pool/poolhttp ./pool/cgohandle ./pool/command ./pool/dense ./pool/pending ./pool/table ./pool/tree
}

part_explore() { # schedules of the scenarios
	# The ordinary tests, which take longest to compile, are left out, and the rest is built
	# as for the mutants, so that it is built once.
	step "schedules"
	local ordinary
	ordinary=$(grep -L '^//go:build interleave$' pool/{command,dense,pending,tree}/*_test.go | grep -v '/export_test\.go$')
	ordinary=$(printf '"%s": "", ' $ordinary)
	echo "{\"Replace\": {${ordinary%, }}}" >"$scratch/ordinary"
	CGO_ENABLED=0 go test -vet=off -overlay "$scratch/ordinary" -tags interleave -run 'Interleave|^Example$' \
		./internal/check/explore ./internal/check/interleave ./pool/command ./pool/dense ./pool/pending ./pool/tree
}

part_mutants() { # bugs that were put in are found: the quick ones, or all
	step "mutants"
	go run ./internal/check/mutants $short
}

part_linearize() { # histories of storms, judged by porcupine
	step "linearizability"
	(cd internal/check/linearize && go test .)
}

part_instructions() { # instructions an operation, counted by valgrind
	step "instructions an operation"
	if [ "$(go env GOARCH)" != amd64 ]; then
		elsewhere "limits are for amd64"
	elif need valgrind valgrind; then
		go run ./internal/check/instructions
	fi
}

part_bench() { # benchmarks, contestants, workloads and changed programs, once
	step "benchmarks run"
	go test -vet=off -short -run '^$' -bench . -benchtime 1x ./pool/... >"$scratch/benchmarks" || {
		cat "$scratch/benchmarks"
		exit 1
	}

	step "every contestant and workload of bench, once"
	(cd bench && go test $short ./... && go run . -quick)

	step "real programs that are put on a pool"
	go -C bench/programs test ./...
	if [ -z "$short" ]; then
		go -C bench/programs run ./clientgo -rounds 1
		if compiler; then
			go -C bench/programs run ./sqlite -rounds 3 # compiles SQLite twice
		fi
	fi
}

part_browser() { # names of metrics; the page of poolhttp in a browser
	step "metrics"
	(cd pool/metrics && go test ./...)

	step "the page in a browser"
	if need chromium chromium chromium-browser google-chrome; then
		(cd pool/internal/browser && CI=1 go test -v -tags coatcheck_debug .)
	fi
}

part_examples() { # the examples run and check themselves
	step "the examples"
	go run ./examples/jobs
	go run ./examples/world -o "$scratch/meadow.png"
	go -C examples/remote test -short ./...
	go -C examples/remote run . fmt

	step "the examples that need epoll"
	if [ "$(go env GOOS)" != linux ]; then
		elsewhere "epoll is of Linux"
	elif compiler; then
		go -C examples/events test -race -short ./...
		go -C examples/events run . -rounds 1 -time 300ms -deaths 2000
	fi

	step "the examples with C"
	if compiler; then
		go -C examples/cgo test -short ./...
		go -C examples/cgo run . -rounds 1
	fi
}

part_nested() { # vet and staticcheck of the nested modules; coatvet
	step "coatvet: its tests, and no misuse of pools"
	go -C pool/coatvet test ./...
	coatvet

	step "nested modules: tidy, vet, coatvet"
	local nested
	for nested in $(nested); do
		(cd "$nested" && go mod tidy -diff && go vet ./... && coatvet)
	done

	step "nested modules: staticcheck"
	# It reads all that a module requires, which for a browser's protocol takes minutes.
	local long="bench pool/metrics pool/internal/browser examples/remote"
	for nested in $(nested); do
		if [ -z "$short" ] || [[ " $long " != *" $nested "* ]]; then
			(cd "$nested" && staticcheck ./...)
		fi
	done

	step "nested modules with C: tidy, vet, coatvet"
	if compiler; then
		for nested in $(nested -c); do
			(cd "$nested" && go mod tidy -diff && go vet ./... && coatvet)
			[ -n "$short" ] || (cd "$nested" && staticcheck ./...)
		done
	fi
}

part_home() { # a clone can be given another path, published and imported
	step "a clone can be given another path, published and imported"
	(cd internal/tools && go mod tidy -diff && go vet ./... && staticcheck ./... && go test $short ./...)
}

part_oldest() { # the core's tests by the oldest Go that go.mod allows, on one processor
	local oldest packages=". ./epoch ./shard/... ./pool"
	oldest=go$(sed -n 's/^go //p' go.mod)
	[ -n "$short" ] || packages=./...
	step "on one processor, by $oldest"
	if ! GOTOOLCHAIN=$oldest go version; then
		skip "$oldest is not here, and cannot be fetched"
		step "on one processor"
		oldest=local
	fi
	GOTOOLCHAIN=$oldest go test -vet=off -count=1 -short -exec 'env -u GOGC GOMAXPROCS=1' $packages
}

part_bits32() { # all packages, and tests, on 32 bits
	# The structures above pool know no words, but for those of cgohandle.
	local platform="./epoch ./shard/... ./pool/internal/codec ./pool/internal/handle ./pool ./pool/cgohandle"
	[ -n "$short" ] || platform=./...
	step "all packages for 32 bits"
	GOARCH=386 go build ./...

	step "tests on 32 bits"
	# Some kernels run no programs of 32 bits, and an emulator breaks those that recover from a
	# fault now and then. There vet sees that the tests compile. The program that tells has nothing
	# of ours, which may be broken.
	echo 'package main; func main() { println("runs") }' >"$scratch/bits32.go"
	GOARCH=386 go build -o "$scratch/bits32" "$scratch/bits32.go"
	if [ "$("$scratch/bits32" 2>&1)" = runs ]; then
		GOARCH=386 go test -vet=off -short $platform
	else
		GOARCH=386 go vet ./...
		elsewhere "this kernel runs no programs of 32 bits"
	fi
}

part_arm64() { # tests on arm64 in an emulator; part of -full alone
	# The first processor has exclusive loads and stores alone, the other atomic instructions.
	step "on arm64, in an emulator"
	need qemu-user-static qemu-aarch64-static || return 0
	GOARCH=arm64 go vet ./...
	local cpu
	for cpu in cortex-a53 max; do
		CGO_ENABLED=0 GOARCH=arm64 COATCHECK_LENGTH=gate go test -vet=off -count=1 \
			-exec "env -u GOGC qemu-aarch64-static -cpu $cpu" ./epoch ./shard/... ./pool
	done
}
