package dense

import (
	"fmt"
	"math/rand/v2"

	"coatcheck/internal/atom"
	"coatcheck/pool"
	"coatcheck/pool/internal/handle"
	"coatcheck/pool/internal/moves"
)

// Store keeps values of type T contiguous and names each by a handle.
//
// Refresh, Clear, Clone, CreateAt, Grow, SortFunc, Trim, WriteTo and OnMove must each have the Store to
// themselves. Any number of goroutines may call all other methods at once. A call panics if it
// overlaps one of the former.
//
// [New] and [Must] return a Store; the zero Store panics. Do not copy it. It needs no Close.
type Store[T any] struct {
	phase phase

	// room has the values and the slots.
	//
	//	writers  resize and Trim, for calls that have the Store to themselves; finish, in a new Store
	//	readers  every call
	//	orders   the store publishes the new room's slices, whole
	room atom.Pointer[room[T]]

	// Calls that have the Store to themselves write the plain fields (see phase), and all calls read them.
	alive     int    // the length of Values
	base      int    // the positions from here on get their slots from next: alive, unless CreateAt raised it
	waits     int    // how many slots wait
	exhausted int    // how many slots are exhausted
	used      int    // how many slots exist: those of the positions below base, those that wait, and the exhausted
	mirrors   bool   // CreateAt has chosen slots (see there)
	ranked    int    // a waiting slot whose rank is less has it in its field position
	limit     uint64 // every position is less (see bound)
	origin    uint32 // the code of origins
	origins   handle.Origins
	fresh     uint32 // the first stage of slots that were never used, from 1 (see magic)
	line      *line  // in a restored Store, until each slot has jumped; then nil
	sizes

	options Options[T]
	moves   moves.Functions[pool.Handle[T], int] // the functions of OnMove
	notes   movedValues[T]                       // empty except during Refresh and SortFunc

	// waiting has the indexes of the slots that wait, by rank, and spare elements behind them (waiting.go).
	//
	//	writers  wait and Trim, for calls that have the Store to themselves; CreateAt, its elements
	//	readers  claim
	//	orders   the store publishes the slice, whole
	waiting atom.Pointer[[]uint32]

	_ [128]byte

	// tail is the next position that will be taken: it counts the alive and those
	// created in this phase. It has a cache line of its own, because every Create writes
	// it.
	//
	//	writers  claim, claiming a position by adding 1; closeUp, for Refresh; finish, in a new Store
	//	moves    grows during a phase, except that a claim beyond the limit subtracts
	//	         what it added
	tail atom.Uint64
	_    [120]byte

	// unborn counts the positions whose init panicked or exited in this phase. They are marked, and their
	// slots name nothing.
	//
	//	writers  CreateFunc, adding 1; finish, back to 0
	//	readers  finish, and calls that have the Store to themselves and find a mark
	unborn atom.Int64
}

// Options are the options of [New]. The zero Options are the defaults.
type Options[T any] struct {
	// Capacity is the greatest number of values. Killed values count until Refresh destroys them.
	// 0 means pool.MaxCapacity. As in a pool, a new slot with a new index replaces one that has
	// used up its generations. Capacity allocates nothing; [Store.Grow] does.
	Capacity int

	// Origin chooses the first generation of handles, Origin|1. Set it for replays: if one
	// goroutine creates, the same calls issue the same handles, also in a store restored from a
	// snapshot with the same Origin. 0 means that each slot begins with a generation of its own
	// below 2^31, and each store with others. So a handle of another store, or of another slot as one that lost
	// its last bits, is refused except about one in 2^30.
	Origin uint32

	// Unordered lets Refresh fill the gaps of dead values with values from the end, instead of
	// closing up in order. Then no more values move than died.
	Unordered bool

	// OnDestroy, if set, is called by Refresh and Clear for each value that they are about to
	// destroy, in the order of Values. These include values that were created and killed in one
	// phase. Nothing has moved or gone yet.
	//
	// OnDestroy may read and write its value. Of the Store's methods it may call those that a
	// phase allows, except Create and Kill; any other call panics. See [Store.Refresh] for a
	// panic in OnDestroy.
	OnDestroy func(pool.Handle[T], *T)
}

// New returns an empty store. If opts is nil, it uses the defaults. If an option is invalid, it
// returns an error that says which one and why.
func New[T any](opts *Options[T]) (*Store[T], error) {
	return build(opts, firstChunkBits(sizeOf[T]()), pool.MaxCapacity)
}

// build returns an empty store with these options. Its first chunk will have 1<<chunkBits values, and it
// will never have more than slotLimit slots.
func build[T any](opts *Options[T], chunkBits uint, slotLimit int) (*Store[T], error) {
	s := new(Store[T])
	if opts != nil {
		s.options = *opts
	}
	o := &s.options
	capacity := o.Capacity
	switch {
	case capacity < 0:
		return nil, fmt.Errorf("dense: Options.Capacity is %d; want 0 (no limit) or more", capacity)
	case uint64(capacity) > pool.MaxCapacity:
		return nil, fmt.Errorf("dense: Options.Capacity is %d; the limit is %d", capacity, uint64(pool.MaxCapacity))
	case capacity == 0:
		capacity = slotLimit
	}
	switch s.origin = o.Origin | 1; {
	case s.origin > handle.Last:
		return nil, fmt.Errorf("dense: Options.Origin is %d; the last generation is %d", o.Origin, uint32(handle.Last))
	case o.Origin == 0:
		s.origin = handle.DrawOrigin(rand.Uint32())
	}
	s.origins, s.fresh = handle.OriginsOf(s.origin), 1
	s.sizes = sizes{chunkBits, capacity, slotLimit}
	s.bound()
	s.waiting.Store(new([]uint32))
	s.room.Store(makeRoom[T](0, nil, &s.sizes))
	s.phase.open()
	return s, nil
}

// bound sets the limit: the Capacity, or fewer when no indexes are left for as many slots.
func (s *Store[T]) bound() { s.limit = uint64(min(s.capacity, s.slotLimit-s.exhausted)) }

// Must is like [New] but panics if an option is invalid.
func Must[T any](opts *Options[T]) *Store[T] {
	s, err := New(opts)
	if err != nil {
		panic(err)
	}
	return s
}
