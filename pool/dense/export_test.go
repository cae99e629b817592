package dense

import (
	"bytes"
	"fmt"

	"coatcheck/pool/internal/handle"
)

// NewTiny is New with a first chunk of two values, so that small tests cross every
// boundary.
func NewTiny[T any](opts *Options[T]) (*Store[T], error) { return build(opts, 1) }

// Saved is an entry of an earlier version's snapshot.
type Saved[T any] = saved[T]

// Snapshot returns a snapshot of values and handles, which may be wrong.
func Snapshot[T any](values []T, handles []uint64) []byte {
	var b bytes.Buffer
	if _, err := write(&b, values, handles); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Check returns what is wrong in a store that nothing else uses.
func Check[T any](s *Store[T]) error {
	d := s.room.Load()
	n := int(s.tail.Load())
	if s.alive > n || uint64(n) > s.limit || s.limit+uint64(s.exhausted) != uint64(d.most) {
		return fmt.Errorf("%d are alive, the tail is %d, the limit %d, %d slots are exhausted", s.alive, n, s.limit, s.exhausted)
	}
	indexes := make(map[uint32]bool)
	for first, c := range d.parts(s.used()) {
		for i, h := range c.handles {
			p := first + i
			if h == 0 {
				if p < max(n, s.fresh) {
					return fmt.Errorf("position %d has no handle", p)
				}
				continue
			}
			if p >= max(n, s.fresh) {
				return fmt.Errorf("position %d, which is fresh, has handle %v", p, h)
			}
			if indexes[h.Index()] || h.Generation()%2 == 0 || h.Generation() > handle.Last {
				return fmt.Errorf("handle %v, at %d; is its index elsewhere: %v", h, p, indexes[h.Index()])
			}
			indexes[h.Index()] = true
			sc, at := d.find(h.Index())
			if sc == nil {
				return fmt.Errorf("handle %v, at %d, has no slot", h, p)
			}
			sl := &sc.slots[at]
			if live := p < n; live && int(sl.at) != p || live != sl.names(h.Generation()) {
				return fmt.Errorf("%v is at %d, of %d; its slot says %d, generation %d", h, p, n, sl.at, sl.generation.Load())
			}
		}
		listed := 0
		for i := range c.dead.all {
			if !c.dead.has(i) || first+i >= n {
				return fmt.Errorf("position %d is marked, of %d", first+i, n)
			}
			listed++
		}
		for i := range c.values {
			if c.dead.has(i) {
				listed--
			}
		}
		if listed != 0 {
			return fmt.Errorf("the marks above miss %d", -listed)
		}
	}
	if len(indexes)+s.exhausted != s.used() {
		return fmt.Errorf("%d slots of %d are in use or wait, %d are exhausted", len(indexes), s.used(), s.exhausted)
	}
	return nil
}
