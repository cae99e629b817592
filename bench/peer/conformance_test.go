package peer

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forms calls test for each form of value, or the first one if the test is short.
func forms(t *testing.T, test func(t *testing.T, f form)) {
	var n uint64 = 1
	to := &n
	for _, f := range []form{
		newForm("16", Rest16{1}),
		newForm("64", Rest64{1, 6: 7}),
		newForm("256", Rest256{1, 30: 31}),
		newForm("refs16", Refs16{to}),
		newForm("refs64", Refs64{To: [3]*uint64{to, 2: to}}),
		newForm("refs256", Refs256{To: [8]*uint64{to, 7: to}}),
	} {
		t.Run("value="+f.name, func(t *testing.T) { test(t, f) })
		if testing.Short() {
			return
		}
	}
}

// form is a form of value, with its peers.
type form struct {
	name  string
	peers []opener
}

// opener is a Peer without its type parameter.
type opener struct {
	About
	open func(live, sessions int, grow bool) (Store, error)
}

func newForm[R any](name string, rest R) form {
	f := form{name: name}
	for _, p := range All[R]() {
		f.peers = append(f.peers, opener{p.About, func(live, sessions int, grow bool) (Store, error) {
			return p.Open(Config[R]{Rest: rest, Live: live, Sessions: sessions, Grow: grow})
		}})
	}
	return f
}

// each calls test for an open store of each peer, presized and growing.
func (f form) each(t *testing.T, live, sessions int, test func(t *testing.T, p About, s Store)) {
	for _, p := range f.peers {
		if sessions > 1 && p.Alone {
			continue
		}
		for _, grow := range []bool{false, true} {
			if sessions > 1 && !grow {
				continue // a bounded pool may be full while a reader is preempted
			}
			t.Run(fmt.Sprintf("impl=%s/grow=%v", p.Name, grow), func(t *testing.T) {
				s, err := p.open(live, sessions, grow)
				require.NoError(t, err)
				defer s.Close()
				test(t, p.About, s)
			})
		}
	}
}

// holds requires that s has n values whose identities add up to sum.
func holds(t *testing.T, s Store, n int, sum uint64) {
	t.Helper()
	if got := s.Len(); got >= 0 {
		require.Equal(t, n, got, "Len")
	}
	if gotN, gotSum := s.All(); gotN >= 0 {
		require.Equal(t, n, gotN, "values that All saw")
		require.Equal(t, sum, gotSum, "identities that All saw")
	}
}

// series returns the sum of n successive identities from id on.
func series(id uint64, n int) uint64 { return uint64(n)*id + uint64(n*(n-1)/2) }

func TestSingleVerbs(t *testing.T) {
	forms(t, func(t *testing.T, f form) {
		f.each(t, 10, 1, func(t *testing.T, p About, s Store) {
			w := s.Session()
			defer w.Close()
			ns := w.Names(3)
			require.Equal(t, 3, ns.Len())
			for i := range 3 {
				w.Put(ns, i, uint64(100+i))
			}
			holds(t, s, 3, 303)
			require.True(t, w.Drop(ns, 1))
			for _, i := range []int{0, 2} {
				id, ok := w.Look(ns, i)
				require.True(t, ok)
				require.Equal(t, uint64(100+i), id)
			}
			holds(t, s, 2, 202)
			w.Put(ns, 1, 200)
			id, ok := w.Look(ns, 1)
			require.True(t, ok)
			require.Equal(t, uint64(200), id)
			for i := range 3 {
				require.True(t, w.Drop(ns, i))
			}
			holds(t, s, 0, 0)
		})
	})
}

// Every loop returns the identities that were stored, replacements included.
func TestLoopsReturnStoredIdentities(t *testing.T) {
	const live = 300
	forms(t, func(t *testing.T, f form) {
		f.each(t, live, 1, func(t *testing.T, p About, s Store) {
			w := s.Session()
			defer w.Close()
			require.Zero(t, w.Pairs(2*live, 7), "failures of Pairs")
			holds(t, s, 0, 0)

			ns, ids := w.Names(live), make([]uint64, live)
			w.Fill(ns, 1000)
			for i := range ids {
				ids[i] = 1000 + uint64(i)
			}
			holds(t, s, live, series(1000, live))

			r := rand.New(rand.NewPCG(1, 2))
			for round := range 5 {
				picks := make([]uint32, live/2+round)
				for i := range picks {
					picks[i] = r.Uint32N(live)
				}
				id := uint64(1+round) << 20
				require.Zero(t, w.Replace(ns, picks, id), "failures of Replace")
				for i, pick := range picks {
					ids[pick] = id + uint64(i)
				}
				readsAll(t, w, ns, ids, r)
			}
			sum := uint64(0)
			for _, id := range ids {
				sum += id
			}
			holds(t, s, live, sum)
			got, failed := w.Empty(ns)
			require.Zero(t, failed, "failures of Empty")
			require.Equal(t, sum, got)
			holds(t, s, 0, 0)
		})
	})
}

// readsAll requires that each loop of look-ups finds ids.
func readsAll(t *testing.T, w Session, ns Names, ids []uint64, r *rand.Rand) {
	t.Helper()
	picks, want := make([]uint32, 2*len(ids)+1), uint64(0)
	for i := range picks {
		picks[i] = r.Uint32N(uint32(len(ids)))
		want += ids[picks[i]]
	}
	for way, read := range readings(w) {
		require.Equal(t, want, read(ns, picks), way)
	}
}

// readings returns the loops of look-ups of a session.
func readings(w Session) map[string]func(Names, []uint32) uint64 {
	ways := map[string]func(Names, []uint32) uint64{"Read": w.Read}
	if w, ok := w.(Pinned); ok {
		ways["ReadPinned"] = w.ReadPinned
	}
	if w, ok := w.(Batched); ok {
		ways["ReadBatch"] = w.ReadBatch
	}
	if w, ok := w.(Owned); ok {
		ways["ReadOwned"] = w.ReadOwned
	}
	return ways
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Each peer with About.Keys is a Mixer, and Mix does its ops.
func TestMixDoesItsOps(t *testing.T) {
	const live = 64
	forms(t, func(t *testing.T, f form) {
		f.each(t, live, 1, func(t *testing.T, p About, s Store) {
			w := s.Session()
			defer w.Close()
			m, ok := w.(Mixer)
			require.Equal(t, p.Keys, ok, "About.Keys, and a Mixer")
			if !ok {
				return
			}
			ns, shared, ids := w.Names(live), make([]atomic.Uint64, live), make([]uint64, live)
			w.Fill(ns, 1)
			m.Publish(ns, shared)
			for i := range ids {
				ids[i] = 1 + uint64(i)
			}
			require.True(t, w.Drop(ns, 5), "a name that is stale from the start")
			ids[5] = 0

			r := rand.New(rand.NewPCG(3, 4))
			ops := make([]uint32, 1000)
			sum, stale, failed := uint64(0), 0, 0
			for i := range ops {
				place := r.Uint32N(live)
				if write := r.Uint32N(2); write == 1 {
					ops[i] = place<<1 | 1
					failed += boolInt(ids[place] == 0)
					ids[place] = 5000 + uint64(i)
				} else {
					ops[i] = place << 1
					sum += ids[place]
					stale += boolInt(ids[place] == 0)
				}
			}
			gotSum, gotStale, gotFailed := m.Mix(shared, ops, 5000)
			require.Equal(t, sum, gotSum)
			require.Equal(t, stale, gotStale, "stale")
			require.Equal(t, failed, gotFailed, "failed")
			require.Equal(t, 1, failed, "the test's own ops replace the stale name once")
			total := uint64(0)
			for _, id := range ids {
				total += id
			}
			holds(t, s, live, total)
		})
	})
}

// Two sessions run all loops at once, and no value is lost.
func TestSessionsSideBySide(t *testing.T) {
	const sessions, live, rounds = 2, 200, 20
	forms(t, func(t *testing.T, f form) {
		f.each(t, sessions*live, sessions, func(t *testing.T, p About, s Store) {
			var wg sync.WaitGroup
			for g := range sessions {
				wg.Add(1)
				go func() {
					defer wg.Done()
					w := s.Session()
					defer w.Close()
					r := rand.New(rand.NewPCG(uint64(g), 5))
					ns, picks := w.Names(live), make([]uint32, live)
					for round := range rounds {
						assert.Zero(t, w.Pairs(live, 1), "failures of Pairs")
						id := uint64(g+1)<<40 + uint64(round)<<20
						w.Fill(ns, id)
						for i, pick := range r.Perm(live) {
							picks[i] = uint32(pick)
						}
						for way, read := range readings(w) {
							assert.Equal(t, series(id, live), read(ns, picks), way)
						}
						assert.Zero(t, w.Replace(ns, picks, id), "failures of Replace")
						sum, failed := w.Empty(ns)
						assert.Equal(t, series(id, live), sum)
						assert.Zero(t, failed, "failures of Empty")
					}
				}()
			}
			wg.Wait()
			holds(t, s, 0, 0)
		})
	})
}

// Sessions that replace each other's values look up stale names, but no removal fails: the
// session that swaps a name out of its place removes it.
func TestMixSideBySide(t *testing.T) {
	const sessions, live = 2, 16
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	forms(t, func(t *testing.T, f form) {
		f.each(t, live, sessions, func(t *testing.T, p About, s Store) {
			if !p.Keys {
				t.Skip("names are not words")
			}
			shared := make([]atomic.Uint64, live)
			w := s.Session()
			ns := w.Names(live)
			w.Fill(ns, 1)
			w.(Mixer).Publish(ns, shared)
			w.Close()

			var wg sync.WaitGroup
			for g := range sessions {
				wg.Add(1)
				go func() {
					defer wg.Done()
					w := s.Session()
					defer w.Close()
					r := rand.New(rand.NewPCG(uint64(g), 6))
					ops := make([]uint32, n)
					for i := range ops {
						ops[i] = r.Uint32N(2 * live)
					}
					_, _, failed := w.(Mixer).Mix(shared, ops, 1000)
					assert.Zero(t, failed)
				}()
			}
			wg.Wait()
			if got := s.Len(); got >= 0 {
				require.Equal(t, live, got, "Len")
			}
			for i := range shared {
				if _, stale, _ := s.Session().(Mixer).Mix(shared, []uint32{uint32(i) << 1}, 0); stale != 0 {
					require.Fail(t, "the last name of a place is stale", "place %d", i)
				}
			}
		})
	})
}
