package peer

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stores calls test for an open store of each peer and each form of value, presized and
// growing. If the test is short, values have 16 bytes.
func stores(t *testing.T, live, sessions int, test func(t *testing.T, p About, s Store)) {
	var n uint64 = 1
	to := &n
	each(t, "16", Rest16{1}, live, sessions, test)
	if testing.Short() {
		return
	}
	each(t, "64", Rest64{1, 6: 7}, live, sessions, test)
	each(t, "256", Rest256{1, 30: 31}, live, sessions, test)
	each(t, "refs16", Refs16{To: [1]*uint64{to}}, live, sessions, test)
	each(t, "refs64", Refs64{To: [3]*uint64{to, 2: to}}, live, sessions, test)
	each(t, "refs256", Refs256{To: [8]*uint64{to, 7: to}}, live, sessions, test)
}

func each[R any](t *testing.T, form string, rest R, live, sessions int, test func(t *testing.T, p About, s Store)) {
	for _, p := range All[R]() {
		for _, grow := range []bool{false, true} {
			// A bounded pool may be full while a reader is preempted.
			if sessions > 1 && (p.Alone || !grow) {
				continue
			}
			t.Run(fmt.Sprintf("value=%s/impl=%s/grow=%v", form, p.Name, grow), func(t *testing.T) {
				s := p.Open(Config[R]{Rest: rest, Live: live, Sessions: sessions, Grow: grow})
				test(t, p.About, s)
				if got := s.Len(); got >= 0 {
					require.Zero(t, got, "Len at the end")
				}
			})
		}
	}
}

// driver draws operations of a session and judges their results.
type driver struct {
	*testing.T
	*rand.Rand
	about   About
	session Session
	names   Names
	ids     []uint64 // the model: the identity of the value of each place, 0 if there is none
	next    uint64   // the next identity
}

func newDriver(t *testing.T, p About, s Store, live int, seed uint64) *driver {
	d := &driver{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), about: p, session: s.Session(), ids: make([]uint64, live)}
	d.names = d.session.Names(live)
	require.Equal(t, live, d.names.Len())
	d.next = (seed + 1) << 40
	return d
}

// take returns n new identities.
func (d *driver) take(n int) (first uint64) {
	first, d.next = d.next, d.next+uint64(n)
	return first
}

// place returns a random place with a value, or one without.
func (d *driver) place(live bool) (int, bool) {
	from := d.IntN(len(d.ids))
	for i := range d.ids {
		if at := (from + i) % len(d.ids); (d.ids[at] != 0) == live {
			return at, true
		}
	}
	return 0, false
}

// picks returns random places with values.
func (d *driver) picks() (picks []uint32) {
	for range d.IntN(2 * len(d.ids)) {
		if at, ok := d.place(true); ok {
			picks = append(picks, uint32(at))
		}
	}
	return picks
}

// step does one operation.
func (d *driver) step() {
	switch d.IntN(7) {
	case 0:
		n := d.IntN(50)
		assert.Zero(d, d.session.Pairs(n, d.take(n)), "failures of Pairs")
	case 1:
		d.put()
	case 2:
		if at, ok := d.place(true); ok {
			assert.True(d, d.session.Drop(d.names, at), "Drop of a live value")
			d.ids[at] = 0
		}
	case 3:
		if at, ok := d.place(true); ok {
			id, ok := d.session.Look(d.names, at)
			assert.True(d, ok, "Look at a live value")
			assert.Equal(d, d.ids[at], id)
		}
	case 4:
		picks := d.picks()
		first := d.take(len(picks))
		assert.Zero(d, d.session.Replace(d.names, picks, first), "failures of Replace")
		for i, at := range picks {
			d.ids[at] = first + uint64(i)
		}
	case 5:
		d.read()
	case 6:
		if d.about.Keys {
			d.mix()
		}
	}
}

func (d *driver) put() (ok bool) {
	at, ok := d.place(false)
	if ok {
		d.ids[at] = d.take(1)
		d.session.Put(d.names, at, d.ids[at])
	}
	return ok
}

func (d *driver) read() {
	picks, want := d.picks(), uint64(0)
	for _, at := range picks {
		want += d.ids[at]
	}
	assert.Equal(d, want, d.session.Read(d.names, picks))
}

// mix also uses stale names.
func (d *driver) mix() {
	ops := make([]uint32, d.IntN(100))
	first := d.take(len(ops))
	var sum uint64
	var stale, failed int
	for i := range ops {
		at := d.IntN(len(d.ids))
		gone := missed(d.ids[at] != 0)
		if ops[i] = uint32(at) << 1; d.IntN(2) == 0 {
			sum += d.ids[at]
			stale += gone
		} else {
			ops[i] |= 1
			failed += gone
			d.ids[at] = first + uint64(i)
		}
	}
	gotSum, gotStale, gotFailed := d.session.Mix(d.names, ops, first)
	assert.Equal(d, sum, gotSum)
	assert.Equal(d, stale, gotStale, "stale")
	assert.Equal(d, failed, gotFailed, "failed")
}

// round fills all places, does some operations and empties all places. holds is called
// before that.
func (d *driver) round(holds func(sum uint64)) {
	first := d.take(len(d.ids))
	d.session.Fill(d.names, first)
	for i := range d.ids {
		d.ids[i] = first + uint64(i)
	}
	for range 50 {
		d.step()
	}
	for d.put() {
	}
	var want uint64
	for i, id := range d.ids {
		want += id
		d.ids[i] = 0
	}
	holds(want)
	sum, failed := d.session.Empty(d.names)
	assert.Zero(d, failed, "failures of Empty")
	assert.Equal(d, want, sum)
}

// Every operation returns what a model returns, also if two sessions work at once, each
// with its own values.
func TestSessionsMatchModel(t *testing.T) {
	const live = 100
	for _, sessions := range []int{1, 2} {
		stores(t, sessions*live, sessions, func(t *testing.T, p About, s Store) {
			sideBySide(sessions, func(g int) {
				d := newDriver(t, p, s, live, uint64(g))
				defer d.session.Close()
				for range 5 * sessions {
					d.round(func(sum uint64) {
						if sessions == 1 && s.All != nil {
							n, got := s.All()
							assert.Equal(t, live, n, "values that All saw")
							assert.Equal(t, sum, got, "identities that All saw")
						}
					})
				}
			})
		})
	}
}

func sideBySide(n int, do func(g int)) {
	var wg sync.WaitGroup
	for g := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			do(g)
		}()
	}
	wg.Wait()
}

// Sessions that replace each other's values look up stale names, but no removal fails: the
// session that swaps a name out of its place removes it.
func TestMixSideBySide(t *testing.T) {
	const sessions, live, n = 2, 16, 10_000
	stores(t, live, sessions, func(t *testing.T, p About, s Store) {
		if !p.Keys {
			t.Skip("names are not words")
		}
		w := s.Session()
		defer w.Close()
		shared := w.Names(live)
		w.Fill(shared, 1)
		sideBySide(sessions, func(g int) {
			w := s.Session()
			defer w.Close()
			r := rand.New(rand.NewPCG(uint64(g), 6))
			ops := make([]uint32, n)
			for i := range ops {
				ops[i] = r.Uint32N(2 * live)
			}
			_, _, failed := w.Mix(shared, ops, 1000)
			assert.Zero(t, failed)
		})
		_, failed := w.Empty(shared)
		require.Zero(t, failed, "the last name of a place is stale")
	})
}
