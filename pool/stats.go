package pool

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// The figures of a pool, as a struct, as a text and for log/slog. Package shard counts them (counts.go).

// Stats describes a pool at a moment. If other goroutines use the pool meanwhile, its figures may
// belong to slightly different moments, but those of slots are together at most Allocated.
type Stats struct {
	Live  int // slots with a live value
	Free  int // vacant slots that any goroutine may take
	Limbo int // removed slots that wait for guards or insertions

	Cached   int // vacant slots that open Workers keep
	Reserved int // slots of open Reservations
	Held     int // Refs that are not released; their slots count under Live or Limbo

	Workers int // open Workers

	// Dropped counts the Reservations and Workers that the garbage collector has closed; with the
	// build tag coatcheck_debug, also dropped Guards and Refs, which stay open.
	Dropped int

	// Inserted is how many values ever went live in this pool, and those that ReadFrom or Clone
	// brought. So Inserted - Live were removed. At rest it is exact. Otherwise it may be too low,
	// but never falls.
	Inserted uint64

	Exhausted int     // slots that have used up their generations
	Worn      float64 // which part of its generations the most used slot has used, 0 to 1

	// Allocated is the number of slots that have memory: at rest, Live + Free + Limbo + Cached +
	// Reserved + Exhausted.
	Allocated int
	Capacity  int   // the result of Cap
	Bytes     int64 // memory of the pool, without what values point to

	// MaxLimbo is the Limbo at which an insertion that needs new memory is refused.
	MaxLimbo int

	// Refused calls since New, by the error that they returned.
	RefusedFull, RefusedStalled, RefusedExhausted int

	// Waiting is how many calls wait for a slot now, Waited how many have since New, and WaitedFor
	// for how long together, with those that wait now or got none.
	Waiting, Waited int
	WaitedFor       time.Duration

	Pinned int // pinned guards, and calls and loops that hold a pin

	// PinAge is how long the oldest guard has been pinned, at least: the pool notices a pin only at
	// the next Stats or reclaiming. Use it in alarms.
	PinAge time.Duration

	// Epoch is the epoch in which the next guard begins. It is not a clock.
	Epoch     uint64
	OldestPin uint64 // how many epochs ago the oldest guard was pinned; 0 if none is
}

// Stats returns the figures of the pool. It reads every slot that has memory and follows the
// freelists, so call it for monitoring.
func (p *Pool[T]) Stats() Stats { return p.stats() }

func (c *core) stats() Stats {
	c.pages()
	n := c.arena.Count()
	st := Stats{
		Live: n.Live, Free: n.Free, Limbo: n.Limbo,
		Inserted:  uint64(n.Inserted),
		Reserved:  int(c.reserved.Load()),
		Held:      n.Refs,
		Workers:   int(c.workers.Load()),
		Dropped:   c.drops(),
		Exhausted: n.Exhausted,
		Worn:      n.Worn,
		Allocated: n.Allocated,
		Capacity:  c.capacity(),
		Bytes:     int64(unsafe.Sizeof(*c)) + n.Bytes + c.domain.Bytes(),
		MaxLimbo:  int(min(n.MaxLimbo, MaxCapacity)),
		Epoch:     c.domain.NextEpoch(),

		RefusedFull: int(n.Full), RefusedStalled: int(n.Stalled), RefusedExhausted: int(n.Spent),

		Waiting: n.Waiting, Waited: n.Waited, WaitedFor: n.WaitedFor,
	}
	st.Pinned, st.OldestPin, st.PinAge = c.pinned()
	left := st.Allocated - st.Live - st.Free - st.Limbo - st.Exhausted
	st.Reserved = max(0, min(st.Reserved, left))
	if st.Workers > 0 {
		// A Worker's slots are in no list that others can read. They are what is left.
		st.Cached = left - st.Reserved
	}
	return st
}

// pinned returns how many guards are pinned, how many epochs the oldest lies back, and its age.
func (c *core) pinned() (n int, oldest uint64, age time.Duration) {
	pins := c.domain.Scan()
	if pins.Count == 0 {
		return 0, 0, 0
	}
	oldest = c.domain.NextEpoch() - pins.Oldest // before Age, which ends the epoch
	return pins.Count, oldest, c.domain.Age(pins)
}

// String returns a line for people, without figures that are zero. It may change between versions.
func (s Stats) String() string {
	b := fmt.Appendf(nil, "%d live of %d slots", s.Live, s.Allocated)
	if s.Capacity < MaxCapacity {
		b = fmt.Appendf(b, " and at most %d", s.Capacity)
	}
	for _, f := range []struct {
		n    int
		kind string
	}{
		{s.Free, "free"}, {s.Limbo, "in limbo"}, {s.Cached, "in Workers"}, {s.Reserved, "reserved"}, {s.Exhausted, "exhausted"},
		{s.Workers, "open Workers"}, {s.Pinned, "pinned"}, {s.Held, "held"}, {s.Dropped, "dropped"},
		{s.RefusedFull, "refused as full"}, {s.RefusedStalled, "refused as stalled"}, {s.RefusedExhausted, "refused as exhausted"},
		{s.Waiting, "calls waiting"}, {s.Waited, "that have waited"},
	} {
		if f.n > 0 {
			b = fmt.Appendf(b, ", %d %s", f.n, f.kind)
		}
	}
	if s.WaitedFor > 0 {
		b = fmt.Appendf(b, ", for %v in all", s.WaitedFor)
	}
	if s.PinAge > 0 {
		b = fmt.Appendf(b, ", oldest pin %v or more ago", s.PinAge)
	}
	return string(b)
}

// String returns the pool's type and its Stats as a line for people. It costs what Stats costs.
func (p *Pool[T]) String() string { return fmt.Sprintf("%T: %v", p, p.Stats()) }

// LogValue implements [slog.LogValuer]. It returns a group of all figures.
func (s Stats) LogValue() slog.Value {
	var figures []slog.Attr
	for v, i := reflect.ValueOf(s), 0; i < v.NumField(); i++ {
		name := v.Type().Field(i).Name
		figures = append(figures, slog.Any(strings.ToLower(name[:1])+name[1:], v.Field(i).Interface()))
	}
	return slog.GroupValue(figures...)
}

// Len returns the number of live values. If other goroutines insert or remove meanwhile, each slot
// counts as it was at some moment of the call. Len reads every slot that has memory.
func (p *Pool[T]) Len() int { return p.count() }

func (c *core) count() int {
	c.pages()
	return c.arena.Table.Live()
}
