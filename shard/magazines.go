package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// What an arena knows of its magazines: how one begins and ends, and the list by which Trim and the counts reach
// them all. magazine.go says what a magazine does meanwhile.

// NewMagazine returns an empty magazine.
func (a *Arena) NewMagazine() *Magazine {
	m := &Magazine{
		arena: a, top: slots.None, clock: a.Domain, fastBelow: a.fastBelow, apartBelow: a.apartBelow, stampPerSlot: a.stampPerSlot,
		maxReach: MaxReach,
	}
	m.frontier.Init(a.Domain, a.Replays)
	m.view.Store(a.Table.Pages())
	a.magazines.add(m)
	m.shard = a.share() // those that are opened at the same time know of each other
	m.refresh(&a.Table) // a Trim that came before add has not shown its table
	if m.stampPerSlot {
		m.stamp = m.clock.Stamp()
	}
	if a.Capacity > 0 {
		m.maxReach = int(min(MaxReach, a.Capacity/reachShare))
	}
	if a.MaxLimbo > 0 {
		// What waits in a bag comes on top of MaxLimbo.
		m.maxReach = min(m.maxReach, max(firstReach, int(a.MaxLimbo/reachShare)))
	}
	if a.FIFO || m.maxReach < leastReach {
		m.maxReach = 0 // removed slots go to the queue's end
		return m
	}
	m.setReach(m.initialReach())
	all := min(m.maxReach, a.room().magazine)
	n, seals := max(m.reach, all), max(8, all)
	m.ready, m.bag = make([]slots.Cached, 0, n), make([]slots.Cached, n)[:m.batch]
	m.seals = slots.StampList[int]{List: make([]slots.Stamped[int], 0, seals), Fixed: a.Fixed}
	return m
}

// Close is like Flush, and closes the magazine.
func (m *Magazine) Close(who Retirer) {
	s, c := m.shard, m.empty(who)
	m.setReach(0)
	s.arena.magazines.remove(m)
	*m = Magazine{}
	s.retireLate(&c, who)
}

// magazines is what an arena knows of its magazines.
type magazines struct {
	// newest is the first of all that are open, in a list, and open is how many these are. mu guards
	// both.
	newest *Magazine
	mu     atom.Mutex
	open   uint32

	// dealt deals shards to magazines in turn.
	//
	//	writers  share
	dealt atom.Uint32

	// reach is how many slots all magazines together may keep.
	//
	//	writers  setReach
	//	readers  mayGrow
	reach atom.Int64
}

func (l *magazines) add(m *Magazine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.older = l.newest; m.older != nil {
		m.older.newer = m
	}
	l.newest = m
	l.open++
}

func (l *magazines) remove(m *Magazine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if m.older != nil {
		m.older.newer = m.newer
	}
	if m.newer != nil {
		m.newer.older = m.older
	} else {
		l.newest = m.older
	}
}

// count returns how many are open.
func (l *magazines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.open)
}

// show makes the current table the view of all magazines. An older one keeps the memory of
// pages that Trim has given up, and its magazine may be idle.
func (l *magazines) show(t *slots.Table) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for m := l.newest; m != nil; m = m.older {
		m.refresh(t)
	}
}
