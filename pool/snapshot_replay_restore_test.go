//go:build !race

package pool_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// save is what a program does where it may save: nothing, or it writes a snapshot, or goes on in a
// copy.
type save func(*testing.T, *pool.Pool[*int], *pool.Options[*int]) *pool.Pool[*int]

var saves = map[string]save{
	"no snapshots": func(_ *testing.T, p *pool.Pool[*int], _ *pool.Options[*int]) *pool.Pool[*int] { return p },
	"snapshots": func(t *testing.T, p *pool.Pool[*int], _ *pool.Options[*int]) *pool.Pool[*int] {
		_, err := p.WriteTo(io.Discard)
		require.NoError(t, err)
		return p
	},
	"copies": func(t *testing.T, p *pool.Pool[*int], o *pool.Options[*int]) *pool.Pool[*int] {
		c, err := pool.ReadTiny(bytes.NewReader(testkit.Written(t, p)), o, 8)
		require.NoError(t, err)
		require.Equal(t, p.Len(), c.Len())
		mispredict(t, p)
		return c
	},
	"copies of what was mispredicted": func(t *testing.T, p *pool.Pool[*int], o *pool.Options[*int]) *pool.Pool[*int] {
		snapshot := testkit.Written(t, p)
		mispredict(t, p)
		c, err := pool.ReadTiny(bytes.NewReader(snapshot), o, 8)
		require.NoError(t, err)
		return c
	},
}

// clones are copies in memory: as they are, by a user's function, and of what was mispredicted, which is taken back.
func init() {
	for name, copyValue := range map[string]func(dst, src **int){"plain": nil, "by a function": func(dst, src **int) { *dst = *src }} {
		clone := func(t *testing.T, p *pool.Pool[*int], o *pool.Options[*int]) *pool.Pool[*int] {
			c, err := pool.CloneTiny(p, o, copyValue, 8)
			require.NoError(t, err)
			require.Equal(t, p.Len(), c.Len())
			return c
		}
		saves["clones, "+name] = func(t *testing.T, p *pool.Pool[*int], o *pool.Options[*int]) *pool.Pool[*int] {
			mispredict(t, clone(t, p, o))
			return p
		}
		saves["roll back, "+name] = func(t *testing.T, p *pool.Pool[*int], o *pool.Options[*int]) *pool.Pool[*int] {
			c := clone(t, p, o)
			mispredict(t, p)
			return c
		}
	}
}

// mispredict uses a pool that is given up afterwards.
func mispredict(t *testing.T, p *pool.Pool[*int]) {
	for i := range 100 {
		h, err := p.Insert(nil)
		if err != nil {
			require.ErrorIs(t, err, pool.ErrFull)
			break
		}
		if i%3 == 0 {
			p.Remove(h)
		}
	}
}

// runSaved is runReplay for a program that may save now and then. Unless anytime is true, nothing
// is pinned then, and it has no Worker. It returns the handles that it was given, and its errors.
func runSaved(t *testing.T, o pool.Options[*int], seed uint64, calls int, anytime bool, at save) []result {
	r := newReplayed(t, &o, seed)
	for range calls {
		r.step()
		if anytime && r.rnd.IntN(3) == 0 {
			at(t, r.p, &o)
		} else if anytime {
			continue
		} else if r.rnd.IntN(10) == 0 {
			r.end()
			if r.rnd.IntN(3) == 0 { // more than a round visits
				hs := r.take(1000)
				require.Equal(t, len(hs), r.p.RemoveBatch(hs))
			}
			r.p = at(t, r.p, &o)
			r.w = r.p.Worker()
		}
	}
	for k := range r.log {
		if r.log[k].call == "Trim" {
			r.log[k].n = 0 // bytes
		}
	}
	r.end()
	testkit.RequireConserved(t, r.p)
	return r.log
}

// With Origin and one shard, a pool that was restored from a snapshot issues the handles that the
// original would, whatever was mispredicted meanwhile, and wherever removed slots are.
func TestRestoredReplayGoesOn(t *testing.T) {
	sameWhateverIsSaved(t, false, "snapshots", "copies", "copies of what was mispredicted",
		"roll back, plain", "roll back, by a function")
}

// Nor does it change a replay that snapshots are written or clones made, also while guards are pinned, and a Worker
// has slots.
func TestSnapshotsDoNotChangeAReplay(t *testing.T) {
	sameWhateverIsSaved(t, true, "snapshots", "clones, plain", "clones, by a function")
}

// Small batches are joined if no guard was pinned between their removals. Then they pass as one, which decides the order
// of reuse where values need no cleaning. A snapshot or a clone in between is no pin.
func TestSnapshotsDoNotPartBatches(t *testing.T) {
	const first, small = 200, 20 // slots: what waits is sealed when the pool grows, if it is many
	o := &pool.Options[int]{Origin: 1, Shards: 1}
	reused := func(save func(p *pool.Pool[int]) error) []pool.Handle[int] {
		p := tiny8(t, o)
		hs := testkit.Fill(t, p, 400, testkit.Number)
		g := p.Pin()
		for _, n := range []int{first, small, small} {
			require.NoError(t, save(p))
			for _, h := range hs[:n] {
				require.True(t, p.Remove(h), "the value should be live")
			}
			hs = hs[n:]
			for had := p.Stats().Allocated; p.Stats().Allocated == had; {
				testkit.MustInsert(t, p, 0)
			}
		}
		g.Unpin()
		return testkit.Fill(t, p, 300, testkit.Number)
	}
	clone := func(p *pool.Pool[int], copyValue func(dst, src *int)) error {
		_, err := pool.CloneTiny(p, o, copyValue, 8)
		return err
	}
	want := reused(func(*pool.Pool[int]) error { return nil })
	for name, save := range map[string]func(p *pool.Pool[int]) error{
		"snapshots":             func(p *pool.Pool[int]) error { _, err := p.WriteTo(io.Discard); return err },
		"clones, plain":         func(p *pool.Pool[int]) error { return clone(p, nil) },
		"clones, by a function": func(p *pool.Pool[int]) error { return clone(p, func(dst, src *int) { *dst = *src }) },
	} {
		require.Equal(t, want, reused(save), name)
	}
}

func sameWhateverIsSaved(t *testing.T, anytime bool, hows ...string) {
	calls := 100 + testkit.Long(2000)
	for _, o := range []pool.Options[*int]{
		{}, {Capacity: 2000}, {Capacity: 300}, {MaxLimbo: 300}, {MaxLimbo: 5000}, {Capacity: 2000, Preallocate: true}, {Reset: resetPointer},
		{Capacity: 2000, Reset: resetPointer}, {Origin: testkit.LastGeneration - 10}, {Capacity: 300, Origin: testkit.LastGeneration - 10},
		{OnInsert: ignore, OnRemove: ignore}, {Capacity: 2000, OnInsert: ignore, OnRemove: ignore},
	} {
		o.Origin, o.Shards = max(o.Origin, 1), 1
		for _, o.Reuse = range testkit.Reuses {
			t.Run(describe(&o), func(t *testing.T) {
				rnd := testkit.Rand(t)
				for range testkit.Long(8) {
					seed := rnd.Uint64()
					want := runSaved(t, o, seed, calls, anytime, saves["no snapshots"])
					require.Greater(t, len(want), calls, "the calls did hardly anything")
					for _, how := range hows {
						requireSame(t, want, runSaved(t, o, seed, calls, anytime, saves[how]), how, seed)
					}
				}
			})
		}
	}
}

// A Worker has given back more than one round of reclaiming visits, and the guard of another time
// delayed them: the copy goes on in the middle of that.
func TestRestoreWithinRounds(t *testing.T) {
	o := &pool.Options[*int]{Origin: 1, Shards: 1, MaxLimbo: 100_000}
	p := pool.Must(o)
	w := p.Worker()
	hs := testkit.Fill(t, p, 6000, func(int) *int { return nil })
	for range 8 { // it keeps as many as go round in it
		for k, h := range hs[:3000] {
			require.True(t, w.Remove(h), "the value should be live")
			hs[k] = 0
		}
		for k := range hs[:3000] {
			h, err := w.Insert(nil)
			require.NoError(t, err)
			hs[k] = h
		}
	}
	g := p.Pin()
	for _, h := range hs[:3000] {
		require.True(t, w.Remove(h), "the value should be live")
	}
	w.Close()
	require.Equal(t, 100, p.RemoveBatch(hs[3000:3100])) // which begins with a round
	g.Unpin()
	c := mustRead(t, testkit.Written(t, p), o)
	requireConserved(t, p, c)
	for k := range 8000 {
		h, again := testkit.MustInsert(t, p, nil), testkit.MustInsert(t, c, nil)
		if h != again {
			require.Equal(t, h, again, "insertion %d", k)
		}
		if k%3 == 0 {
			require.True(t, p.Remove(h), "the value should be live")
			require.True(t, c.Remove(h), "the value should be live")
		}
	}
	requireConserved(t, p, c)
}

// requireConserved requires that two pools have the same numbers of slots, none of which is lost.
func requireConserved[T any](t *testing.T, p, c *pool.Pool[T]) {
	t.Helper()
	a, b := testkit.RequireConserved(t, p), testkit.RequireConserved(t, c)
	require.Equal(t, []int{a.Live, a.Free, a.Limbo, a.Exhausted}, []int{b.Live, b.Free, b.Limbo, b.Exhausted})
}

// TestRestoredReplayJoinsAsTheOriginal: where batches of many stamps wait behind a guard, a copy joins
// them when the original does, and so issues the same handles.
func TestRestoredReplayJoinsAsTheOriginal(t *testing.T) {
	for removals := 64; removals <= 260; removals++ {
		opts := &pool.Options[uint64]{Origin: 1, Shards: 1, Capacity: 400}
		p := pool.Must(opts)
		hs := testkit.Fill(t, p, removals, func(i int) uint64 { return uint64(i) })
		guards := make([]pool.Guard[uint64], removals)
		for k, h := range hs {
			guards[k] = p.Pin() // so that each removal has a stamp of its own, and no batch is joined
			require.True(t, p.Remove(h), "the value should be live")
		}
		for k := range guards {
			guards[k].Unpin()
		}
		c := mustRead(t, testkit.Written(t, p), opts)
		for n := range 400 {
			h, err := p.Insert(1)
			other, otherErr := c.Insert(1)
			require.Equal(t, h, other, "%d removals, insertion %d", removals, n)
			require.Equal(t, err == nil, otherErr == nil)
		}
	}
}

// TestCopiesHaveTheMemoryThatWasMadeAhead: a copy of a pool that replays has each page that Grow has made, also the
// last one.
func TestCopiesHaveTheMemoryThatWasMadeAhead(t *testing.T) {
	opts := &pool.Options[[8192]byte]{Origin: 1, Shards: 1} // units of a slot
	for n := range 70 {
		p := pool.Must(opts)
		testkit.MustInsert(t, p, [8192]byte{})
		p.Grow(n)
		require.Equal(t, p.Stats().Allocated, mustRead(t, testkit.Written(t, p), opts).Stats().Allocated, "after Grow(%d)", n)
	}
}

// TestRestoredReplayPaysAsTheOriginal: beside many guards scans and joins must be paid for. A copy knows what
// was paid, and how many guards there were, and so reclaims when the original does.
func TestRestoredReplayPaysAsTheOriginal(t *testing.T) {
	rnd := testkit.Rand(t)
	seeds := []uint64{1, 16} // each finds another number that a snapshot lacks
	for range testkit.LongAlone(200) {
		seeds = append(seeds, rnd.Uint64())
	}
	for _, seed := range seeds {
		opts := pool.Options[uint64]{Origin: 1, Shards: 1}
		switch seed % 3 {
		case 1:
			opts.Capacity = 8000
		case 2:
			opts.MaxLimbo = 8000
		}
		first := &paying{T: t, p: pool.Must(&opts), rnd: rand.New(rand.NewPCG(seed, 0))}
		first.hs = testkit.Fill(t, first.p, 500, func(i int) uint64 { return uint64(i) })
		first.steps(20)
		first.unpin(len(first.guards))
		p := first.p
		c := mustRead(t, testkit.Written(t, p), &opts)
		var logs [2][]pool.Handle[uint64]
		for k, p := range []*pool.Pool[uint64]{p, c} {
			next := &paying{T: t, p: p, rnd: rand.New(rand.NewPCG(seed, 1)), hs: slices.Clone(first.hs)}
			next.steps(20)
			next.unpin(len(next.guards))
			logs[k] = next.log
		}
		for n, want := range logs[0] {
			if got := logs[1][n]; got != want { // the whole is long
				require.Equal(t, want, got, "seed %d, insertion %d", seed, n)
			}
		}
	}
}

// paying replaces values beside guards that come and go.
type paying struct {
	*testing.T
	p      *pool.Pool[uint64]
	rnd    *rand.Rand
	hs     []pool.Handle[uint64]
	guards []pool.Guard[uint64]
	log    []pool.Handle[uint64]
}

func (y *paying) unpin(n int) {
	for i := range n {
		y.guards[i].Unpin()
	}
	y.guards = y.guards[n:]
}

func (y *paying) steps(n int) {
	for range n {
		switch some := 1 << y.rnd.IntN(10); y.rnd.IntN(4) {
		case 0:
			for range some {
				y.guards = append(y.guards, y.p.Pin())
			}
		case 1:
			y.unpin(min(some, len(y.guards)))
		default:
			apart := y.rnd.IntN(2) == 0
			for range 4 * some {
				if apart {
					g := y.p.Pin()
					g.Unpin()
				}
				k := y.rnd.IntN(len(y.hs))
				require.True(y, y.p.Remove(y.hs[k]), "the value should be live")
				h, err := y.p.Insert(0)
				if err != nil {
					y.unpin(len(y.guards))
					h = testkit.MustInsert(y, y.p, 0)
				}
				y.hs[k] = h
				y.log = append(y.log, h)
			}
		}
	}
}

// TestLongOrdersTakeSeveralRecords: an order of more than a record has, of many slots that are vacant in a drawn order,
// comes back whole.
func TestLongOrdersTakeSeveralRecords(t *testing.T) {
	const n, some = 150_000, 1000
	p := pool.Must(&pool.Options[int]{Origin: 7, Shards: 1})
	hs := testkit.Fill(t, p, n, testkit.Number)
	rand.New(rand.NewPCG(7, 0)).Shuffle(n, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	p.RemoveBatch(hs)
	file := testkit.Written(t, p)
	require.Less(t, len(file), 8*n, "each slot is written once")
	copied, err := pool.ReadFrom[int](bytes.NewReader(file), &pool.Options[int]{Origin: 7, Shards: 1})
	require.NoError(t, err)
	require.Equal(t, testkit.Fill(t, p, some, testkit.Number), testkit.Fill(t, copied, some, testkit.Number))
}
