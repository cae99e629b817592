//go:build interleave

package explore_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	. "coatcheck/pool"
)

// These tests run the exported methods of package pool, and with them those of
// shard and epoch, under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./internal/check/explore -interleave.bound 2
//
// A failure prints the interleaving.
func TestInterleave(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var runs int
	var took time.Duration
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			res := testkit.Explore(t, s.setup, false)
			runs += res.AllRuns
			took += res.Took
		})
	}
	t.Run("a guard is pinned behind a scan that ends in a later epoch", func(t *testing.T) {
		testkit.Explore(t, behindTheScan, false)
	})
	for traced, name := range []string{"two Releases of one Ref", "two Releases of one Ref that is traced"} {
		t.Run(name, func(t *testing.T) { testkit.Explore(t, releasedOnce(traced), false) })
	}
	t.Logf("%d schedules in %v", runs, took.Round(time.Millisecond))
}

var (
	generateFlag = flag.Duration("generate", 0, "draw programs for this long; 0: the first few hundred, the same each time")
	programFlag  = flag.Uint64("generate.seed", 0, "seed of drawn programs; with -generate, 0 draws one")
	shrinkFlag   = flag.Duration("generate.shrink", time.Minute, "make a program that fails smaller for so long")
)

// hangLimit is how long a program may take. It has a few schedules, each of which ends after a
// number of steps; only a loop without steps does not end.
const hangLimit = 5 * time.Minute

// Scenarios are written by hand. These programs are drawn: 300, 30 in -short, or as many as the
// flags say, but no longer than go test's -timeout.
//
//	go test -tags interleave -run Generated ./internal/check/explore -timeout 0 -generate 10m -generate.seed 1 -v
//
// Each runs under some schedules with few preemptions, against the same invariants. One that
// fails is made as small as it can be, and printed as a scenario.
func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	limit, seed, least := *generateFlag, *programFlag, 1
	switch {
	case limit > 0 && seed == 0:
		seed = rand.Uint64N(1 << 48)
	case limit == 0 && testing.Short():
		least = 30
	case limit == 0:
		least = 300
	}
	begin := time.Now()
	if end, ok := t.Deadline(); ok { // with time to make the program smaller
		limit = min(limit, time.Until(end)*9/10-*shrinkFlag)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	var sum interleave.Result
	for n := 1; n <= least || time.Since(begin) < limit; n++ {
		p := draw(rnd)
		hangs := time.AfterFunc(hangLimit, func() { panic(fmt.Sprintf("program %d of seed %d hangs:\n%v", n, seed, p)) })
		sum.Add(interleave.Sample(p.setup, 60, rnd.Uint64()))
		hangs.Stop()
		if f := sum.Failure; f != nil {
			t.Logf("program %d of seed %d: %v\n%v", n, seed, f.Err, p)
			f.Runs = sum.AllRuns
			p, f = shrink(p, seed, f, time.Now().Add(*shrinkFlag))
			t.Fatalf("program %d of seed %d:\n%v\n%v", n, seed, f, p)
		}
	}
	sum.Took = time.Since(begin)
	t.Logf("seed %d: %v", seed, sum)
	if sum.Switches == 0 {
		t.Fatal("no switch fell inside an operation: the programs explore nothing")
	}
}

// What a program opens and drops is never given back by the collector: its finalizer would run
// beside a thread of a later run, and be taken for that thread.
func TestInterleaveLeavesNoFinalizers(t *testing.T) {
	p := Must[val](nil)
	s := subject{p}
	s.Worker()
	_, err := s.Reserve()
	require.NoError(t, err)
	before := p.Stats()
	for range 3 { // a finalizer that waits in a queue may be behind this one
		ran := make(chan struct{})
		runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(ran) })
		runtime.GC()
		testkit.Soon(t, ran)
	}
	assert.Equal(t, before, p.Stats())
}

// Documentation says how many locked instructions an operation costs on amd64, where release
// stores are none. One more is easily added, and hardly shows in a benchmark. Now and then an
// operation does more: it seals, reclaims or takes slots. So the cheapest of some counts.
func TestInterleaveLockedInstructionsOfAnOperation(t *testing.T) {
	CopyWithoutPin(true)
	locked := regexp.MustCompile(`(?m)^ *\d+ A +(Store|Add|Swap|CAS|And|Or|Lock|Unlock) `)
	lifo, fifo := Must[val](nil), Must(&Options[val]{Reuse: FIFO})
	w := lifo.Worker()
	var h Handle[val]
	var ok bool
	for _, op := range []struct {
		name          string
		before, count func()
		want          int
	}{
		{"Insert", func() { lifo.Remove(h) }, func() { h, _ = lifo.Insert(val{}) }, 1},
		{"Get", func() {}, func() { _, ok = lifo.Get(h) }, 0},
		{"Contains", func() {}, func() { ok = lifo.Contains(h) }, 0},
		{"Remove", func() { h, _ = lifo.Insert(val{}) }, func() { ok = lifo.Remove(h) }, 2},
		{"Pin and Unpin", func() {}, func() { g := lifo.Pin(); g.Unpin() }, 1},
		{"Insert, FIFO", func() { fifo.Remove(h) }, func() { h, _ = fifo.Insert(val{}) }, 1},
		{"Remove, FIFO", func() { h, _ = fifo.Insert(val{}) }, func() { ok = fifo.Remove(h) }, 2},
		{"Insert, Worker", func() { w.Remove(h) }, func() { h, _ = w.Insert(val{}) }, 0},
		{"Remove, Worker", func() { h, _ = w.Insert(val{}) }, func() { ok = w.Remove(h) }, 1},
	} {
		least := 99
		for range 32 {
			op.before()
			ok = true
			record, err := interleave.Replay(func(r *interleave.Run) { r.Go("A", 0, func(*interleave.Thread) { op.count() }) }, nil)
			require.NoError(t, err)
			require.True(t, ok, op.name)
			least = min(least, len(locked.FindAllString(record, -1)))
		}
		assert.Equal(t, op.want, least, op.name)
	}
}
