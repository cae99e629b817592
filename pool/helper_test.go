package pool_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/pool"
)

// lastGeneration is the last generation that a slot may live with.
const lastGeneration = 1<<32 - 3

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

// tiny returns a pool with pages of two slots.
func tiny[T any](t testing.TB, opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	p, err := pool.NewTiny(opts, 1)
	require.NoError(t, err)
	return p
}

// mustInsert inserts v, which the test knows to fit.
func mustInsert[T any](t testing.TB, p *pool.Pool[T], v T) pool.Handle[T] {
	t.Helper()
	h, err := p.Insert(v)
	if err != nil { // in loops this is much cheaper than require
		t.Fatal(err)
	}
	return h
}

// fill inserts n values and returns their handles.
func fill[T any](t testing.TB, p *pool.Pool[T], n int, v func(i int) T) []pool.Handle[T] {
	t.Helper()
	hs := make([]pool.Handle[T], n)
	for i := range hs {
		var err error
		if hs[i], err = p.Insert(v(i)); err != nil {
			t.Fatalf("insertion %d of %d: %v", i+1, n, err)
		}
	}
	return hs
}

// number is a value for fill.
func number(i int) int { return i + 1 }

// requireConserved requires that every slot is accounted for.
func requireConserved[T any](t testing.TB, p *pool.Pool[T]) pool.Stats {
	t.Helper()
	st := p.Stats()
	sum := st.Live + st.Free + st.Limbo + st.Cached + st.Reserved + st.Exhausted
	require.Equalf(t, st.Allocated, sum, "sum of %+v", st)
	return st
}

// requireReclaimed waits until nothing waits, and requires that every slot is
// free, live or exhausted. The test must hold no guard, Worker or Reservation.
func requireReclaimed[T any](t testing.TB, p *pool.Pool[T]) pool.Stats {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, p.Synchronize(ctx))
	st := requireConserved(t, p)
	require.Zerof(t, st.Limbo, "%+v", st)
	require.Zerof(t, st.Cached, "%+v", st)
	require.Zerof(t, st.Reserved, "%+v", st)
	require.Zerof(t, st.Pinned, "%+v", st)
	return st
}

// eventually collects garbage until cond holds.
func eventually(t testing.TB, cond func() bool, format string, args ...any) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			require.FailNow(t, "never came true", fmt.Sprintf(format, args...))
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// apart runs f on a goroutine of its own, to its end: f may panic or exit, and
// leaves nothing reachable on the test's stack. It returns what f panicked with.
func apart(f func()) (panicked any) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		f()
	}()
	<-done
	return panicked
}

// within fails the test if f takes longer than a minute.
func within(t testing.TB, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		buf := make([]byte, 1<<16)
		t.Fatalf("stuck:\n%s", buf[:runtime.Stack(buf, true)])
	}
}

// requirePanicText requires that f panics with a string that has each of parts.
func requirePanicText(t testing.TB, f func(), parts ...string) {
	t.Helper()
	v := apart(f)
	text, ok := v.(string)
	require.Truef(t, ok, "want a panic with a text, got %v", v)
	for _, part := range parts {
		assert.Contains(t, text, part)
	}
}

// reuses are the orders of reuse, for tests that run in both.
var reuses = []pool.Reuse{pool.LIFO, pool.FIFO}

// recovered runs f here and returns what it panicked with.
func recovered(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}
