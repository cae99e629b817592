package interleave

import (
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

// TestReleaseStoresMayBeSeenAfterLaterLoads has Dekker's shape: each thread stores to its
// word and loads the other's.
func TestReleaseStoresMayBeSeenAfterLaterLoads(t *testing.T) {
	neither := [2]uint64{0, 0}
	side := func(say func(*word, uint64), own, other func(*litmus) *word) func(*litmus) uint64 {
		return func(l *litmus) uint64 {
			say(own(l), 1)
			return other(l).load()
		}
	}
	x, y := func(l *litmus) *word { return &l.x }, func(l *litmus) *word { return &l.y }
	for name, say := range map[string]func(*word, uint64){
		"store": (*word).store,
		"swap":  func(w *word, v uint64) { w.swap(v) },
		"release and a locked instruction": func(w *word, v uint64) {
			w.release(v)
			new(word).swap(1)
		},
		"release and Drain": func(w *word, v uint64) {
			w.release(v)
			Drain()
		},
		"release and a mutex": func(w *word, v uint64) {
			var mu word
			w.release(v)
			LockMutex(unsafe.Pointer(&mu))
		},
		"release and a mutex that is tried for": func(w *word, v uint64) {
			var mu word
			w.release(v)
			TryLockMutex(unsafe.Pointer(&mu))
		},
	} {
		assert.NotContains(t, outcomes(t, side(say, x, y), side(say, y, x)), neither, name)
	}
	release := (*word).release
	assert.Contains(t, outcomes(t, side(release, x, y), side(release, y, x)), neither)
	assert.Contains(t, outcomes(t, side(release, x, y), side((*word).store, y, x)), neither, "one is enough")
}

// TestLateStoreIsReplayed requires that one preemption finds a late store, and that the
// record shows it.
func TestLateStoreIsReplayed(t *testing.T) {
	setup := func(r *Run) {
		var l litmus
		saw := [2]uint64{1, 1}
		r.Go("first", 0, func(*Thread) { l.x.release(1); saw[0] = l.y.load() })
		r.Go("second", 0, func(*Thread) { l.y.release(1); saw[1] = l.x.load() })
		r.Finally(func() error {
			if saw == [2]uint64{} {
				r.Failf("neither sees the other")
			}
			return nil
		})
	}
	assert.Nil(t, Search(setup, 0).Failure)
	f := Search(setup, 1).Failure
	require.NotNil(t, f)
	assert.Contains(t, f.Record, "drains", "the record shows when")
	record, err := Replay(setup, f.Schedule)
	assert.EqualError(t, err, f.Err.Error())
	assert.Equal(t, f.Record, record)
}

// TestReleaseStoresStayInOrder passes a message: stores drain in order.
func TestReleaseStoresStayInOrder(t *testing.T) {
	saw := outcomes(t,
		func(l *litmus) uint64 { l.x.release(1); l.y.release(1); return 0 },
		func(l *litmus) uint64 { return l.y.load()<<1 | l.x.load() })
	assert.Equal(t, map[[2]uint64]bool{{0, 0b00}: true, {0, 0b01}: true, {0, 0b11}: true}, saw)
}

// TestPlainStoresComeBeforeTheReleaseStore requires that a thread that sees a release store
// sees the plain store before it.
func TestPlainStoresComeBeforeTheReleaseStore(t *testing.T) {
	saw := outcomes(t,
		func(l *litmus) uint64 { l.x = 7; l.y.release(1); return 0 },
		func(l *litmus) uint64 {
			if l.y.load() == 1 {
				return uint64(l.x)
			}
			return 0
		})
	assert.Equal(t, map[[2]uint64]bool{{0, 0}: true, {0, 7}: true}, saw)
}

// TestOwnLoadsAreForwarded requires that a thread loads its own store until that has drained,
// and then the word.
func TestOwnLoadsAreForwarded(t *testing.T) {
	saw := outcomes(t,
		func(l *litmus) uint64 { l.x.release(1); l.x.release(2); return l.x.load()<<4 | l.y.load() },
		func(l *litmus) uint64 { l.x.store(3); l.y.store(1); return l.x.load() })
	for s := range saw {
		assert.Contains(t, []uint64{2, 3}, s[0]>>4)
	}
	assert.Contains(t, saw, [2]uint64{2<<4 | 1, 3}, "the other thread's store comes first, and is overwritten")
	assert.Contains(t, saw, [2]uint64{3<<4 | 1, 3})
}

// TestTryLockThatFailsDrainsNothing requires that a TryLock of a locked mutex is no locked
// instruction.
func TestTryLockThatFailsDrainsNothing(t *testing.T) {
	saw := outcomes(t,
		func(l *litmus) uint64 {
			var mu word
			LockMutex(unsafe.Pointer(&mu))
			l.x.release(1)
			TryLockMutex(unsafe.Pointer(&mu))
			return l.y.load()
		},
		func(l *litmus) uint64 { l.y.store(1); return l.x.load() })
	assert.Contains(t, saw, [2]uint64{0, 0})
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
				assert.True(lost{r}, pending)
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
	assert.True(t, late)
}
