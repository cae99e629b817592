//go:build interleave

package main

import (
	"fmt"
	"slices"

	"coatcheck/shard"
)

// state is the state of a cloakroom, read from the words of the real code.
type state struct {
	hooks        []hook
	page         int // hooks in a page
	pages        int
	lists        []list
	epoch        uint64
	guards       []guard
	checked      []check
	words        []word // in the place of the hooks
	showClock    bool
	showPages    bool
	shown        []string // the lists to draw
	columns      int      // the most hooks in a row
	caption, run string
}

// hook is a slot.
type hook struct {
	index, generation, low uint32
	coat                   coat
	place                  string
	seen                   bool // a reader has a pointer to it
}

// list is one of the places of vacant slots (I3).
type list struct {
	name, note string
	slots      []uint32
}

// check is a ticket, and whether it is accepted.
type check struct {
	ticket ticket
	coat   coat
	ok     bool
}

// word is a ticket or a slot's word, as two halves with their meanings.
type word struct{ name, high, low, highIs, lowIs string }

// look reads the state.
func (c *cloakroom) look() state {
	s := state{page: 1 << pageShift, epoch: c.domain.Epoch(), guards: slices.Clone(c.guards)}
	in := c.arena.Inspect()[0]
	follow := func(i, n uint32) (slots []uint32) {
		for ; i != shard.None && n > 0; n-- {
			slots = append(slots, i)
			i = shard.Low(c.arena.Find(uint64(i)).Word.Load())
		}
		return slots
	}
	const all = shard.None
	s.lists = []list{{"freelist", "", follow(shard.Low(in.Free), all)}, {"limbo", "", follow(shard.Low(in.Limbo), all)}}
	for _, w := range in.Waiting {
		s.lists = append(s.lists, list{"chunk", fmt.Sprintf("stamp %d", w.Stamp), follow(w.First, w.N)})
	}
	for _, r := range in.Ready {
		s.lists = append(s.lists, list{"ready", "", follow(r.First, r.N)})
	}
	if c.worker != nil {
		ready, bag, next, end := c.worker.Inspect()
		lows := func(hs []uint64) (slots []uint32) {
			for _, h := range hs {
				slots = append(slots, shard.Low(h))
			}
			return slots
		}
		r := lows(ready)
		slices.Reverse(r) // the last one is popped first
		for i := next; i < end; i++ {
			r = append(r, i)
		}
		s.lists = append(s.lists, list{"magazine", "the Worker's", r}, list{"bag", "the Worker's", lows(bag)})
	}
	t := c.arena.Table.Pages()
	s.pages = len(t.Base)
	for i := range t.Limit {
		slot := c.arena.Find(uint64(i))
		word := slot.Word.Load()
		h := hook{index: i, generation: shard.Generation(word), low: shard.Low(word), coat: slot.Value, place: "new"}
		for _, l := range s.lists {
			if slices.Contains(l.slots, i) {
				h.place = l.name
			}
		}
		switch {
		case shard.IsLive(word):
			h.place = "live"
		case h.generation == shard.Spent && h.place == "new":
			h.place = "exhausted"
		}
		h.seen = slices.ContainsFunc(c.guards, func(g guard) bool { return g.seen == &slot.Value })
		s.hooks = append(s.hooks, h)
	}
	return s
}

// list returns the list with that name.
func (s *state) list(name string) []uint32 {
	for _, l := range s.lists {
		if l.name == name {
			return l.slots
		}
	}
	return nil
}

// place returns the place of slot i.
func (s *state) place(i uint32) string { return s.hooks[i].place }

// word formats a word as its two halves.
func (h hook) word() (high, low string) {
	low = fmt.Sprint(h.low)
	if h.low == shard.None {
		low = "none"
	}
	return grouped(h.generation), low
}

// grouped formats a large generation by its distance from the last.
func grouped(g uint32) string {
	if left := uint32(1<<32-1) - g; left < 1000 {
		return fmt.Sprintf("2³²−%d", left+1)
	}
	return fmt.Sprint(g)
}
