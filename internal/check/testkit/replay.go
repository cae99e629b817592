package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// Play is one run of a drawn program that must see the same in each of its runs.
type Play struct {
	testing.TB
	*rand.Rand      // draws the program: the same in each run
	Again      bool // not the first run: what must make no difference may be done in another way

	moments *rand.Rand // of the collector, in runs that collect; or nil
	log     []string
}

// Note records what the program has seen.
func (p *Play) Note(x ...any) { p.log = append(p.log, fmt.Sprint(x...)) }

// Issued records a handle, or the error in its place, without the error's figures, which may tell a
// time. It reports whether there is a handle.
func (p *Play) Issued(h fmt.Stringer, err error) bool {
	if err = Kind(err); err != nil {
		p.Note(err)
		return false
	}
	p.Note(h)
	return true
}

// Kind returns the error of package pool that err is or wraps, the narrowest one, or else err.
func Kind(err error) error {
	for _, kind := range []error{pool.ErrExhausted, pool.ErrStalled, pool.ErrFull} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// Between is called between the calls of a program. In some runs it collects garbage at drawn
// moments.
func (p *Play) Between() {
	if p.moments != nil && p.moments.IntN(8) == 0 {
		Settle(p)
	}
}

// RequireReplays runs so many drawn programs, and each of them again: with collections, deeper in
// the stack of another goroutine, and with more processors. It requires that all runs of a program
// note the same, and at least so much.
func RequireReplays(t *testing.T, programs, least int, program func(p *Play)) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	rnd := Rand(t)
	for range programs {
		seed := rnd.Uint64()
		run := func(again bool, moments *rand.Rand) []string {
			p := &Play{TB: t, Rand: rand.New(rand.NewPCG(seed, 0)), Again: again, moments: moments}
			program(p)
			return p.log
		}
		want := run(false, nil)
		require.GreaterOrEqual(t, len(want), least, "the program saw hardly anything")
		same := func(with string, got []string) {
			requireSame(t, want, got, fmt.Sprintf("with %s, seed %d", with, seed))
		}
		same("no collections", run(true, nil))
		same("collections", run(true, rand.New(rand.NewPCG(seed, 1))))
		var log []string
		Apart(func() { Deeper(10, func() { log = run(true, nil) }) })
		same("another goroutine, deeper", log)
		before := runtime.GOMAXPROCS(3 * runtime.GOMAXPROCS(0))
		log = run(true, nil)
		runtime.GOMAXPROCS(before)
		same("more processors", log)
	}
}

// requireSame requires equal logs, and shows the first difference.
func requireSame(t *testing.T, want, got []string, how string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i], "note %d of %d, %s", i, len(want), how)
		}
	}
	require.Len(t, got, len(want), how)
}

// Deeper calls f below so many frames of 4 KiB.
func Deeper(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	var frame [4096]byte
	defer runtime.KeepAlive(&frame)
	Deeper(depth-1, f)
}

// Settle runs the garbage collector until all finalizers have run of what was unreachable, and of
// what that kept.
func Settle(t testing.TB) {
	for range 2 {
		Cycle(t)
	}
}

// Cycle runs one cycle of the garbage collector, and returns when one of the finalizers has run that
// it found. The others run before or soon after.
func Cycle(t testing.TB) {
	ran := make(chan struct{})
	Apart(func() { runtime.SetFinalizer(new([]byte), func(*[]byte) { close(ran) }) })
	runtime.GC()
	Within(t, func() { <-ran })
}

// Replayed is a pool that replays, and what a drawn program has pinned there.
type Replayed[T any] struct {
	*Play
	Options *pool.Options[T]
	Pool    *pool.Pool[T]
	guards  []*pool.Guard[T]
}

// NewReplayed draws options, and makes the pool. A Capacity or a MaxLimbo is at least so much, and
// less than spread more. If reset is not nil, it is the Reset of one pool in so many.
func NewReplayed[T any](p *Play, least, spread int, reset func(*T), oneIn int) *Replayed[T] {
	o := &pool.Options[T]{Origin: 1, Shards: 1, Reuse: Reuses[p.IntN(2)]}
	switch p.IntN(3) {
	case 0:
		o.Capacity = least + p.IntN(spread)
	case 1:
		o.MaxLimbo = least + p.IntN(spread)
	}
	if reset != nil && p.IntN(oneIn) == 0 {
		o.Reset = reset
	}
	return &Replayed[T]{Play: p, Options: o, Pool: pool.Must(o)}
}

// PinOrTrim pins a guard, or unpins the one that was pinned last, or trims the pool.
func (r *Replayed[T]) PinOrTrim() {
	switch n := len(r.guards); {
	case n < 3 && r.IntN(2) == 0:
		g := r.Pool.Pin()
		r.guards = append(r.guards, &g)
	case n > 0:
		r.guards[n-1].Unpin()
		r.guards = r.guards[:n-1]
	default:
		r.Pool.Trim() // the bytes are not the copy's
	}
}

// Unpin unpins all guards.
func (r *Replayed[T]) Unpin() {
	for _, g := range r.guards {
		g.Unpin()
	}
	r.guards = nil
}

// Restore unpins all guards. If the program runs again, it goes on in a copy of the pool, as after a
// rollback, and Restore returns true.
func (r *Replayed[T]) Restore() bool {
	r.Unpin()
	if !r.Again {
		return false
	}
	var err error
	r.Pool, err = pool.ReadFrom(bytes.NewReader(Written(r, r.Pool)), r.Options)
	require.NoError(r, err)
	return true
}

// Pieces takes up to n elements out of all, draws one of so many pieces for each, and calls f with each piece and
// its number. If the program runs again, each call is on a goroutine of its own.
func Pieces[T any](p *Play, all *[]T, n, pieces int, f func(i int, piece []T)) {
	drawn := make([][]T, pieces)
	for range min(n, len(*all)) {
		i, last := p.IntN(len(*all)), len(*all)-1
		to := &drawn[p.IntN(pieces)]
		*to = append(*to, (*all)[i])
		(*all)[i] = (*all)[last]
		*all = (*all)[:last]
	}
	if p.Again {
		Together(pieces, func(i int) { f(i, drawn[i]) })
		return
	}
	for i, piece := range drawn {
		f(i, piece)
	}
}
