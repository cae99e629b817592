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
	c, offset, sl := s.claim()
	if c == nil {
		err := s.full()
		s.phase.leave("Create", w)
		return 0, err
	}
	c.values[offset] = v
	h := c.handles[offset]
	sl.begin(h.Generation()) // publishes the value
	s.phase.leave("Create", w)
	return h, nil
}

// claim claims the next position, and with it a slot. It returns the part that has the position, the
// offset there, and the slot, whose generation it leaves to begin. It stores the handle in the part. If
// the store is full, it returns nil.
func (s *Store[T]) claim() (c *part[T], offset int, sl *slot) {
	// The load comes first, so that a full store's tail does not run away.
	if s.tail.Load() >= s.limit {
		return nil, 0, nil
	}
	// The addition claims position n, and the slot that next returns for it.
	n := s.tail.Add(1) - 1
	if n >= s.limit {
		// The tail stays at or above the limit, so no position is claimed twice.
		s.tail.Add(^uint64(0))
		return nil, 0, nil
	}
	i := uint32(n)
	d := s.room.Load()
	if uint(i) < uint(len(d.values)) { // grow would find this part too, by a call
		c, offset = &d.part, int(i)
	} else {
		c, offset = d.grow(i)
	}
	index := s.next(n)
	if uint(index) < uint(len(d.slots)) {
		sl = &d.slots[index]
	} else {
		sl = d.growSlot(index)
	}
	generation := sl.generation.Load() + 1
	if generation == 1 {
		generation = s.origins.Generation(index, s.fresh)
	}
	sl.position = i
	c.handles[offset] = handle.Make[T](index, generation) // read by Refresh, which comes later
	return c, offset, sl
}

// CreateFunc is like [Store.Create], but init builds the value in its place. There *v is zero. init
// gets the handle too, to write it into the value; the handle names nothing until init returns.
//
// If init panics or exits, the handle never becomes live, and OnDestroy does not see the value.
// The position and the slot are free again after the next Refresh, which does not count the value.
// init may call the methods that a phase allows.
func (s *Store[T]) CreateFunc(init func(h pool.Handle[T], v *T)) (pool.Handle[T], error) {
	w := s.phase.enterChange("CreateFunc")
	c, offset, sl := s.claim()
	if c == nil {
		err := s.full()
		s.phase.leave("CreateFunc", w)
		return 0, err
	}
	h, built := c.handles[offset], false
	defer func() {
		if !built {
			c.values[offset] = *new(T)
			s.unborn.Add(1)
			c.dead.add(offset)
		}
	}()
	init(h, &c.values[offset])
	built = true
	sl.begin(h.Generation()) // publishes the value
	s.phase.leave("CreateFunc", w)
	return h, nil
}

// full returns the reason why nothing can be created.
func (s *Store[T]) full() error {
	if s.limit == 0 {
		return (*exhaustedStore[T])(s)
	}
	return (*fullStore[T])(s)
}

// fullStore is the error of a Create in a full Store. It is the Store itself, so a refusal allocates
// nothing.
type fullStore[T any] Store[T]

func (s *fullStore[T]) Unwrap() error { return pool.ErrFull }

func (s *fullStore[T]) Error() string {
	return fmt.Sprintf("dense: full; %s; capacity: %d", nameOf[T](), s.capacity)
}

// exhaustedStore is the error of a Create in a Store whose slots are all exhausted.
type exhaustedStore[T any] Store[T]

func (s *exhaustedStore[T]) Unwrap() error { return pool.ErrExhausted }

func (s *exhaustedStore[T]) Error() string {
	return fmt.Sprintf("dense: full: every slot has used up its generations; %s; slots: %d", nameOf[T](), s.slotLimit)
}

// nameOf returns the name that errors give a Store of T.
func nameOf[T any]() string { return fmt.Sprintf("Store[%v]", reflect.TypeFor[T]()) }
