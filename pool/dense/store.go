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
// themselves. Any number of goroutines may call all other methods at once. A call that overlaps one
// of those nine panics.
//
// [New] and [Must] return a Store; the zero Store panics. Do not copy it. It needs no Close.
type Store[T any] struct {
	phase phase

	// room is where the values are.
	//
	//	writers  resize and Trim, for calls that have the Store to themselves; finish, in a new Store
	//	readers  every call
	//	orders   the store publishes the new room's slices, whole
	room atom.Pointer[room[T]]

	// The plain fields are written only between phases (see phase), and read by calls.
	alive     int    // the length of Values
	base      int    // the position from which on slots are claimed by next: alive, unless CreateAt raised it
	waits     int    // the slots that wait to be reused
	exhausted int    // slots that have used up their generations
	used      int    // all slots that were ever used: those of positions below base, and these two; every index of one is less
	mirrors   bool   // CreateAt has chosen slots: see there
	placed    int    // below it each waiting slot's at is its place among those
	limit     uint64 // every position is less: see bound
	origin    uint32 // with which generation each slot begins: the code of origins
	origins   handle.Origins
	fresh     uint32 // the first stage of slots that were not used yet, from 1; see magic
	line      *line  // of a restored Store, until all slots are in it; or nil
	sizes

	options Options[T]
	moves   moves.Functions[pool.Handle[T], int] // see OnMove
	notes   movedValues[T]                       // empty but during Refresh and SortFunc

	// waiting are the slots that wait, and room for more; see next.
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

	// unborn counts the positions whose init panicked or exited in this phase. They are marked dead,
	// and their slots name nothing.
	//
	//	writers  CreateFunc, adding 1; finish, back to 0
	//	readers  finish, and whoever finds a dead position while it has the Store to itself
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
	return build(opts, leastChunk(sizeOf[T]()), pool.MaxCapacity)
}

// build is New with a first chunk of 1<<least values, for at most most slots.
func build[T any](opts *Options[T], least uint, most int) (*Store[T], error) {
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
		capacity = most
	}
	switch s.origin = o.Origin | 1; {
	case s.origin > handle.Last:
		return nil, fmt.Errorf("dense: Options.Origin is %d; the last generation is %d", o.Origin, uint32(handle.Last))
	case o.Origin == 0:
		s.origin = handle.DrawOrigin(rand.Uint32())
	}
	s.origins, s.fresh = handle.OriginsOf(s.origin), 1
	s.sizes = sizes{least, capacity, most}
	s.bound()
	s.waiting.Store(new([]uint32))
	s.room.Store(makeRoom[T](0, nil, &s.sizes))
	s.phase.open()
	return s, nil
}

// bound sets the limit. It is less than the Capacity only when there are indexes for no more slots.
func (s *Store[T]) bound() { s.limit = uint64(min(s.capacity, s.most-s.exhausted)) }

// Must is like [New] but panics if an option is invalid.
func Must[T any](opts *Options[T]) *Store[T] {
	s, err := New(opts)
	if err != nil {
		panic(err)
	}
	return s
}
