//go:build !race

package interleave

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// word is a hooked word, as those of package atom under the tag.
type word uint64

func (w *word) load() uint64 {
	Before(Load, unsafe.Pointer(w), 0, 0)
	v, own := Forwarded(unsafe.Pointer(w))
	if !own {
		v = uint64(*w)
	}
	After(v)
	return v
}

func (w *word) store(v uint64) {
	Before(Store, unsafe.Pointer(w), v, 0)
	*w = word(v)
}

func (w *word) release(v uint64) {
	if !StoreRelease(unsafe.Pointer(w), v) {
		*w = word(v)
	}
}

func (w *word) swap(v uint64) (was uint64) {
	Before(Swap, unsafe.Pointer(w), v, 0)
	was, *w = uint64(*w), word(v)
	After(was)
	return was
}

// counting starts n threads that each add 1 to a word by a load and a store, and fails if an
// addition is lost.
func counting(n int) Setup {
	return func(r *Run) {
		var w word
		for range n {
			r.Go("adder", 0, func(t *Thread) {
				t.Begin("add")
				w.store(w.load() + 1)
				t.End()
			})
		}
		r.Finally(func() error {
			if int(w) != n {
				r.Failf("%d additions of %d", w, n)
			}
			return nil
		})
	}
}

// lost reports failed assertions to a run.
type lost struct{ r *Run }

func (l lost) Errorf(format string, args ...any) { l.r.Failf(format, args...) }

func TestSearchFindsALostUpdate(t *testing.T) {
	assert.Nil(t, Search(counting(2), 0).Failure, "no preemption, no loss")
	f := Search(counting(2), 1).Failure
	require.NotNil(t, f)
	assert.Equal(t, 1, f.Preemptions)
	assert.Contains(t, f.Err.Error(), "1 additions of 2")
	assert.Regexp(t, `^1 additions of 2, after step \d+: thread .*, at interleave/interleave_test\.go:\d+\n`, f.Error())
	assert.Contains(t, f.Record, "Load", "the record shows the interleaving")
	assert.Contains(t, f.Record, "interleave/interleave_test.go:", "each step says where it is")

	record, err := Replay(counting(2), f.Schedule)
	assert.EqualError(t, err, f.Err.Error())
	assert.Equal(t, f.Record, record)
}

// TestSearchVisitsEverySchedule counts schedules: two threads with n accesses each to one word
// have C(2n, n), and a large bound leaves out none.
func TestSearchVisitsEverySchedule(t *testing.T) {
	seen := make(map[string]bool)
	setup := func(n int) Setup {
		return func(r *Run) {
			var w word
			var order strings.Builder
			for _, name := range []string{"a", "b"} {
				r.Go(name, 0, func(t *Thread) {
					for range n {
						w.store(1)
						order.WriteString(name)
					}
				})
			}
			r.Finally(func() error { seen[order.String()] = true; return nil })
		}
	}
	res := Search(setup(3), 10)
	assert.Nil(t, res.Failure)
	assert.Len(t, seen, 20)
	clear(seen)
	Search(setup(3), 0)
	assert.Len(t, seen, 2)
	clear(seen)
	Search(setup(3), 1)
	assert.Len(t, seen, 2+2*2, "with one preemption a thread stops after its first or second access")
}

// TestSearchLeavesOutOnlyWhatCommutes requires that keys of words save schedules and hide no
// outcome.
func TestSearchLeavesOutOnlyWhatCommutes(t *testing.T) {
	search := func(key func(own, word uintptr) uint64) (outcomes map[word]bool, runs int) {
		outcomes = map[word]bool{}
		return outcomes, Search(func(r *Run) {
			var words [3]word // of the two threads, and the shared one
			for i := range 2 {
				r.Go("t", 0, func(*Thread) {
					for range 5 {
						words[i].store(words[i].load() + 1)
					}
					words[2].store(words[2].load() + 1)
				})
			}
			if key != nil {
				r.Key(func(p unsafe.Pointer) uint64 { return key(uintptr(unsafe.Pointer(&words)), uintptr(p)) })
			}
			r.Finally(func() error { outcomes[words[2]] = true; return nil })
		}, 1).Runs
	}
	all, most := search(nil)
	some, fewer := search(func(words, word uintptr) uint64 { return uint64(word-words) + 1 })
	assert.Equal(t, map[word]bool{1: true, 2: true}, all)
	assert.Equal(t, all, some)
	assert.Less(t, fewer, most)
}

func TestMutexIsExclusive(t *testing.T) {
	setup := func(r *Run) {
		var mu, w word
		for range 3 {
			r.Go("t", 0, func(*Thread) {
				assert.True(lost{r}, LockMutex(unsafe.Pointer(&mu)), "the mutex should be a hooked one")
				w.store(w.load() + 1)
				assert.True(lost{r}, UnlockMutex(unsafe.Pointer(&mu)), "the mutex should be a hooked one")
			})
		}
		r.Finally(func() error {
			if w != 3 {
				r.Failf("lost under a mutex")
			}
			return nil
		})
	}
	res := Search(setup, 3)
	assert.Nil(t, res.Failure)
	assert.Greater(t, res.Runs, 6)
}

func TestWaitingLoopsDoNotKeepOthersOut(t *testing.T) {
	res := Search(func(r *Run) {
		var w word
		for range 3 {
			r.Go("waits", 0, func(*Thread) {
				for w.load() == 0 {
					LetOthers()
				}
			})
		}
		r.Go("sets", 0, func(*Thread) {
			w.load()
			w.store(1)
		})
	}, 2)
	assert.Nil(t, res.Failure)
}

// TestSearchLearnsWhatIsShared requires that a pass begins again if it finds another shared
// word, so that the last pass leaves out nothing.
func TestSearchLearnsWhatIsShared(t *testing.T) {
	var flag, both word
	last := make(map[word]bool)
	res := Search(func(r *Run) {
		flag, both = 0, 0
		r.Key(func(p unsafe.Pointer) uint64 {
			if p == unsafe.Pointer(&flag) {
				return 1
			}
			return 2
		})
		r.Go("first", 0, func(*Thread) {
			flag.store(1)
			flag.store(0)
			both.store(1)
		})
		r.Go("second", 0, func(*Thread) {
			if flag.load() == 1 {
				both.store(2) // shared only after the first was preempted
			}
		})
		r.Finally(func() error { last[both] = true; return nil })
	}, 2)
	require.Nil(t, res.Failure)
	require.Equal(t, 2, res.Shared)
	require.Equal(t, map[word]bool{1: true, 2: true}, last)
}

// TestThreadsMayExit requires that a thread may exit as a goroutine may: its deferred functions
// run with hooks on, and the others continue.
func TestThreadsMayExit(t *testing.T) {
	var w word
	var running *Thread
	setup := func(r *Run) {
		w = 0
		r.Go("exits", 0, func(t *Thread) {
			running = Running()
			defer w.release(1)
			w.load()
			runtime.Goexit()
		})
		r.Go("waits", 0, func(*Thread) {
			for w.load() == 0 {
				LetOthers()
			}
		})
	}
	res := Search(setup, 2)
	assert.Nil(t, res.Failure)
	assert.Greater(t, res.Runs, 3)
	assert.NotNil(t, running)
	assert.Nil(t, Running())
}

// TestReportsTellKindsApart requires that each failure ends with a line that has its kind.
func TestReportsTellKindsApart(t *testing.T) {
	runs, mu := 0, new(word)
	threads := func(fs ...func(r *Run, t *Thread)) Setup {
		return func(r *Run) {
			runs++
			for _, f := range fs {
				r.Go("t", 0, func(t *Thread) { f(r, t) })
			}
		}
	}
	for _, p := range []struct {
		kind  Kind
		text  string
		runs  int
		pre   int
		setup Setup
	}{
		{Broken, "1 additions of 2", 4, 1, counting(2)},
		{Broken, "is 1", 1, 0, func(r *Run) { r.Check(func() error { return errors.New("is 1") }) }},
		{Livelock, "livelock: the run does not end", 1, 0, threads(func(*Run, *Thread) {
			for {
				Pause()
			}
		})},
		{Deadlock, "deadlock: t waits in ; ", 1, 0, threads(func(*Run, *Thread) {
			LockMutex(unsafe.Pointer(mu))
			LockMutex(unsafe.Pointer(mu))
		})},
		{Panicked, "panic in thread t: ouch", 1, 0, threads(func(*Run, *Thread) { panic("ouch") })},
		{Panicked, "panic at the end: ouch", 1, 0, func(r *Run) { r.Finally(func() error { panic("ouch") }) }},
		{NotDeterministic, "once", 1, 0, threads(func(r *Run, _ *Thread) {
			if runs == 1 {
				r.Failf("once")
			}
		})},
		{NotDeterministic, "run 1", 1, 0, threads(func(r *Run, _ *Thread) { r.Failf("run %d", runs) })},
		{NotDeterministic, "interleave: the program is not deterministic: 3 options where there were 2", 2, 0, func(r *Run) {
			runs++
			for range 1 + runs {
				r.Go("t", 0, func(*Thread) {})
			}
		}},
	} {
		runs = 0
		f := Search(p.setup, 2).Failure
		require.NotNil(t, f, p.text)
		end := fmt.Sprintf("\n(%s, run %d, %d preemptions, seed 0)", p.kind, p.runs, p.pre)
		require.True(t, strings.HasPrefix(f.Error(), p.text) && strings.HasSuffix(f.Error(), end), "%v; want %q%s", f, p.text, end)
	}
}

func TestSampleFindsALostUpdate(t *testing.T) {
	res := Sample(counting(2), 20, 1)
	require.NotNil(t, res.Failure)
	_, err := Replay(counting(2), res.Failure.Schedule)
	assert.EqualError(t, err, res.Failure.Err.Error())
	assert.Equal(t, res.Failure.Schedule, Sample(counting(2), 20, 1).Failure.Schedule, "its seed repeats it")
}

func TestSampleEndsWhereNoSwitchMatters(t *testing.T) {
	res := Sample(func(r *Run) {
		r.Go("alone", 0, func(*Thread) { Pause() })
	}, 100, 1)
	assert.Equal(t, 1, res.Runs, "one thread has one schedule")
}
