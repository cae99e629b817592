package dense

import (
	"fmt"
	"math/rand/v2"

	"coatcheck/internal/atom"
	"coatcheck/internal/handle"
	"coatcheck/pool"
)

// Store keeps values of type T contiguous and names each by a handle.
//
// During a phase any number of goroutines may call Create, Kill, Get, Alive, State,
// Values, Handles, All, Len and the other questions; Refresh, Clear, Reserve, Trim and
// WriteTo must each have the Store to themselves, and a call that overlaps one of them panics.
//
// Make one with [New] or [Must]; the zero Store panics. It must not be copied. It needs
// no closing: one that is no longer referred to is collected whole.
type Store[T any] struct {
	phase phase

	// room is where the values are.
	//
	//	writers  whoever has the Store alone
	//	readers  every call
	//	orders   the store publishes the new room's slices, whole
	room atom.Pointer[room[T]]

	// The plain fields are written by whoever has the Store alone, and read by calls.
	alive     int    // how many values Values has
	fresh     int    // positions from here on have never had a handle, see slot
	exhausted int    // slots that have used up their generations
	limit     uint64 // no position is greater or equal: Cap, less what is exhausted
	first     uint32 // the first generation of a slot
	least     int    // how many values the first array has at least

	options Options[T]
	leaving []pool.Handle[T] // scratch of Refresh: what those that leave free

	_ [128]byte

	// tail is the next position that Create will take: alive and what was created in
	// this phase. It lies apart, since everybody writes it who creates.
	//
	//	writers  Create, claiming a position by adding 1; Refresh
	//	moves    grows during a phase, save that a Create beyond the limit takes back
	//	         what it has added
	tail atom.Uint64
	_    [120]byte
}

// Options are the options of [New]. The zero Options are the defaults.
type Options[T any] struct {
	// Capacity is the greatest number of values, those that were killed included until
	// Refresh destroys them; 0 means that there is no limit but pool.MaxCapacity. It
	// allocates nothing ([Store.Reserve] does).
	Capacity int

	// Origin chooses the generation that handles start from, Origin|1, for replays that
	// want the same handles each time (with one goroutine that creates). 0 draws it at
	// random below 2^31, so that another store's handle is refused but for about one in
	// 2^30.
	Origin uint32

	// Unordered lets Refresh fill the gaps of the dead with values from the end, in
	// place of closing up in order. No more values move than died.
	Unordered bool

	// OnDestroy, if set, is called by Refresh and Clear for each value that is about to
	// go, in the order of Values, those that were created and killed in one phase
	// included. Nothing has moved or gone yet then. It may do as it likes to its value,
	// and must not call the Store, which panics. See [Store.Refresh] for what a panic
	// in OnDestroy leaves.
	OnDestroy func(pool.Handle[T], *T)
}

// New returns an empty store. Nil options are the defaults. Bad options are answered
// with an error that says which one and why.
func New[T any](opts *Options[T]) (*Store[T], error) {
	return build(opts, leastChunk(sizeOf[T]()))
}

// build is New whose first chunk has 1<<least values.
func build[T any](opts *Options[T], least uint) (*Store[T], error) {
	s := new(Store[T])
	if opts != nil {
		s.options = *opts
	}
	o := &s.options
	most := o.Capacity
	switch {
	case most < 0:
		return nil, fmt.Errorf("dense: Options.Capacity is %d; want 0 (no limit) or more", most)
	case uint64(most) > pool.MaxCapacity:
		return nil, fmt.Errorf("dense: Options.Capacity is %d; the limit is %d", most, uint64(pool.MaxCapacity))
	case most == 0:
		most = pool.MaxCapacity
	}
	switch s.first = o.Origin | 1; {
	case s.first > handle.Last:
		return nil, fmt.Errorf("dense: Options.Origin is %d; the last generation is %d", o.Origin, uint32(handle.Last))
	case o.Origin == 0:
		s.first = rand.Uint32()>>1 | 1
	}
	s.limit = uint64(most)
	s.least = min(most, 1<<least)
	s.room.Store(makeRoom[T](0, least, most))
	s.phase.open()
	return s, nil
}

// Must is New that panics with the error.
func Must[T any](opts *Options[T]) *Store[T] {
	s, err := New(opts)
	if err != nil {
		panic(err)
	}
	return s
}
