package shard

import "unsafe"

// Counts describes an arena at a moment. Each figure is exact when nobody changes
// anything.
type Counts struct {
	Live      int // slots with a live value
	Free      int // vacant slots that any insertion may take
	Limbo     int // removed slots that wait
	Held      int // holds
	Exhausted int
	Allocated int   // slots that memory is held for
	Bytes     int64 // without the Arena itself and its clock
}

// Count looks at every slot that has memory, and follows the freelists.
func (a *Arena[T]) Count() Counts {
	c := Counts{
		Live:      a.Len(),
		Free:      int(a.Table.Unused()),
		Limbo:     a.Waiting(),
		Held:      int(a.refs.Load()),
		Exhausted: int(a.exhausted.Load()),
		Allocated: a.Table.Resident(),
		Bytes:     int64(len(a.shards))*int64(unsafe.Sizeof(shard[T]{})) + a.Table.Bytes(),
	}
	for i := range a.shards {
		s := &a.shards[i]
		passed := 0
		if a.Reset == nil {
			passed = s.passedSlots()
		}
		c.Free += s.freeSlots() + passed
		c.Limbo -= passed
	}
	return c
}

// Len returns the number of live slots.
func (a *Arena[T]) Len() (n int) {
	t := a.Table.Pages()
	for first := uint32(0); first < t.Limit; {
		block := Block[T](t, first, t.Limit)
		for j := range block {
			if Low(block[j].Word.Load()) == first+uint32(j) { // live (I4)
				n++
			}
		}
		first += uint32(len(block))
	}
	return n
}

// Held returns how many holds there are.
func (a *Arena[T]) Held() int { return int(a.refs.Load()) }

// freeSlots returns how many vacant slots the shard's lists hold. It follows the
// freelist and is exact when nobody changes anything.
func (s *shard[T]) freeSlots() int {
	n := s.unclaimed() + int(s.list.kept())
	most := int(s.arena.Table.Pages().Limit)
	i := Low(s.free.Load())
	for i != None && n <= most {
		word := s.arena.slot(i).Word.Load()
		if IsLive(word) {
			break // somebody popped it under our feet
		}
		n++
		i = Low(word)
	}
	return n
}
