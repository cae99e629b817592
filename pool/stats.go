package pool

import (
	"log/slog"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// Stats describes a pool at a moment. If other goroutines use the pool meanwhile, its figures
// may belong to slightly different moments. Packages encoding/json and expvar show its fields.
//
// Insertions and removals are not counted: each would have to write one word more.
type Stats struct {
	Live  int // slots with a live value
	Free  int // vacant slots in the pool's lists, or never used
	Limbo int // removed slots that are not reclaimed yet, or wait for Refs

	Cached   int // vacant slots that open Workers keep
	Reserved int // slots of open Reservations
	Held     int // Refs that are not released; their slots count under Live or Limbo

	Workers int // open Workers
	Dropped int // Reservations and Workers that the garbage collector closed, since New;
	// with the build tag coatcheck_debug also Guards and Refs that it found, which stay open

	Exhausted int     // slots that have used up their generations
	Worn      float64 // used part of its generations, 0 to 1, of the slot that has used most

	// Allocated is the number of slots that have memory: Live + Free + Limbo + Cached +
	// Reserved + Exhausted, if no other goroutine uses the pool.
	Allocated int
	Capacity  int   // the result of Cap
	Bytes     int64 // memory of the pool, without what values point to

	// MaxLimbo is the Limbo at which an insertion that needs new memory is refused:
	// Options.MaxLimbo, or its default for what is live, or the Capacity if that is less.
	MaxLimbo int

	// Calls that were refused since New, by their error. An InsertWait counts once, if it
	// returns such an error.
	RefusedFull, RefusedStalled, RefusedExhausted int

	// Epoch is the epoch in which a guard would begin if it were pinned now. An epoch passes when
	// a guard is pinned after removed slots were sealed. So a forgotten guard has the age 1,
	// however long it is pinned, if no other guard is.
	Epoch     uint64
	Pinned    int    // pinned guards, and calls and loops that hold a pin
	OldestPin uint64 // age of the oldest pin, in epochs; 0 if there is none

	// PinAge is how long the oldest pin has lasted, at least; 0 if there is none. A pin reads
	// no clock, so that its age counts from the first look at it: by Stats, or when the first
	// batch of slots is removed that it delays, mostly of 64.
	PinAge time.Duration
}

// Stats returns the figures of the pool. It reads every slot that has memory and follows the
// freelists, so it is for monitoring, not for every request.
func (p *Pool[T]) Stats() Stats {
	p.pages()
	c := p.arena.Count()
	st := Stats{
		Live: c.Live, Free: c.Free, Limbo: c.Limbo,
		Reserved:  int(p.reserved.Load()),
		Held:      c.Held,
		Workers:   int(p.workers.Load()),
		Dropped:   p.drops(),
		Exhausted: c.Exhausted,
		Worn:      c.Worn,
		Allocated: c.Allocated,
		Capacity:  p.Cap(),
		Bytes:     int64(unsafe.Sizeof(*p)) + c.Bytes + p.domain.Bytes(),
		MaxLimbo:  int(min(c.MaxLimbo, MaxCapacity)),
		Epoch:     p.domain.Next(),

		RefusedFull: int(c.Full), RefusedStalled: int(c.Stalled), RefusedExhausted: int(c.Spent),
	}
	st.Pinned, st.OldestPin, st.PinAge = p.pinned()
	if st.Workers > 0 {
		// A Worker's slots are in no list that others can read. They are what is left.
		st.Cached = max(0, st.Allocated-st.Live-st.Free-st.Limbo-st.Reserved-st.Exhausted)
	}
	return st
}

// pinned returns how many guards are pinned, how many epochs the oldest lies back, and its age.
func (p *Pool[T]) pinned() (n int, oldest uint64, age time.Duration) {
	pins := p.domain.Scan()
	if pins.Count == 0 {
		return 0, 0, 0
	}
	oldest = p.domain.Next() - pins.Oldest // before Age, which ends the epoch
	return pins.Count, oldest, p.domain.Age(pins)
}

// LogValue implements [slog.LogValuer]. It returns a group of all figures.
func (s Stats) LogValue() slog.Value {
	var figures []slog.Attr
	for v, i := reflect.ValueOf(s), 0; i < v.NumField(); i++ {
		name := v.Type().Field(i).Name
		figures = append(figures, slog.Any(strings.ToLower(name[:1])+name[1:], v.Field(i).Interface()))
	}
	return slog.GroupValue(figures...)
}

// Len returns the number of live values. If other goroutines insert or remove meanwhile,
// each slot counts as it was at some moment of the call. Len reads every slot that has
// memory, so that no other operation has to count.
func (p *Pool[T]) Len() int {
	p.pages()
	live, _ := p.arena.Survey()
	return live
}
