package table_test

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// seedFlag repeats a generated test: go test -run TestX -seed N.
var seedFlag = flag.Uint64("seed", 0, "seed of generated tests; 0 draws one")

// newRand returns a source of numbers whose seed a failure prints.
func newRand(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with -seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// long returns how often a test does what it does n times in the full programme.
func long(n int) int { return length.Of(n) }

var layouts = []table.Layout{table.SoA, table.AoS}

// each runs f under either layout.
func each(t *testing.T, f func(t *testing.T, l table.Layout)) {
	t.Helper()
	for _, l := range layouts {
		t.Run(l.String(), func(t *testing.T) { f(t, l) })
	}
}

// of returns an empty table.
func of[K comparable, R any](t testing.TB, l table.Layout) *table.Table[K, R] {
	t.Helper()
	tb, err := table.New[K, R](l)
	require.NoError(t, err)
	return tb
}

// forHandles returns an empty table by handles of p.
func forHandles[R, T any](t testing.TB, p *pool.Pool[T], l table.Layout) *table.Table[pool.Handle[T], R] {
	t.Helper()
	tb, err := table.ForHandles[T, R](p, l)
	require.NoError(t, err)
	return tb
}

// insert inserts v, which the test knows to fit.
func insert[T any](t testing.TB, p *pool.Pool[T], v T) pool.Handle[T] {
	t.Helper()
	h, err := p.Insert(v)
	require.NoError(t, err)
	return h
}

// recovered runs f and returns what it panicked with.
func recovered(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// requirePanicText requires that f panics with a string that has each of parts.
func requirePanicText(t testing.TB, f func(), parts ...string) {
	t.Helper()
	v := recovered(f)
	text, ok := v.(string)
	require.Truef(t, ok, "want a panic with a text, got %v", v)
	for _, part := range append(parts, "table: ") {
		assert.Contains(t, text, part)
	}
}

// eventually collects garbage until cond holds.
func eventually(t testing.TB, cond func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			require.FailNow(t, "never came true", what)
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}
