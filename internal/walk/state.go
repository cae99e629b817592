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
	pages        []string
	lists        []list
	epoch, safe  uint64
	guards       []guardState
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
	seen                   []string // readers with a pointer to it
}

// list is one of the places of vacant slots (I3).
type list struct {
	name, note string
	slots      []uint32
}

type guardState struct {
	name  string
	epoch uint64
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
	s := state{page: 1 << pageShift, epoch: c.domain.Epoch(), safe: c.domain.Safe()}
	in := c.arena.Inspect()[0]
	follow := func(i uint32) (slots []uint32) {
		for ; i != shard.None; i = shard.Low(c.arena.Find(uint64(i)).Word.Load()) {
			slots = append(slots, i)
		}
		return slots
	}
	free := list{name: "freelist", slots: follow(shard.Low(in.Free))}
	if c.arena.FIFO {
		free.name = "queue"
		if n := len(free.slots) - 1; n >= 0 {
			s.lists = append(s.lists, list{"dummy", "stays behind", free.slots[n:]})
			free.slots = free.slots[:n]
		}
	}
	s.lists = slices.Insert(s.lists, 0, free)
	if n := follow(in.Rest); len(n) > 0 {
		s.lists = append(s.lists, list{"kept back", "the reserve", n})
	}
	s.lists = append(s.lists, list{"limbo", "", follow(shard.Low(in.Limbo))})
	slices.SortFunc(in.Sealed, func(a, b shard.Sealed) int { return int(a.Stamp) - int(b.Stamp) })
	for _, b := range in.Sealed {
		s.lists = append(s.lists, list{"batch", fmt.Sprintf("stamp %d", b.Stamp), follow(b.Top)[:b.N]})
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
		s.lists = append(s.lists, list{"ready", "the Worker's", r}, list{"bag", "the Worker's", lows(bag)})
	}
	for _, g := range c.guards {
		s.guards = append(s.guards, guardState{g.name, g.epoch})
	}

	t := c.arena.Table.Pages()
	for _, base := range t.Base {
		if _, known := c.pages[base]; !known {
			c.pages[base] = string(rune('A' + len(c.pages)))
		}
		s.pages = append(s.pages, c.pages[base])
	}
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
		for _, g := range c.guards {
			if g.seen == &slot.Value {
				h.seen = append(h.seen, g.name)
			}
		}
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
