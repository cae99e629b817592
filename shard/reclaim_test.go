package shard_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
)

// TestReadyChainsWaitForAnEmptyList: a chain that needs no visit is spliced when the freelist
// is empty, and is ready before. Short chains, and those beyond a bound, are visited.
func TestReadyChainsWaitForAnEmptyList(t *testing.T) {
	const n = shard.SpliceLeast
	r := newRig[uint64](t, setup[uint64]{slots: (shard.ReadyMost + 4) * n})
	s := r.shards[0]
	hs := r.fill(t, s, (shard.ReadyMost+4)*n, number)
	some := func(n int) []uint64 { // removes them, and says what is handed out first
		next := hs[:n]
		hs = hs[n:]
		r.leave(t, s, next...)
		s.Reclaim(s)
		next = slices.Clone(next)
		slices.Reverse(next)
		return next
	}
	first := some(n)
	require.Zero(t, s.Ready(), "the freelist was empty")
	short := some(n - 1)
	require.Zero(t, s.Ready(), "pushed on top")
	var chains [][]uint64
	for k := range shard.ReadyMost {
		chains = append(chains, some(n))
		require.Equal(t, (k+1)*n, s.Ready())
	}
	more := some(n)
	require.Equal(t, shard.ReadyMost*n, s.Ready())
	require.Equal(t, (shard.ReadyMost+3)*n-1, s.Free())
	slices.Reverse(chains) // a stack gets what was removed last
	for _, want := range append([][]uint64{slices.Concat(more, short, first)}, chains...) {
		require.Equal(t, lows(want), drain(s))
		s.Reclaim(s)
	}
	require.Zero(t, s.Free())
}

// TestFewSlotsDoNotComeBackOneByOne: an insertion that finds no slot in its shard gets many, not
// only the one that was removed last. That one would be all there is for the next insertion.
func TestFewSlotsDoNotComeBackOneByOne(t *testing.T) {
	const n = shard.Batch
	pairs := func(r *rig[uint64], s *shard.Shard[uint64]) (searches int) {
		for range 32 * n {
			if s.Head() == shard.None {
				searches++
			}
			slot, h, err := s.Claim()
			require.NoError(t, err)
			live(slot, h, 1)
			require.True(t, s.Remove(h))
		}
		return searches
	}
	t.Run("ready", func(t *testing.T) {
		r := newRig[uint64](t, setup[uint64]{slots: 8 * n, memory: 4 * n})
		s := r.shards[0]
		hs := r.fill(t, s, 2*n+1, number)
		r.remove(t, s, hs[:2*n]...)
		require.Len(t, s.PopRun(n), n)
		require.Equal(t, n, s.Ready())
		r.remove(t, s, hs[2*n])
		require.Less(t, pairs(r, s), 64)
	})
	t.Run("others", func(t *testing.T) {
		r := newRig[uint64](t, setup[uint64]{slots: 4 * n, shards: 2})
		r.remove(t, r.shards[0], r.fill(t, r.shards[0], 4*n, number)...)
		require.Less(t, pairs(r, r.shards[1]), 8*n)
	})
}

// TestSlotsWithMemoryComeBeforeOthersLimbo: each look at what waits elsewhere might be in vain.
func TestSlotsWithMemoryComeBeforeOthersLimbo(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 2 * shard.Batch, shards: 2})
	r.leave(t, r.shards[1], r.fill(t, r.shards[1], shard.Batch, number)...)
	_, _, err := r.shards[0].Claim()
	require.NoError(t, err)
	require.Zero(t, r.shards[1].Seals())
}

// TestReclaimIsBounded reclaims a backlog by many calls, in order, and loses no slot. Chunks that
// are joined do not look older than they are, or each refusal would visit them.
func TestReclaimIsBounded(t *testing.T) {
	const n = 16*shard.ReclaimMost + 3
	for _, set := range []setup[*int]{{}, {fifo: true}, {exact: true}} {
		set.slots, set.zero = n, true
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, n, func(i int) *int { return &i })
		r.advance()
		g := r.arena.Domain.Pin()
		r.remove(t, s, hs[1:]...)
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrStalled)
		r.remove(t, s, hs[0])
		s.Goal()
		require.NotZero(t, s.Least())
		g.Unpin()
		calls := 0
		for more := true; more; calls++ {
			more = s.Reclaim(s)
			require.Equal(t, min(n, (calls+1)*shard.ReclaimMost), s.Free())
			require.Equal(t, n-s.Free(), s.Pending())
			done := s.Free() / shard.Batch
			if set.exact {
				done = min(done, shard.ChunksMost-1) // the last chunk has the rest
			}
			if more {
				require.EqualValues(t, done, s.Done())
			}
		}
		require.Equal(t, 17, calls)
		requireFinished(t, s)
	}
}

// TestRefusedInsertionKeepsTheOrder: what has passed and was not visited yet is not overtaken by
// slots of a chunk behind, of which a guard holds back a part.
func TestRefusedInsertionKeepsTheOrder(t *testing.T) {
	const n = shard.ReclaimMost + 40
	r := newRig[*int](t, setup[*int]{slots: n + 4, fifo: true, exact: true, zero: true})
	s := r.shards[0]
	hs := r.fill(t, s, n+4, func(i int) *int { return &i })
	r.leave(t, s, hs[:n]...)
	s.Goal()
	r.leave(t, s, hs[n:n+2]...)
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	r.leave(t, s, hs[n+2:]...)
	var got []uint32
	for h, err := r.arena.Decide(s, r.arena.Decisions()); err == nil; h, err = r.arena.Decide(s, r.arena.Decisions()) {
		if h != 0 {
			got = append(got, shard.Low(h))
		}
	}
	require.Equal(t, lows(hs[:n+2]), got)
}

// TestRefusedInsertionLooksBehind: slots that come late, behind one that waits for a guard,
// because a Worker had them in its bag or a Ref held them, keep their stamps. Other reclaimers
// stop at the one that waits. An insertion that would be refused finds all others, although
// another slot is parked, and no goal is reached before it should be.
func TestRefusedInsertionLooksBehind(t *testing.T) {
	for _, byRef := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 64, exact: true})
		s := r.shards[0]
		hs := r.fill(t, s, 64, number)
		parked, _ := r.arena.Hold(hs[4])
		r.remove(t, s, hs[4])
		s.Reclaim(nil)
		// Three that were removed before the first come behind it.
		m := r.arena.NewMagazine()
		var held []shard.Held[uint64]
		for _, h := range hs[1:4] {
			if !byRef {
				require.True(t, m.Remove(h))
				continue
			}
			k, _ := r.arena.Hold(h)
			held = append(held, k)
			r.remove(t, s, h)
			s.Reclaim(nil)
		}
		young := r.arena.Domain.Pin()
		r.remove(t, s, hs[0])
		m.Close(shard.Leave)
		for _, k := range held {
			r.arena.Drop(k)
		}
		goal := s.Goal()
		s.Reclaim(nil)
		require.Equal(t, 4, s.Pending())
		for range 3 {
			_, h, err := s.Claim()
			require.NoError(t, err)
			require.Contains(t, lows(hs[1:4]), shard.Low(h))
			require.Equal(t, 1, s.Pending())
			require.Less(t, s.Done(), goal, "the first one waits")
		}
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrStalled)
		young.Unpin()
		s.Reclaim(nil)
		requireFinished(t, s)
		r.arena.Drop(parked)
	}
}

// asked is a context that says when Wait asks it, having waited in vain.
type asked struct {
	context.Context
	waits chan struct{}
}

func (c asked) Err() error {
	select {
	case c.waits <- struct{}{}:
	default:
	}
	return nil
}

// TestWaitEndsWithWhatWasRemovedBefore: Wait returns when all that was removed before the call
// has been reclaimed in every shard. A hold does not delay it, nor do removals that come
// later, under a guard that is pinned later.
func TestWaitEndsWithWhatWasRemovedBefore(t *testing.T) {
	for _, exact := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 6, shards: 3, exact: exact})
		hs := r.fill(t, r.shards[0], 6, number)
		k, _ := r.arena.Hold(hs[5])
		early := r.arena.Domain.Pin()
		for i, h := range hs[3:] {
			r.leave(t, r.shards[i], h)
		}
		require.ErrorIs(t, r.arena.Wait(testkit.Done()), context.Canceled)
		ctx, done := asked{context.Background(), make(chan struct{}, 1)}, make(chan error, 1)
		go func() { done <- r.arena.Wait(ctx) }()
		soon(t, ctx.waits)
		late := r.arena.Domain.Pin()
		r.leave(t, r.shards[0], hs[0])
		early.Unpin()
		require.NoError(t, soon(t, done))
		require.Len(t, drain(r.shards[0]), 2, "they went home")
		late.Unpin()
		r.arena.Drop(k)
	}
}

// TestWaitLooksAtItsContext while it has more to reclaim than one call does.
func TestWaitLooksAtItsContext(t *testing.T) {
	const n = 2*shard.ReclaimMost + 1
	ctx, cancel := context.WithCancel(context.Background())
	r := newRig(t, setup[uint64]{slots: n, reset: func(*uint64) { cancel() }})
	r.leave(t, r.shards[0], r.fill(t, r.shards[0], n, number)...)
	require.ErrorIs(t, r.arena.Wait(ctx), context.Canceled)
	require.NoError(t, r.arena.Wait(context.Background()))
}

// TestLetGoIsBounded: LetGo reclaims all that has passed, also under a guard that holds back
// the rest.
func TestLetGoIsBounded(t *testing.T) {
	const n = 3*shard.ReclaimMost + 1
	r := newRig[uint64](t, setup[uint64]{slots: 2 * n, exact: true, shards: 2})
	hs := r.fill(t, r.shards[0], 2*n, number)
	early := r.arena.Domain.Pin()
	for i, h := range hs[:n] {
		r.remove(t, r.shards[i%2], h)
	}
	late := r.arena.Domain.Pin()
	for i, h := range hs[n:] {
		r.remove(t, r.shards[i%2], h)
	}
	early.Unpin()
	r.arena.LetGo()
	require.Equal(t, n, r.arena.Count().Free)
	late.Unpin()
	r.arena.LetGo()
	require.Equal(t, 2*n, r.arena.Count().Free)
}
