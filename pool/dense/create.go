package dense

import (
	"coatcheck/internal/handle"
	"coatcheck/pool"
)

// Create puts v into the store and returns its handle, which is good at once for Get,
// Alive, State and Kill. The value is in Values after the next Refresh, behind all that
// are there already and in the order in which positions were claimed, which for one
// goroutine is the order of its calls.
//
// The error is pool.ErrFull when there are Capacity values, killed ones included, or
// pool.ErrExhausted, which wraps it, when all handles are used up; nothing has changed then.
// A value that is to know its own handle gets it by Get before anybody else has it. What was
// created has no loop of its own before Refresh: others may be writing it.
//
// Any number of goroutines may create at once. It costs two locked instructions and copies
// v once; it allocates when the array's spare room is used up (see [Store.Reserve]), and
// waits for nobody but another Create that does.
func (s *Store[T]) Create(v T) (pool.Handle[T], error) {
	w := s.phase.enter("Create")
	h, err := s.create(&v)
	s.phase.leave("Create", w)
	return h, err
}

func (s *Store[T]) create(v *T) (pool.Handle[T], error) {
	// Looked at before it is added to, so that a full store's tail does not run away.
	if s.tail.Load() >= s.limit {
		return 0, s.full()
	}
	// The addition makes the position this call's alone, until Refresh; and with it the
	// handle that waits there.
	n := s.tail.Add(1) - 1
	if n >= s.limit {
		// The tail stays at the limit or above, so no position is given out twice.
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
	h := c.handles[at]
	if h == 0 {
		h = handle.Make[T](i+uint32(s.exhausted), s.first)
		c.handles[at] = h // read by Refresh, which comes later
	}
	if c, at = d.find(h.Index()); c == nil {
		c, at = d.grow(h.Index())
	}
	c.slots[at].begin(h.Generation(), i) // publishes the value
	return h, nil
}

// full tells why nothing can be created.
func (s *Store[T]) full() error {
	if s.limit == 0 {
		return pool.ErrExhausted
	}
	return pool.ErrFull
}
