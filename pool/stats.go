package pool

import (
	"context"
	"unsafe"

	"coatcheck/epoch"
	"coatcheck/shard"
)

// Stats describes a pool at a moment. Each figure is exact when nobody changes
// anything; otherwise they may belong to slightly different moments.
type Stats struct {
	Live  int // slots with a live value
	Free  int // vacant slots that any Insert may take
	Limbo int // removed slots that wait for their grace period, or for Refs

	Cached   int // free slots in the reach of open Workers
	Reserved int // slots of open Reservations
	Held     int // Refs that were not released, dropped ones included; their slots count under Live or Limbo

	Workers int // open Workers
	Dropped int // Reservations and Workers that were dropped, ever, and that the garbage collector gave back

	Exhausted int // slots retired for good because their generations are used up

	// Allocated is how many slots memory is held for: Live + Free + Limbo +
	// Cached + Reserved + Exhausted when nobody changes anything.
	Allocated int
	Bytes     int64 // memory of the pool, without what values point to

	Epoch     uint64
	Pinned    int    // guards pinned now, those of calls and loops under way included
	OldestPin uint64 // how many epochs the oldest one lies back; 0 when none does
}

// Stats looks at every slot that has memory and follows the freelists: it is for
// monitoring, not for every request.
func (p *Pool[T]) Stats() Stats {
	st := Stats{
		Live:      p.Len(),
		Reserved:  int(p.reserved.Load()),
		Workers:   int(p.workers.Load()),
		Dropped:   int(p.collected.Load()),
		Limbo:     p.pending(),
		Held:      int(p.space.Refs.Load()),
		Exhausted: int(p.space.Exhausted.Load()),
		Allocated: p.resident(),
		Bytes:     p.bytes(),
		Epoch:     p.domain.Epoch(),
	}
	st.Pinned, st.OldestPin = p.domain.Pinned()
	st.Free = int(p.space.Table.Unused())
	for i := range p.shards {
		st.Free += p.shards[i].Free()
	}
	if p.workers.Load() > 0 {
		// A Worker's slots are in nobody's list, and it counts them for itself
		// alone. They are what is left.
		st.Cached = max(0, st.Allocated-st.Live-st.Free-st.Limbo-st.Reserved-st.Exhausted)
	}
	return st
}

// resident returns how many slots have memory.
func (p *Pool[T]) resident() int {
	p.pages()
	return p.space.Table.Resident()
}

func (p *Pool[T]) bytes() int64 {
	return int64(unsafe.Sizeof(*p)) +
		int64(len(p.shards))*int64(unsafe.Sizeof(shard.Shard[T]{})) +
		p.space.Table.Bytes() + p.domain.Bytes()
}

// Synchronize returns once everything that was removed before the call has been
// reclaimed: zeroed or Reset, and free. It waits for the guards that were pinned
// when it was called, and may wait for later ones; under a guard of one's own,
// or from a Reset, it only ends with ctx. It does not wait for what open Workers
// and Refs keep. With nothing to wait for it returns nil, even if ctx is done.
func (p *Pool[T]) Synchronize(ctx context.Context) error {
	p.pages()
	for i := range p.shards {
		p.shards[i].Reclaim(&p.shards[i], shard.Wait) // seals, so that all grace periods run at once
	}
	// One shard after the other. Each goal is set late, and so covers what was
	// removed before the call all the more.
	for i := range p.shards {
		s := &p.shards[i]
		goal := s.Goal()
		err := epoch.Wait(ctx, func() bool {
			for more := s.Done() < goal; more; {
				_, more = s.Reclaim(s, shard.Wait)
				more = more && s.Done() < goal
			}
			return s.Done() >= goal
		})
		if err != nil {
			return err
		}
		// All these slots have been taken. Others may yet call Reset for some.
		goal = s.ResetsGoal()
		err = epoch.Wait(ctx, func() bool {
			if s.ResetsDone(goal) {
				return true
			}
			s.Reclaim(s, shard.Known) // lets the phase end
			return s.ResetsDone(goal)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
