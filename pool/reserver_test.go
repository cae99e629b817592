package pool_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// stamp is a value that tells when its slot was given to another.
type stamp struct {
	id   uint64
	self *stamp // zeroed with it
}

// reservers are the two ways to reserve.
var reservers = map[string]func(*pool.Pool[stamp]) func() (*pool.Reservation[stamp], error){
	"Pool":     func(p *pool.Pool[stamp]) func() (*pool.Reservation[stamp], error) { return p.Reserve },
	"Reserver": func(p *pool.Pool[stamp]) func() (*pool.Reservation[stamp], error) { return p.Reserver().Reserve },
}

// A settled Reservation that is used again panics, however many others were made since, and
// harms none of them.
func TestReserverReservationSettlesOnce(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{})
	v := p.Reserver()
	var done []*pool.Reservation[int]
	for i := range 2 * pool.BlockCells {
		r := testkit.MustReserveFrom(t, v)
		if i%2 == 0 {
			r.Commit()
		} else {
			r.Cancel()
		}
		done = append(done, r)
	}
	var others []*pool.Reservation[int]
	for i := range 2 * pool.BlockCells {
		r := testkit.MustReserveFrom(t, v)
		*r.Value() = i
		others = append(others, r)
	}
	for _, r := range done {
		for _, again := range []func(){func() { r.Commit() }, r.Cancel, func() { r.Value() }} {
			text, _ := testkit.Recovered(again).(string)
			require.Containsf(t, text, "pool: use of a Reservation after Commit or Cancel", "%v stays readable", r.Handle())
		}
	}
	require.Equal(t, len(others), p.Stats().Reserved)
	for i, r := range others {
		require.Equal(t, i, p.MustGet(r.Commit()))
	}
	p.Clear()
	testkit.RequireReclaimed(t, p)
}

// Reservations count against the Capacity. Dropped ones come back, although a Reserver is
// kept idle and its last block is not full.
func TestDroppedReservationLosesNoSlot(t *testing.T) {
	const capacity = 2*pool.BlockCells + 10
	for name, reserver := range reservers {
		for _, reuse := range testkit.Reuses {
			p := testkit.Tiny(t, &pool.Options[stamp]{Capacity: capacity, Reuse: reuse})
			reserve := reserver(p)
			for round := range 3 {
				handles := make([]pool.Handle[stamp], capacity)
				testkit.Apart(func() {
					var rs []*pool.Reservation[stamp]
					for i := range handles {
						r, err := reserve()
						if !assert.NoError(t, err, name) {
							return
						}
						rs = append(rs, r)
						handles[i] = r.Handle()
						r.Value().self = r.Value()
					}
					for _, verb := range []func() error{
						func() error { _, err := reserve(); return err },
						func() error { _, err := p.Insert(stamp{}); return err },
					} {
						err := verb()
						assert.ErrorIs(t, err, pool.ErrFull, name)
						assert.NotErrorIs(t, err, pool.ErrStalled, name)
					}
					runtime.KeepAlive(rs) // or a collection returns some before
				})
				testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "reservations that were dropped: %+v", p.Stats())
				require.Equal(t, (round+1)*capacity, p.Stats().Dropped, name)
				hs := testkit.Fill(t, p, capacity, func(int) stamp { return stamp{} })
				for _, h := range handles {
					require.Falsef(t, p.Contains(h), "%v was dropped", h)
				}
				require.Equal(t, capacity, p.RemoveBatch(hs))
			}
			runtime.KeepAlive(reserve)
		}
	}
}

// As long as one Reservation of a block is kept, all of it stays as it is. Then
// those that are open come back, and those that were settled do not.
func TestReserverBlockIsDroppedAsOne(t *testing.T) {
	const n = pool.BlockCells - 1
	p := testkit.Tiny(t, &pool.Options[stamp]{})
	v := p.Reserver()
	var kept []*pool.Reservation[stamp]
	testkit.Apart(func() {
		for i := range n {
			r := testkit.MustReserveFrom(t, v)
			r.Value().id = uint64(i)
			if i%3 == 0 {
				kept = append(kept, r)
			}
		}
	})
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, n, p.Stats().Reserved)
	for i, r := range kept {
		require.EqualValues(t, 3*i, p.MustGet(r.Commit()).id, r.Handle())
	}
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, n-len(kept), p.Stats().Reserved)
	runtime.KeepAlive(kept)
	hs := make([]pool.Handle[stamp], len(kept))
	for i, r := range kept {
		hs[i] = r.Handle()
	}
	settled := len(kept)
	clear(kept)
	testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "all are dropped: %+v", p.Stats())
	require.Equal(t, n-settled, p.Stats().Dropped)
	for i, h := range hs {
		require.EqualValuesf(t, 3*i, p.MustGet(h).id, "%v was committed", h)
	}
	require.Equal(t, settled, p.Clear())
	testkit.RequireReclaimed(t, p)
	runtime.KeepAlive(v)
}

// A block without references is given back while its Reserver goes on.
func TestReserverOutlivesItsBlocks(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: 4})
	v := p.Reserver()
	for round := range 20 {
		testkit.Apart(func() { testkit.MustReserveFrom(t, v) })
		r := testkit.MustReserveFrom(t, v)
		*r.Value() = round
		runtime.GC()
		h := r.Commit()
		require.Equal(t, round, p.MustGet(h))
		require.True(t, p.Remove(h))
		r = nil
		testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "%+v", p.Stats())
	}
	require.Equal(t, 20, p.Stats().Dropped)
}

// A settled Reservation that is kept, and its neighbours, keep no page that Trim
// gives up.
func TestSettledReservationKeepsNoPage(t *testing.T) {
	for name, reserve := range reservers {
		t.Run(name, func(t *testing.T) {
			p := testkit.Tiny(t, &pool.Options[stamp]{Shards: 1})
			var kept []*pool.Reservation[stamp]
			var pages []weak.Pointer[stamp]
			testkit.Apart(func() {
				reserve := reserve(p)
				for i := range 200 {
					r, err := reserve()
					if !assert.NoError(t, err) {
						return
					}
					pages = append(pages, weak.Make(r.Value()))
					kept = append(kept, r)
					if i%2 == 0 {
						r.Cancel()
					} else {
						r.Commit()
					}
				}
			})
			p.Clear()
			testkit.RequireReclaimed(t, p)
			require.Positive(t, p.Trim())
			left := func() (n int) {
				for _, page := range pages {
					if page.Value() != nil {
						n++
					}
				}
				return n
			}
			testkit.Eventually(t, func() bool { return left() <= 4 }, "%d of %d values have memory", left(), len(pages))
			runtime.KeepAlive(kept)
		})
	}
}

// A Reset that runs in Reserve may reserve, and panic.
func TestReserverServesItsReset(t *testing.T) {
	failed := errors.New("no")
	var v *pool.Reserver[int]
	var inner []*pool.Reservation[int]
	fail := false
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: 4, Shards: 1, Reset: func(*int) {
		if fail {
			fail = false
			panic(failed)
		}
		if r, err := v.Reserve(); err == nil {
			inner = append(inner, r)
		}
	}})
	v = p.Reserver()
	for range pool.BlockCells {
		var hs []pool.Handle[int]
		for h, err := p.Insert(1); err == nil; h, err = p.Insert(1) {
			hs = append(hs, h)
		}
		require.Equal(t, 4, len(hs)+len(inner))
		p.RemoveBatch(hs)
		r, err := v.Reserve()
		if err == nil {
			r.Cancel()
		}
		for _, r := range inner {
			r.Cancel()
		}
		inner = inner[:0]
		testkit.RequireConserved(t, p)
	}
	// All four wait for Reset, which fails for the first that is looked at.
	v = testkit.Tiny(t, &pool.Options[int]{Shards: 1}).Reserver() // the Reset takes no more of p's
	p.Clear()
	testkit.RequireReclaimed(t, p)
	p.RemoveBatch(testkit.Fill(t, p, 4, testkit.Number))
	fail = true
	u := p.Reserver()
	require.Equal(t, any(failed), testkit.Recovered(func() { _, _ = u.Reserve() }))
	require.Zero(t, p.Stats().Reserved)
	for range 4 {
		testkit.MustReserveFrom(t, u).Commit()
	}
}

func TestReserverAllocatesThreeObjectsABlock(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection ends a block without references
	for _, opts := range []*pool.Options[plain]{{Shards: 1}, {Shards: 1, Capacity: 100, Preallocate: true}} {
		p := pool.Must(opts)
		v := p.Reserver()
		const blocks = 10
		f := func() {
			for i := range blocks * pool.BlockCells {
				r, err := v.Reserve()
				switch {
				case err != nil:
					t.Error(err)
				case i%2 == 0:
					p.Remove(r.Commit())
				default:
					r.Cancel()
				}
			}
		}
		f()
		assert.EqualValues(t, 3*blocks, testing.AllocsPerRun(10, f))
	}
}

// A full block has the size of what the allocator gives for it.
func TestReserverBlockFillsItsMemory(t *testing.T) {
	if runtime.GOARCH != "amd64" || testkit.Watched {
		t.Skip("sizes are those of 64 bits, without records")
	}
	require.LessOrEqual(t, int(pool.BlockBytes), 2048-8)
	require.Greater(t, int(pool.BlockBytes)/pool.BlockCells*(pool.BlockCells+1), 2048-8, "one more would fit")
}

// ExplainOpen counts a Reserver's Reservations as others.
func TestExplainOpenCountsAReserversReservations(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Shards: 1})
	v := p.Reserver()
	rs := []*pool.Reservation[int]{testkit.MustReserveFrom(t, v), testkit.MustReserveFrom(t, v)}
	require.True(t, strings.HasPrefix(p.ExplainOpen(), "2 Reservations open"), p.ExplainOpen())
	rs[0].Cancel()
	require.True(t, strings.HasPrefix(p.ExplainOpen(), "1 Reservation open"), p.ExplainOpen())
	rs[1].Commit()
	require.Empty(t, p.ExplainOpen())
}

// A loader names all records before it knows any of them.
func ExampleReserver() {
	p := pool.Must(replay[Node]())
	reserver := p.Reserver()

	names := []string{"hat", "coat", "scarf"}
	rs := make([]*pool.Reservation[Node], len(names))
	for i := range rs {
		rs[i], _ = reserver.Reserve()
	}
	for i, r := range rs {
		*r.Value() = Node{names[i], rs[(i+1)%len(rs)].Handle()}
	}
	for _, r := range rs {
		r.Commit()
	}

	h := rs[0].Handle()
	for range names {
		v := p.MustGet(h)
		fmt.Println(h, v.Name)
		h = v.Next
	}
	// Output:
	// 0@1 hat
	// 1@1 coat
	// 2@1 scarf
}

func ExampleReserver_Reserve() {
	p := pool.Must(replay[string]())
	reserver := p.Reserver() // one for all that follow
	for _, v := range []string{"hat", "coat"} {
		r, err := reserver.Reserve()
		if err != nil {
			panic(err)
		}
		*r.Value() = v
		fmt.Println(p.Contains(r.Handle()), p.MustGet(r.Commit()))
	}
	// Output:
	// false hat
	// false coat
}
