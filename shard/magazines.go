package shard

import "coatcheck/internal/atom"

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
func (l *magazines) show(t *Table) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for m := l.newest; m != nil; m = m.older {
		for {
			old := m.view.Load()
			// The table is loaded after the view, so it is not older.
			if now := t.Pages(); now == old || m.view.CompareAndSwap(old, now) {
				break
			}
		}
	}
}
