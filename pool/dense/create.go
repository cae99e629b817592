package dense

import (
	"coatcheck/pool"
	"coatcheck/pool/internal/handle"
)

// Create puts v into the store and returns its handle, which is valid at once for Get,
// Alive, State and Kill. The value is in Values after the next Refresh, behind all that
// are there already. New values are in the order in which their positions were claimed,
// which for one goroutine is the order of its calls.
//
// The error is pool.ErrFull when there are Cap values, killed ones included, or
// pool.ErrExhausted, which wraps it, when pool.MaxCapacity slots have used up their
// generations. Nothing has changed then.
//
// To let a value know its own handle, write the handle through Get before any other
// goroutine has it. Before Refresh there is no loop over what was created, since other
// goroutines may be writing it.
//
// Any number of goroutines may create at once. It costs two locked instructions and
// copies v once. It allocates when the array's spare room is used up (see
// [Store.Reserve]), and waits only for another Create that allocates.
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
		return pool.ErrExhausted
	}
	return pool.ErrFull
}
