package peer

import (
	"reflect"

	"coatcheck/internal/pointers"
)

// slotMap is a slot map for one goroutine, as one writes it by hand: slots with
// generations, the vacant ones linked. A name is the generation, odd while the value is
// live, in the high half of a word, and the index in the low half. Generations wrap: a
// name is valid again after 2³¹ lives of its slot.
type slotMap[R any] struct {
	slots []slot[R]
	free  uint32 // the first vacant slot, or none
	clear bool   // R has pointers
}

type slot[R any] struct {
	generation uint32
	next       uint32 // while vacant: the next vacant slot, or none
	value      Value[R]
}

const none = 1<<32 - 1

func newSlotMap[R any](c Config[R]) slotMap[R] {
	m := slotMap[R]{free: none, clear: pointers.In(reflect.TypeFor[R]())}
	if !c.Grow {
		// Each session may insert a value before it removes the one that it replaces.
		m.slots = make([]slot[R], 0, c.Live+c.Sessions)
	}
	return m
}

func (m *slotMap[R]) insert(v Value[R]) uint64 {
	i := m.free
	if i == none {
		m.slots = append(m.slots, slot[R]{generation: 1, value: v})
		return 1<<32 | uint64(len(m.slots)-1)
	}
	s := &m.slots[i]
	m.free = s.next
	s.generation++
	s.value = v
	return uint64(s.generation)<<32 | uint64(i)
}

// get returns the value that n names, or nil.
func (m *slotMap[R]) get(n uint64) *Value[R] {
	if i := uint64(uint32(n)); i < uint64(len(m.slots)) {
		if s := &m.slots[i]; s.generation == uint32(n>>32) {
			return &s.value
		}
	}
	return nil
}

func (m *slotMap[R]) remove(n uint64) bool {
	i := uint32(n)
	if uint64(i) >= uint64(len(m.slots)) {
		return false
	}
	s := &m.slots[i]
	if s.generation != uint32(n>>32) {
		return false
	}
	s.generation++
	if m.clear {
		s.value = Value[R]{}
	}
	s.next = m.free
	m.free = i
	return true
}

// idOf returns the identity of v, and whether there is one.
func idOf[R any](v *Value[R]) (uint64, bool) {
	if v == nil {
		return 0, false
	}
	return v.ID, true
}

// sum counts the values and adds up their identities.
func (m *slotMap[R]) sum() (n int, sum uint64) {
	for i := range m.slots {
		if s := &m.slots[i]; s.generation%2 == 1 {
			n++
			sum += s.value.ID
		}
	}
	return
}
