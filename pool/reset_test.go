package pool_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// object has a buffer that is worth keeping.
type object struct {
	buf    []byte
	resets int
	note   string
}

func resetObject(v *object) { v.buf, v.note, v.resets = v.buf[:0], "", v.resets+1 }

// Reset is called when the grace period is over, and not before; InsertFunc then
// finds what it left.
func TestResetComesAtReclaim(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, worker := range []bool{false, true} {
			calls := 0
			p := tiny(t, &pool.Options[object]{Capacity: 1, Reuse: reuse,
				Reset: func(v *object) { calls++; resetObject(v) }})
			remove := p.Remove
			if worker {
				w := p.Worker()
				defer w.Close()
				remove = w.Remove
			}
			for round := range 50 {
				calls = 0
				h, err := p.InsertFunc(func(_ pool.Handle[object], v *object) {
					if v.resets > 0 {
						require.Zero(t, len(v.buf))
						require.NotZero(t, cap(v.buf), "the buffer was not kept")
						require.Empty(t, v.note)
					}
					v.buf = append(v.buf, "hello"...)
					v.note = "alive"
				})
				require.NoErrorf(t, err, "round %d", round)
				g := p.Pin()
				v, ok := g.Get(h)
				require.True(t, ok)
				require.True(t, remove(h))
				_, err = p.Insert(object{})
				require.ErrorIs(t, err, pool.ErrStalled)
				require.Zero(t, calls, "Reset under a guard")
				require.Equal(t, "alive", v.note)
				g.Unpin()
				require.NoError(t, p.Synchronize(context.Background()))
				require.Equal(t, 1, calls)
			}
		}
	}
}

// A value that Take moved out belongs to the caller: its slot is zeroed, never Reset.
func TestTakenValueIsNotReset(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[object]{Shards: 1, Reuse: reuse, Reset: func(v *object) {
			if v.note == "mine" {
				t.Error("Reset saw a value that was taken")
			}
			resetObject(v)
		}})
		w := p.Worker()
		defer w.Close()
		for range 130 {
			for _, take := range []func(h pool.Handle[object]) (object, bool){
				p.Take, w.Take,
				func(h pool.Handle[object]) (v object, ok bool) {
					for k, drained := range p.Drain() {
						v, ok = drained, k == h
					}
					return v, ok
				},
			} {
				h := testkit.MustInsert(t, p, object{buf: []byte("x"), note: "mine"})
				v, ok := take(h)
				require.True(t, ok)
				require.Equal(t, object{buf: []byte("x"), note: "mine"}, v)
				// Others are Reset meanwhile, so that a mark on the wrong slot shows.
				require.True(t, p.Remove(testkit.MustInsert(t, p, object{note: "theirs"})))
			}
		}
		w.Flush()
		testkit.RequireReclaimed(t, p)
		for range 16 { // every slot is zero or Reset now
			_, err := p.InsertFunc(func(_ pool.Handle[object], v *object) {
				require.Empty(t, v.note)
				require.Empty(t, v.buf)
				require.True(t, v.resets > 0 || v.buf == nil, "not zeroed")
			})
			require.NoError(t, err)
		}
	}
}

// A Reset that panics or exits leaves its slot zeroed and free; the panic
// reaches the goroutine that reclaimed, and no slot is lost.
func TestResetMayPanicOrExit(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, exit := range []bool{false, true} {
			const capacity = 200
			bad := 0
			p := tiny(t, &pool.Options[object]{Capacity: capacity, Shards: 2, Reuse: reuse, Reset: func(v *object) {
				if v.note != "bad" {
					resetObject(v)
					return
				}
				bad++
				v.note = "half reset"
				if exit {
					runtime.Goexit()
				}
				panic(v)
			}})
			removers := removers[object]()
			names := []string{"RemoveBatch", "Clear", "Worker.Remove", "Remove", "DeleteFunc"}
			for round := range 20 {
				w := p.Worker()
				hs := testkit.Fill(t, p, capacity, func(i int) object {
					return object{note: map[bool]string{true: "bad"}[(i+round)%7 == 0]}
				})
				for p.Len() > 0 {
					v := testkit.Apart(func() { removers[names[round%len(names)]](p, w, hs) })
					if v != nil {
						_, ok := v.(*object)
						require.Truef(t, ok, "panic %v", v)
					}
				}
				testkit.Apart(w.Close)
				testkit.Apart(w.Close) // what the first one's panic left
				for {
					done := false
					v := testkit.Apart(func() {
						require.NoError(t, p.Synchronize(context.Background()))
						done = true
					})
					if done {
						break
					}
					require.Equal(t, exit, v == nil)
				}
				st := testkit.RequireReclaimed(t, p)
				require.Equalf(t, st.Allocated, st.Free, "%v, round %d", reuse, round)
			}
			require.Greater(t, bad, 200)
			n := 0
			for ; n < capacity; n++ {
				_, err := p.InsertFunc(func(_ pool.Handle[object], v *object) { require.Empty(t, v.note) })
				require.NoError(t, err)
			}
		}
	}
}

// Reset may use the pool, and the Worker that reclaims. No slot is lost.
func TestResetMayUseThePool(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, origin := range []uint32{1, testkit.LastGeneration - 4, testkit.LastGeneration} {
			var p *pool.Pool[object]
			var w *pool.Worker[object]
			var hs []pool.Handle[object]
			depth, nested, calls := 0, 0, 0
			p = tiny(t, &pool.Options[object]{Shards: 1, Reuse: reuse, Origin: origin, Reset: func(v *object) {
				resetObject(v)
				// Each use leads to two more calls later.
				if calls++; depth > 0 || calls%4 != 0 {
					return
				}
				depth++
				defer func() { depth-- }()
				nested++
				h, err := p.Insert(object{note: "from Reset"})
				require.NoError(t, err)
				k, err := w.Insert(object{note: "from Reset"})
				require.NoError(t, err)
				hs = append(hs, k)
				require.True(t, p.Contains(h))
				require.True(t, w.Remove(h))
				if nested%3 == 0 {
					w.Flush()
				}
				for range p.All() {
					break
				}
			}})
			w = p.Worker()
			for range 500 {
				h, err := w.Insert(object{note: "a"})
				require.NoError(t, err)
				require.True(t, w.Remove(h))
				h = testkit.MustInsert(t, p, object{note: "b"})
				require.True(t, p.Remove(h))
				if len(hs) > 20 {
					gone := hs
					hs = nil
					require.Equal(t, len(gone), p.RemoveBatch(gone))
				}
			}
			require.Greater(t, nested, 50)
			depth = 1 // no more
			p.RemoveBatch(hs)
			w.Close()
			st := testkit.RequireReclaimed(t, p)
			require.Equal(t, st.Allocated, st.Free+st.Live+st.Exhausted)
			require.Zero(t, st.Live)
		}
	}
}

// The garbage collector's goroutines must not run the user's Reset, which may
// panic, exit or block: a Worker or Reservation that is dropped comes back
// without it, and a goroutine that reclaims later calls it.
func TestResetRunsOnUsersGoroutines(t *testing.T) {
	var foreign int
	p := tiny(t, &pool.Options[object]{Shards: 1, Reset: func(v *object) {
		resetObject(v)
		pcs := make([]uintptr, 64)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		ours := false
		for {
			f, more := frames.Next()
			ours = ours || f.Function == "coatcheck/pool_test.TestResetRunsOnUsersGoroutines" || f.Function == "coatcheck/internal/check/testkit.Apart.func1"
			if !more {
				break
			}
		}
		if !ours {
			foreign++
		}
	}})
	for range 10 {
		before := p.Stats()
		testkit.Apart(func() {
			w := p.Worker()
			for range 60 {
				h, _ := p.Insert(object{})
				w.Remove(h)
			}
			for range 70 {
				_, _ = p.Reserve()
			}
			for range 30 {
				_, _ = w.Insert(object{})
			}
		})
		testkit.Eventually(t, func() bool { st := p.Stats(); return st.Reserved == 0 && st.Cached == 0 }, "dropped: %+v", before)
		p.Clear()
	}
	testkit.RequireReclaimed(t, p)
	assert.Zero(t, foreign, "calls of Reset by the garbage collector's goroutines")
}

// A Reset may close the Worker whose call it interrupts. What that call has not
// done yet it does not do, and panics as every later call does; nothing is lost.
func TestResetMayCloseItsWorker(t *testing.T) {
	const closed = "pool: use of a Worker that is closed, or not from Pool.Worker"
	for name, use := range map[string]func(w *pool.Worker[int], h pool.Handle[int]) bool{
		"Remove": func(w *pool.Worker[int], h pool.Handle[int]) bool { return w.Remove(h) },
		"Insert": func(w *pool.Worker[int], h pool.Handle[int]) bool {
			_, err := w.Insert(1)
			return w.Remove(h) && err == nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			for at := 1; at < 200; at += 7 {
				var w *pool.Worker[int]
				calls := 0
				p := pool.Must[int](&pool.Options[int]{Shards: 1, Reset: func(*int) {
					if calls++; calls == at {
						w.Close()
					}
				}})
				w = p.Worker()
				hs := testkit.Fill(t, p, 600, testkit.Number)
				for _, h := range hs {
					ok := false
					v := testkit.Recovered(func() { ok = use(w, h) })
					if v != nil {
						require.Equal(t, closed, v)
						require.GreaterOrEqual(t, calls, at)
						require.Panics(t, func() { w.Remove(h) })
						break
					}
					require.True(t, ok)
				}
				require.GreaterOrEqual(t, calls, at)
				w.Close()
				p.Clear()
				testkit.RequireReclaimed(t, p)
			}
		})
	}
}
