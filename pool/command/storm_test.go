package command_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

// ticket is the state of one value, by its id.
type ticket struct {
	h      atomic.Uint64
	wanted atomic.Bool // a removal of it has begun
	scrap  atomic.Bool // its Buffer is discarded or dropped
	resets atomic.Int32
}

// stormed is a pool in which every slot has one owner at a time: the value that was built
// there and not yet Reset. record takes the slot, reset gives it back.
type stormed struct {
	t        *testing.T
	p        *pool.Pool[value]
	roomy    bool                     // there is a slot for each insertion
	buffers  []*command.Buffer[value] // those that are applied
	tickets  []ticket                 // by id
	owners   []atomic.Uint64          // by index of the slot: an id
	lastID   atomic.Int64
	recorded atomic.Int64
	inserted atomic.Int64
	removed  atomic.Int64
	outside  atomic.Int64
	seen     atomic.Int64 // look-ups that found a value
	shown    [64]atomic.Uint64
	failed   atomic.Bool
}

func (s *stormed) errorf(format string, args ...any) {
	s.failed.Store(true)
	s.t.Errorf(format, args...)
}

// record builds a value in b and takes its slot. It returns nil if the pool is full.
func (s *stormed) record(b *command.Buffer[value], rnd *rand.Rand) *ticket {
	if s.roomy && rnd.IntN(2) == 0 {
		return s.recordValue(b)
	}
	var t *ticket
	h, err := b.InsertFunc(func(h handle, v *value) {
		id := uint64(s.lastID.Add(1))
		t = &s.tickets[id]
		if v.number() != 0 {
			s.errorf("the slot of %v holds value %d", h, v.number())
		}
		if !s.owners[h.Index()].CompareAndSwap(0, id) {
			s.errorf("the slot of %v is owned by value %d; want it for %d", h, s.owners[h.Index()].Load(), id)
		}
		t.h.Store(uint64(h))
		*v = valueOf(id)
	})
	switch {
	case err != nil:
		if !errors.Is(err, pool.ErrFull) {
			s.errorf("Insert: %v", err)
		}
		if t != nil {
			s.errorf("init was called, and InsertFunc returned %v", err)
		}
		runtime.Gosched() // a goroutine that is not running holds slots back
		return nil
	case uint64(h) != t.h.Load():
		s.errorf("Insert: %v; init was shown %v", h, handle(t.h.Load()))
	}
	return t
}

// recordValue is record by Insert. No other goroutine knows the handle, so the value
// cannot be removed before its slot is taken here.
func (s *stormed) recordValue(b *command.Buffer[value]) *ticket {
	id := uint64(s.lastID.Add(1))
	h, err := b.Insert(valueOf(id))
	if err != nil {
		s.errorf("Insert: %v", err)
		return nil
	}
	if !s.owners[h.Index()].CompareAndSwap(0, id) {
		s.errorf("the slot of %v is owned by value %d; want it for %d", h, s.owners[h.Index()].Load(), id)
	}
	s.tickets[id].h.Store(uint64(h))
	return &s.tickets[id]
}

// reset is the pool's Reset.
func (s *stormed) reset(v *value) {
	id := v.number()
	if id == 0 || id >= uint64(len(s.tickets)) {
		s.errorf("Reset of %+v", *v)
		return
	}
	t := &s.tickets[id]
	h := handle(t.h.Load())
	if !t.wanted.Load() && !t.scrap.Load() {
		s.errorf("%v was reclaimed, and nobody has removed it", h)
	}
	if n := t.resets.Add(1); n != 1 {
		s.errorf("%v was Reset %d times", h, n)
	}
	if !s.owners[h.Index()].CompareAndSwap(id, 0) {
		s.errorf("%v was Reset, and its slot is owned by value %d", h, s.owners[h.Index()].Load())
	}
	v.reset()
}

// recorder inserts, and removes what it has inserted: by its own buffer or another,
// sometimes twice, or by the pool.
func (s *stormed) recorder(b *command.Buffer[value], rnd *rand.Rand, rounds int) {
	var mine []*ticket
	remove := func() {
		i := rnd.IntN(len(mine))
		t := mine[i]
		mine[i] = mine[len(mine)-1]
		mine = mine[:len(mine)-1]
		h := handle(t.h.Load())
		if rnd.IntN(8) == 0 {
			// While it waits, it is not live.
			if t.wanted.Store(true); s.p.Remove(h) {
				s.outside.Add(1)
				return
			}
		}
		t.wanted.Store(true)
		s.buffers[rnd.IntN(len(s.buffers))].Remove(h)
		if rnd.IntN(4) == 0 {
			s.buffers[rnd.IntN(len(s.buffers))].Remove(h)
		}
	}
	for n := 0; n < rounds; {
		if t := s.record(b, rnd); t != nil {
			n++
			s.recorded.Add(1)
			mine = append(mine, t)
			s.shown[rnd.IntN(len(s.shown))].Store(t.h.Load())
		}
		for len(mine) > 16 || len(mine) > 0 && rnd.IntN(3) == 0 {
			remove()
		}
	}
	for len(mine) > 2 {
		remove() // a small pool needs the slots
	}
}

// apply applies all buffers in any order.
func (s *stormed) apply(rnd *rand.Rand) {
	bs := append([]*command.Buffer[value](nil), s.buffers...)
	rnd.Shuffle(len(bs), func(i, j int) { bs[i], bs[j] = bs[j], bs[i] })
	inserted, removed := command.Apply(bs...)
	s.inserted.Add(int64(inserted))
	s.removed.Add(int64(removed))
}

// scrap records insertions and discards them, or drops the Buffer.
func (s *stormed) scrap(rnd *rand.Rand) {
	b := command.New(s.p)
	var hs []handle
	for range 1 + rnd.IntN(4) {
		if t := s.record(b, rnd); t != nil {
			t.scrap.Store(true)
			h := handle(t.h.Load())
			hs = append(hs, h)
			s.buffers[rnd.IntN(len(s.buffers))].Remove(h) // finds nothing
		}
	}
	for _, h := range hs {
		if s.p.Contains(h) {
			s.errorf("%v is live, and was never applied", h)
		}
	}
	if n := b.Discard(); n != len(hs) {
		s.errorf("Discard: %d; want %d", n, len(hs))
	}
}

// read checks values under a guard.
func (s *stormed) read(rnd *rand.Rand) {
	g := s.p.Pin()
	defer g.Unpin()
	var ids [8]uint64
	var vs [8]*value
	for i := range vs {
		h := handle(s.shown[rnd.IntN(len(s.shown))].Load())
		if v, ok := g.Get(h); ok {
			vs[i], ids[i] = v, v.number()
			if id := ids[i]; id == 0 || id == torn || handle(s.tickets[id].h.Load()) != h {
				s.errorf("%v has value %d", h, ids[i])
			}
			s.seen.Add(1)
		}
	}
	runtime.Gosched()
	for i, v := range vs {
		if v != nil && v.number() != ids[i] {
			s.errorf("value %d became %d under a guard", ids[i], v.number())
		}
	}
}

// finish applies the rest and requires that every command was done exactly once.
func (s *stormed) finish(rnd *rand.Rand) {
	s.apply(rnd)
	require.False(s.t, s.failed.Load())
	require.Equal(s.t, s.recorded.Load(), s.inserted.Load(), "insertions recorded, and made")
	wanted := int64(0)
	for id := range s.tickets[:s.lastID.Load()+1] {
		t := &s.tickets[id]
		h := handle(t.h.Load())
		switch {
		case h == 0:
		case t.scrap.Load():
			require.Falsef(s.t, s.p.Contains(h), "%v was discarded", h)
		case t.wanted.Load():
			wanted++
			require.Falsef(s.t, s.p.Contains(h), "%v: a removal was lost", h)
		default:
			requireLive(s.t, s.p, h, uint64(id))
			t.wanted.Store(true) // requireNoneLost clears the pool
		}
	}
	require.Equal(s.t, wanted, s.removed.Load()+s.outside.Load(), "values removed by Applys and by others")
	requireNoneLost(s.t, s.p)
	for id := range s.tickets[:s.lastID.Load()+1] {
		t := &s.tickets[id]
		if h := handle(t.h.Load()); h != 0 {
			require.EqualValuesf(s.t, 1, t.resets.Load(), "times that %v was Reset", h)
		}
	}
	for i := range s.owners {
		require.Zerof(s.t, s.owners[i].Load(), "owner of slot %d", i)
	}
}

// TestStormAppliesOnce lets goroutines record, apply, discard, read and remove at once.
// Every command is done exactly once, no slot is owned twice or lost, and nothing changes
// under a guard.
func TestStormAppliesOnce(t *testing.T) {
	for _, set := range []struct {
		name    string
		buffers int // recorders share them
		opts    pool.Options[value]
	}{
		{"shared", 1, pool.Options[value]{}},
		{"own", 4, pool.Options[value]{}},
		{"tiny", 2, pool.Options[value]{Capacity: 24, Shards: 1}},
		{"bounded FIFO", 3, pool.Options[value]{Capacity: 64, Shards: 2, Reuse: pool.FIFO}},
	} {
		t.Run(set.name, func(t *testing.T) {
			const recorders = 4
			rounds := long(2500)
			seed := newSeed(t)
			s := &stormed{t: t, tickets: make([]ticket, 2*recorders*rounds+1), owners: make([]atomic.Uint64, 1<<16)}
			o := set.opts
			o.Reset = s.reset
			p, err := pool.New(&o)
			require.NoError(t, err)
			s.p, s.roomy = p, o.Capacity == 0
			for range set.buffers {
				s.buffers = append(s.buffers, command.New(p))
			}
			var recording, others, ready sync.WaitGroup
			var over atomic.Bool
			ready.Add(4)
			for k := range recorders {
				recording.Add(1)
				go func() {
					defer recording.Done()
					ready.Wait()
					s.recorder(s.buffers[k%len(s.buffers)], rand.New(rand.NewPCG(seed, uint64(k))), rounds)
				}()
			}
			turns := [3]atomic.Int64{}
			for k, turn := range []func(*rand.Rand){s.apply, s.apply, s.scrap, s.read} {
				others.Add(1)
				go func() {
					defer others.Done()
					rnd := rand.New(rand.NewPCG(seed, 100+uint64(k)))
					// The recorders need half of the ids.
					for i := 0; (i < 2 || !over.Load()) && (k != 2 || i < rounds/2); i++ { // twice, even if the recorders are done
						turn(rnd)
						turns[max(k-1, 0)].Add(1)
						if i == 0 {
							ready.Done()
						}
						runtime.Gosched()
					}
				}()
			}
			within(t, func() {
				recording.Wait()
				over.Store(true)
				others.Wait()
			})
			s.finish(rand.New(rand.NewPCG(seed, 999)))
			t.Logf("%d inserted, %d removed by %d Applys, %d by others; %d discards; %d values seen by %d readers",
				s.inserted.Load(), s.removed.Load(), turns[0].Load(), s.outside.Load(), turns[1].Load(), s.seen.Load(), turns[2].Load())
			assert.EqualValues(t, recorders*rounds, s.inserted.Load())
			assert.Greater(t, s.removed.Load(), s.inserted.Load()/2)
			assert.Greater(t, turns[0].Load(), int64(2))
		})
	}
}

// TestSharedBufferKeepsEachRecordersOrder: each goroutine's commands stay in the order of
// recording.
func TestSharedBufferKeepsEachRecordersOrder(t *testing.T) {
	const goroutines = 4
	n := long(3000)
	p := pool.Must[value](nil)
	b := command.New(p)
	var wg sync.WaitGroup
	for k := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range n {
				h, err := b.Insert(valueOf(uint64(k*n + i)))
				assert.NoError(t, err)
				b.Remove(h)
			}
		}()
	}
	wg.Wait()
	requireLen(t, b, goroutines*n, goroutines*n)
	next := make([]int, goroutines)
	at := map[handle]uint64{}
	for h, v := range b.Insertions() {
		k, i := int(v.id)/n, int(v.id)%n
		require.Equal(t, next[k], i, "of recorder %d", k)
		next[k]++
		at[h] = v.id
	}
	clear(next)
	for h := range b.Removals() {
		k, i := int(at[h])/n, int(at[h])%n
		require.Equal(t, next[k], i, "of recorder %d", k)
		next[k]++
	}
	requireApplied(t, goroutines*n, goroutines*n, b)
	requireNoneLost(t, p)
}
