package command_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// stormed is a pool whose values are counted, by their ids.
type stormed struct {
	t        *testing.T
	p        *pool.Pool[value]
	buffers  []*buffer      // those that are applied
	wanted   []atomic.Int32 // 1 if a removal has begun, or its Buffer will be discarded
	resets   []atomic.Int32
	lastID   atomic.Int64
	recorded atomic.Int64 // in buffers that are applied
	inserted atomic.Int64
	ends     atomic.Int64 // removals begun of what was recorded
	removed  atomic.Int64 // by Applys and by others
}

// issued is a value that a goroutine has recorded.
type issued struct {
	h  handle
	id uint64
}

// record records an insertion in b. It returns false if the pool is full.
func (s *stormed) record(b *buffer) (v issued, ok bool) {
	_, err := b.InsertFunc(func(h handle, to *value) {
		v = issued{h, uint64(s.lastID.Add(1))}
		if to.number() != 0 {
			s.t.Errorf("the slot of %v holds value %d", h, to.number())
		}
		*to = valueOf(v.id)
	})
	if err != nil {
		if !errors.Is(err, pool.ErrFull) || v.id != 0 {
			s.t.Errorf("InsertFunc of value %d: %v", v.id, err)
		}
	}
	return v, err == nil
}

func (s *stormed) reset(v *value) {
	id := v.number()
	if id == torn || s.resets[id].Add(1) != 1 || s.wanted[id].Load() == 0 {
		s.t.Errorf("Reset of %+v; times: %d", *v, s.resets[v.id].Load())
	}
	*v = value{}
}

// run records, applies and discards. What it has inserted it removes: by any buffer,
// sometimes twice, or by the pool.
func (s *stormed) run(b *buffer, rnd *rand.Rand, steps int) {
	var mine []issued
	for range steps {
		switch what := rnd.IntN(8); {
		case what < 3:
			if v, ok := s.record(b); ok {
				s.recorded.Add(1)
				mine = append(mine, v)
			}
		case what == 3:
			s.apply(rnd)
		case what == 4:
			s.scrap(rnd)
		case len(mine) > 0:
			i := rnd.IntN(len(mine))
			s.remove(mine[i], rnd)
			mine = slices.Delete(mine, i, i+1)
		}
	}
}

func (s *stormed) remove(v issued, rnd *rand.Rand) {
	if is, ok := s.p.Get(v.h); ok && is.number() != v.id {
		s.t.Errorf("%v has value %d, want %d", v.h, is.number(), v.id)
	}
	s.wanted[v.id].Store(1)
	s.ends.Add(1)
	if rnd.IntN(8) == 0 && s.p.Remove(v.h) { // while it waits, it is not live
		s.removed.Add(1)
		return
	}
	for range 1 + rnd.IntN(5)/4 {
		s.buffers[rnd.IntN(len(s.buffers))].Remove(v.h)
	}
}

// apply applies all buffers in any order.
func (s *stormed) apply(rnd *rand.Rand) {
	bs := slices.Clone(s.buffers)
	rnd.Shuffle(len(bs), func(i, j int) { bs[i], bs[j] = bs[j], bs[i] })
	inserted, removed := command.Apply(bs...)
	s.inserted.Add(int64(inserted))
	s.removed.Add(int64(removed))
}

// scrap records insertions and discards them. Their removal finds nothing.
func (s *stormed) scrap(rnd *rand.Rand) {
	b, n := command.New(s.p), 0
	for range 1 + rnd.IntN(4) {
		if v, ok := s.record(b); ok {
			s.wanted[v.id].Store(1)
			s.buffers[rnd.IntN(len(s.buffers))].Remove(v.h)
			n++
		}
	}
	if got := b.Discard(); got != n {
		s.t.Errorf("Discard: %d, want %d", got, n)
	}
}

// TestStormAppliesOnce lets goroutines record, apply, discard and remove at once. Every
// command is done exactly once, and no slot is lost.
func TestStormAppliesOnce(t *testing.T) {
	for _, set := range []struct {
		name    string
		buffers int // goroutines share them
		opts    pool.Options[value]
	}{
		{"shared", 1, pool.Options[value]{}},
		{"own", 4, pool.Options[value]{}},
		{"tiny", 2, pool.Options[value]{Capacity: 24, Shards: 1}},
		{"bounded FIFO", 3, pool.Options[value]{Capacity: 64, Shards: 2, Reuse: pool.FIFO}},
	} {
		t.Run(set.name, func(t *testing.T) {
			const goroutines = 4
			steps := testkit.Long(10_000)
			ids := 4*goroutines*steps + 1 // at most four a step
			seed := testkit.Seed(t)
			random := func(k int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(k))) }
			s := &stormed{t: t, wanted: make([]atomic.Int32, ids), resets: make([]atomic.Int32, ids)}
			set.opts.Reset = s.reset
			s.p = pool.Must(&set.opts)
			for range set.buffers {
				s.buffers = append(s.buffers, command.New(s.p))
			}
			var wg sync.WaitGroup
			for k := range goroutines {
				wg.Add(1)
				go func() {
					defer wg.Done()
					s.run(s.buffers[k%len(s.buffers)], random(k), steps)
				}()
			}
			testkit.Within(t, wg.Wait)

			s.apply(random(goroutines))
			require.NotZero(t, s.removed.Load())
			require.Equal(t, s.recorded.Load(), s.inserted.Load(), "insertions recorded, and made")
			require.Equal(t, s.ends.Load(), s.removed.Load(), "removals begun, and made by Applys or others")
			require.EqualValues(t, s.inserted.Load()-s.removed.Load(), s.p.Len())
			for h, v := range s.p.All() {
				require.Zerof(t, s.wanted[v.number()].Swap(1), "%v is live, and its removal was recorded", h)
			}
			requireNoneLost(t, s.p)
			for id := range s.lastID.Load() {
				require.EqualValuesf(t, 1, s.resets[id+1].Load(), "Resets of value %d", id+1)
			}
		})
	}
}
