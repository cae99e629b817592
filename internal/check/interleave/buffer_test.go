//go:build !race

package interleave

import (
	"maps"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// litmus has the two words of a litmus test, which tells what two threads can observe.
type litmus struct{ x, y word }

// outcomes returns the pairs of results of two threads. Search and Sample must find the same.
func outcomes(t *testing.T, first, second func(l *litmus) uint64) map[[2]uint64]bool {
	t.Helper()
	program := func(seen map[[2]uint64]bool) Setup {
		return func(r *Run) {
			l := new(litmus)
			var saw [2]uint64
			r.Go("first", 0, func(*Thread) { saw[0] = first(l) })
			r.Go("second", 0, func(*Thread) { saw[1] = second(l) })
			r.Finally(func() error { seen[saw] = true; return nil })
		}
	}
	all, drawn := make(map[[2]uint64]bool), make(map[[2]uint64]bool)
	require.Nil(t, Search(program(all), 3).Failure)
	require.Nil(t, Sample(program(drawn), 500, 1).Failure)
	require.Equal(t, all, drawn)
	return all
}

// TestWhatTwoThreadsMaySee runs litmus tests. In those of Dekker's shape, each thread says
// something of its own word and loads the other's: only with a release store may neither see
// the other.
func TestWhatTwoThreadsMaySee(t *testing.T) {
	type pair = [2]uint64
	say := func(first func(x *word)) func(l *litmus) uint64 {
		return func(l *litmus) uint64 { first(&l.x); return l.y.load() }
	}
	answer := func(l *litmus) uint64 { l.y.store(1); return l.x.load() }
	then := func(f func(mu *word)) func(x *word) {
		return func(x *word) { x.release(1); f(new(word)) }
	}
	seen, neither := []pair{{0, 1}, {1, 0}, {1, 1}}, []pair{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	for name, c := range map[string]struct {
		first, second func(l *litmus) uint64
		may           []pair
	}{
		"a store":                          {say(func(x *word) { x.store(1) }), answer, seen},
		"a swap":                           {say(func(x *word) { x.swap(1) }), answer, seen},
		"release and a locked instruction": {say(then(func(mu *word) { mu.swap(1) })), answer, seen},
		"release and Drain":                {say(then(func(*word) { Drain() })), answer, seen},
		"release and a mutex":              {say(then(func(mu *word) { LockMutex(unsafe.Pointer(mu)) })), answer, seen},
		"release and TryLock":              {say(then(func(mu *word) { TryLockMutex(unsafe.Pointer(mu)) })), answer, seen},
		"release":                          {say(func(x *word) { x.release(1) }), answer, neither},
		"TryLock that fails is no locked instruction": {say(func(x *word) {
			mu := unsafe.Pointer(new(word))
			LockMutex(mu)
			x.release(1)
			TryLockMutex(mu)
		}), answer, neither},
		"release stores stay in order": {
			func(l *litmus) uint64 { l.x.release(1); l.y.release(1); return 0 },
			func(l *litmus) uint64 { return l.y.load()<<1 | l.x.load() },
			[]pair{{0, 0b00}, {0, 0b01}, {0, 0b11}},
		},
		"a plain store comes before": {
			func(l *litmus) uint64 { l.x = 7; l.y.release(1); return 0 },
			func(l *litmus) uint64 {
				if l.y.load() == 1 {
					return uint64(l.x)
				}
				return 0
			},
			[]pair{{0, 0}, {0, 7}},
		},
		// The other thread's store comes before, between or after; only after is it loaded.
		"own loads are forwarded": {
			func(l *litmus) uint64 { l.x.release(1); l.x.release(2); return l.x.load()<<4 | l.y.load() },
			func(l *litmus) uint64 { l.x.store(3); l.y.store(1); return l.x.load() },
			[]pair{{2 << 4, 1}, {2 << 4, 2}, {2 << 4, 3}, {2<<4 | 1, 1}, {2<<4 | 1, 2}, {2<<4 | 1, 3}, {3 << 4, 3}, {3<<4 | 1, 3}},
		},
	} {
		assert.ElementsMatch(t, c.may, slices.Collect(maps.Keys(outcomes(t, c.first, c.second))), name)
	}
}

// TestBuffersAreEmptyAtTheEnd requires that the stores in a buffer are not lost when its
// thread ends, and that the keys of words do not hide a failure.
func TestBuffersAreEmptyAtTheEnd(t *testing.T) {
	setup := func(r *Run) {
		var l litmus
		r.Key(func(p unsafe.Pointer) uint64 {
			if p == unsafe.Pointer(&l.x) {
				return 1
			}
			return 2
		})
		early := false
		r.Go("first", 0, func(*Thread) { l.y.release(1); l.x.release(1) })
		r.Go("second", 0, func(*Thread) {
			early = l.x.load() == 0
			l.x.swap(l.x.load() + 1)
		})
		r.Finally(func() error {
			if early && l.x == 1 {
				r.Failf("an addition of two is lost")
			}
			if l.x == 0 || l.y == 0 {
				r.Failf("a store is lost")
			}
			return nil
		})
	}
	f := Search(setup, 2).Failure
	require.NotNil(t, f)
	assert.Contains(t, f.Err.Error(), "an addition")
	assert.Equal(t, Broken, f.Kind, "the schedule repeats it")
	assert.Contains(t, f.Record, "drains", "the record shows when a store is seen")
}

// TestInvariantsSeeBuffersAsEmpty requires that checks and Unseen load buffered stores, and
// that these stay in their buffers.
func TestInvariantsSeeBuffersAsEmpty(t *testing.T) {
	late := false
	assert.Nil(t, Search(func(r *Run) {
		var x word
		done := false
		r.Go("stores", 0, func(*Thread) {
			x.release(1)
			done = true
			assert.True(lost{r}, !Pending(unsafe.Pointer(&x)), "it is the thread's own")
			Unseen(func() { assert.EqualValues(lost{r}, 1, x.load()) })
			new(word).load()
		})
		r.Go("looks", 0, func(*Thread) {
			pending := Pending(unsafe.Pointer(&x))
			if v := x.load(); done && v == 0 {
				assert.True(lost{r}, pending, "a store should be pending")
				late = true
			}
		})
		r.Check(func() error {
			if done && x.load() != 1 {
				r.Failf("the thread's own store is not seen")
			}
			return nil
		})
	}, 1).Failure)
	assert.True(t, late, "the store should be seen late")
}
