package pool

import (
	"context"
	"log/slog"
	"unsafe"
)

// Stats describes a pool at a moment. Each figure is exact when nobody changes
// anything; otherwise they may belong to slightly different moments.
//
// Its fields are what encoding/json and expvar show. Package poolhttp has a page of
// them for people.
type Stats struct {
	Live  int // slots with a live value
	Free  int // vacant slots that any Insert may take
	Limbo int // removed slots that wait for their grace period, or for Refs

	Cached   int // free slots in the reach of open Workers
	Reserved int // slots of open Reservations
	Held     int // Refs that were not released, dropped ones included; their slots count under Live or Limbo

	Workers int // open Workers
	Dropped int // Reservations and Workers that were dropped, ever, and that the garbage collector gave back

	Exhausted int     // slots retired for good because their generations are used up
	Worn      float64 // share of its generations that the most worn slot has used up, 1 at the end

	// Allocated is how many slots memory is held for: Live + Free + Limbo +
	// Cached + Reserved + Exhausted when nobody changes anything.
	Allocated int
	Capacity  int   // what Cap returns
	Bytes     int64 // memory of the pool, without what values point to

	Epoch     uint64
	Pinned    int    // guards pinned now, those of calls and loops under way included
	OldestPin uint64 // how many epochs the oldest one lies back; 0 when none does
}

// Stats looks at every slot that has memory and follows the freelists: it is for
// monitoring, not for every request.
func (p *Pool[T]) Stats() Stats {
	p.pages()
	c := p.arena.Count()
	st := Stats{
		Live: c.Live, Free: c.Free, Limbo: c.Limbo,
		Reserved:  int(p.reserved.Load()),
		Held:      c.Held,
		Workers:   int(p.workers.Load()),
		Dropped:   int(p.collected.Load()),
		Exhausted: c.Exhausted,
		Worn:      c.Worn,
		Allocated: c.Allocated,
		Capacity:  p.Cap(),
		Bytes:     int64(unsafe.Sizeof(*p)) + c.Bytes + p.domain.Bytes(),
		Epoch:     p.domain.Epoch(),
	}
	st.Pinned, st.OldestPin = p.domain.Pinned()
	if st.Workers > 0 {
		// A Worker's slots are in nobody's list, and it counts them for itself
		// alone. They are what is left.
		st.Cached = max(0, st.Allocated-st.Live-st.Free-st.Limbo-st.Reserved-st.Exhausted)
	}
	return st
}

// LogValue implements [slog.LogValuer]: a group of all figures.
func (s Stats) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Int("live", s.Live),
		slog.Int("free", s.Free),
		slog.Int("limbo", s.Limbo),
		slog.Int("cached", s.Cached),
		slog.Int("reserved", s.Reserved),
		slog.Int("held", s.Held),
		slog.Int("workers", s.Workers),
		slog.Int("dropped", s.Dropped),
		slog.Int("exhausted", s.Exhausted),
		slog.Float64("worn", s.Worn),
		slog.Int("allocated", s.Allocated),
		slog.Int("capacity", s.Capacity),
		slog.Int64("bytes", s.Bytes),
		slog.Uint64("epoch", s.Epoch),
		slog.Int("pinned", s.Pinned),
		slog.Uint64("oldestPin", s.OldestPin),
	)
}

// Synchronize returns once everything that was removed before the call has been
// reclaimed: zeroed or Reset, and free. It waits for the guards that were pinned
// when it was called, and may wait for later ones; under a guard of one's own,
// or from a Reset, it only ends with ctx. It does not wait for what open Workers
// and Refs keep. With nothing to wait for it returns nil, even if ctx is done.
func (p *Pool[T]) Synchronize(ctx context.Context) error {
	p.pages()
	return p.arena.Wait(ctx)
}
