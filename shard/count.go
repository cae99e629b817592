package shard

import "unsafe"

// Counts describes an arena at a moment. Each figure is exact if no other goroutine changes
// anything.
type Counts struct {
	Live      int // slots with a live value
	Free      int // vacant slots that any insertion may take
	Limbo     int // removed slots that wait
	Held      int // holds
	Exhausted int
	Worn      float64 // share of its lives that the most worn slot with memory has had
	Allocated int     // slots that have memory
	Bytes     int64   // without the Arena itself and its Domain
}

// Count visits every slot that has memory, and follows the freelists.
func (a *Arena[T]) Count() Counts {
	live, latest := a.survey()
	c := Counts{
		Live:      live,
		Free:      int(a.Table.Unused()),
		Limbo:     a.Waiting(),
		Held:      int(a.refs.Load()),
		Exhausted: int(a.exhausted.Load()),
		Worn:      a.usedUp(latest),
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
	c.Limbo = max(0, c.Limbo) // slots that were removed meanwhile may have passed
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

// survey is Len that also returns the greatest generation of any slot. That costs 0.8 ns a
// slot, and Len alone 0.6.
func (a *Arena[T]) survey() (live int, latest uint32) {
	t := a.Table.Pages()
	for first := uint32(0); first < t.Limit; {
		block := Block[T](t, first, t.Limit)
		for j := range block {
			word := block[j].Word.Load()
			if Low(word) == first+uint32(j) {
				live++
			}
			latest = max(latest, Generation(word))
		}
		first += uint32(len(block))
	}
	return live, latest
}

// usedUp returns which share of its lives a slot of the given generation has had: the current
// one included, and all of them once it is exhausted.
func (a *Arena[T]) usedUp(generation uint32) float64 {
	if generation < a.First {
		return 0 // never used
	}
	return float64((generation-a.First)/2+1) / float64((LastGeneration-a.First)/2+1)
}

// Held returns how many holds there are.
func (a *Arena[T]) Held() int { return int(a.refs.Load()) }

// freeSlots returns how many vacant slots the shard's lists hold. It follows the freelist.
func (s *shard[T]) freeSlots() int {
	n := s.unclaimed() + int(s.list.kept())
	most := int(s.arena.Table.Pages().Limit)
	i := Low(s.free.Load())
	for i != None && n <= most {
		word := s.arena.slot(i).Word.Load()
		if IsLive(word) {
			break // another goroutine has popped it
		}
		n++
		i = Low(word)
	}
	return n
}
