package dense

import (
	"fmt"
	"reflect"

	"coatcheck/pool"
	"coatcheck/pool/internal/handle"
)

// Create puts v into the store and returns its handle. Get, Pointer, Alive, State and Kill accept
// the handle at once. The value joins Values at the next Refresh, behind all that are there, in the
// order in which Create claimed positions: for one goroutine, the order of its calls.
//
// With Cap values in the store, killed ones included, the error wraps pool.ErrFull. When all slots
// have used up their generations, it wraps pool.ErrExhausted, which wraps ErrFull. Nothing has
// changed then.
//
// Any number of goroutines may create at once. Create costs two locked instructions and copies v.
// Without spare room ([Store.Grow]) it allocates, and waits only for another Create that does.
// To put its handle into a value, write through Pointer before others have the handle.
func (s *Store[T]) Create(v T) (pool.Handle[T], error) {
	w := s.phase.enterChange("Create")
	h, err := s.create(&v)
	s.phase.leave("Create", w)
	return h, err
}

func (s *Store[T]) create(v *T) (pool.Handle[T], error) {
	// The load comes first, so that a full store's tail does not run away.
	if s.tail.Load() >= s.limit {
		return 0, s.full()
	}
	// The addition claims position n, and the slot that next returns for it, until Refresh.
	n := s.tail.Add(1) - 1
	if n >= s.limit {
		// The tail stays at or above the limit, so no position is claimed twice.
		s.tail.Add(^uint64(0))
		return 0, s.full()
	}
	i := uint32(n)
	d := s.room.Load()
	c, at := d.find(i)
	if c == nil {
		c, at = d.grow(i)
	}
	c.values[at] = *v
	index := s.next(n)
	sl := d.slot(index)
	if sl == nil {
		sl = d.growSlot(index)
	}
	generation := s.first
	if last := sl.generation.Load(); last > 0 {
		generation = last + 1
	}
	h := handle.Make[T](index, generation)
	c.handles[at] = h       // read by Refresh, which comes later
	sl.begin(generation, i) // publishes the value
	return h, nil
}

// full returns the reason why nothing can be created.
func (s *Store[T]) full() error {
	if s.limit == 0 {
		return (*exhaustedStore[T])(s)
	}
	return (*fullStore[T])(s)
}

// fullStore is the error of a Create in a full Store. A refusal allocates nothing.
type fullStore[T any] Store[T]

func (s *fullStore[T]) Unwrap() error { return pool.ErrFull }

func (s *fullStore[T]) Error() string {
	return fmt.Sprintf("dense: full; %s; capacity: %d", nameOf[T](), s.capacity)
}

// exhaustedStore is the error if all slots are used up.
type exhaustedStore[T any] Store[T]

func (s *exhaustedStore[T]) Unwrap() error { return pool.ErrExhausted }

func (s *exhaustedStore[T]) Error() string {
	return fmt.Sprintf("dense: full: every slot has used up its generations; %s; slots: %d", nameOf[T](), s.most)
}

// nameOf returns what errors call a Store of T.
func nameOf[T any]() string { return fmt.Sprintf("Store[%v]", reflect.TypeFor[T]()) }
