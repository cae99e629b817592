package dense

import (
	"bytes"
	"fmt"

	"coatcheck/pool"
	"coatcheck/pool/internal/handle"
)

// Alone lists the methods that must have the Store to themselves.
const Alone = alone

// NewTiny is New with first chunks of two, so that small tests cross every boundary.
func NewTiny[T any](opts *Options[T]) (*Store[T], error) { return NewShort(opts, pool.MaxCapacity) }

// NewShort is NewTiny for at most so many slots.
func NewShort[T any](opts *Options[T], most int) (*Store[T], error) { return build(opts, 1, most) }

// Snapshot returns a snapshot of values and handles, which may be wrong.
func Snapshot[T any](values []T, handles []uint64) []byte {
	var b bytes.Buffer
	hs := make([]pool.Handle[T], len(handles))
	for i, h := range handles {
		hs[i] = pool.Handle[T](h)
	}
	if _, err := write(&b, values, hs); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Overlap makes s look as if a Create and a Refresh were in it at once: more slots wait than there are.
func Overlap[T any](s *Store[T]) { s.waits = len(*s.waiting.Load()) + 1 }

// Claim makes s look as if n Creates were in it that have claimed positions and done nothing else. In a full Store,
// they are about to fail.
func Claim[T any](s *Store[T], n int) { s.tail.Add(uint64(n)) }

// Mark marks a position of the array, as a Kill does that a Refresh overlaps, whatever is there.
func Mark[T any](s *Store[T], position int) { s.room.Load().dead.add(position) }

// Place puts a handle at a position of the array, as a Create does that a Refresh overlaps, whatever slots there are.
func Place[T any](s *Store[T], position int, h pool.Handle[T]) { s.room.Load().handles[position] = h }

// Chunks returns how many values fit into each chunk that s has.
func Chunks[T any](s *Store[T]) (lengths []int) {
	for k := range s.room.Load().valueChunks.list {
		if c := s.room.Load().valueChunks.list[k].Load(); c != nil {
			lengths = append(lengths, len(c.values))
		}
	}
	return lengths
}

// Check returns what is wrong in a store that nothing else uses.
func Check[T any](s *Store[T]) error {
	d := s.room.Load()
	n := int(s.tail.Load())
	if s.alive > n || uint64(n) > s.limit || int(s.limit) != min(s.capacity, s.slotLimit-s.exhausted) ||
		s.base+s.waits+s.exhausted != s.used || s.used > s.slotLimit || s.base < s.alive || s.base > n {
		return fmt.Errorf("%d are alive, the base is %d, %d wait, %d are exhausted of %d slots; the tail is %d, the limit %d",
			s.alive, s.base, s.waits, s.exhausted, s.used, n, s.limit)
	}
	unborn := int64(0)
	waited, fresh := s.claimed()
	indexes := make(map[uint32]bool)
	for first, c := range d.parts(n) {
		for i, h := range c.handles[:min(len(c.handles), n-first)] {
			p := first + i
			if indexes[h.Index()] || h.Generation()%2 == 0 || h.Generation() > handle.Last {
				return fmt.Errorf("handle %v, at %d; is its index elsewhere: %v", h, p, indexes[h.Index()])
			}
			indexes[h.Index()] = true
			sl := d.slot(h.Index())
			if sl != nil && c.dead.contains(i) && sl.generation.Load() < h.Generation() {
				unborn++
				continue
			}
			if sl == nil || int(sl.position) != p || !sl.names(h.Generation()) {
				return fmt.Errorf("%v is at %d, of %d; its slot is %v", h, p, n, sl)
			}
		}
		listed := 0
		for i := range c.dead.offsets {
			if !c.dead.contains(i) || first+i >= n {
				return fmt.Errorf("position %d is marked, of %d", first+i, n)
			}
			listed++
		}
		for i := range c.values {
			if c.dead.contains(i) {
				listed--
			}
		}
		if listed != 0 {
			return fmt.Errorf("the marks above miss %d", -listed)
		}
	}
	if unborn != s.unborn.Load() {
		return fmt.Errorf("%d are unborn, of %d", unborn, s.unborn.Load())
	}
	for at, index := range (*s.waiting.Load())[:s.waits-waited] {
		if at < s.ranked && int(d.slot(index).position) != at {
			return fmt.Errorf("slot %d waits at %d, not %d", index, at, d.slot(index).position)
		}
		g := d.slot(index).generation.Load()
		if indexes[index] || g%2 != 0 || g == 0 && !s.mirrors || g > handle.Last {
			return fmt.Errorf("slot %d waits with generation %d; is it elsewhere: %v", index, g, indexes[index])
		}
		indexes[index] = true
	}
	if s.line != nil {
		kept := 0
		for range s.line.live.offsets {
			kept++
		}
		if kept != s.line.liveCount {
			return fmt.Errorf("%d slots have their value of the snapshot, of %d", kept, s.line.liveCount)
		}
	}
	exhausted := 0
	for index := range uint32(s.used + fresh) {
		if sl := d.slot(index); sl != nil && sl.generation.Load() == handle.Last+1 && !indexes[index] {
			exhausted++
		} else if !indexes[index] {
			return fmt.Errorf("slot %d is lost: %v", index, sl)
		}
	}
	if len(indexes)+exhausted != s.used+fresh || exhausted != s.exhausted {
		return fmt.Errorf("%d slots of %d are in use or wait, %d are exhausted of %d", len(indexes), s.used+fresh, exhausted, s.exhausted)
	}
	return nil
}
