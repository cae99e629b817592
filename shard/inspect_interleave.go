//go:build interleave

package shard

import (
	"reflect"
	"unsafe"

	"coatcheck/internal/atom"
)

// Contents is what a shard's lists begin with. Explored schedules check invariants on it
// between two steps of a run.
type Contents struct {
	Free, Fresh, Limbo uint64         // the words
	Lock               unsafe.Pointer // while a thread holds it, the lists below are in its hands
	Waiting, Ready     []List
}

// List is a list of slots that only the holder of a lock touches, and a chunk's stamp.
type List struct {
	First, N uint32
	Stamp    uint64
}

// Inspect returns the contents of the shards.
func (a *Arena[T]) Inspect() (all []Contents) {
	for i := range a.shards {
		s := &a.shards[i]
		c := Contents{
			Free: s.free.Load(), Fresh: s.fresh.Load(), Limbo: s.limbo.Load(),
			Lock: unsafe.Pointer(&s.mu),
		}
		for _, w := range s.waiting {
			c.Waiting = append(c.Waiting, List{w.chain.top(), w.chain.n, w.stamp})
		}
		for _, r := range s.ready {
			c.Ready = append(c.Ready, List{r.top(), r.n, 0})
		}
		all = append(all, c)
	}
	return all
}

// InResets returns how many slots are in Resets, or wait for nothing but a run of Resets that
// a shard may not begin, since it has as many as it may. None of these forbids a refusal.
func (a *Arena[T]) InResets() (n int) {
	for i := range a.shards {
		s := &a.shards[i]
		n += int(s.inResets)
		if s.runs == runsMost {
			n += int(s.waits)
		}
	}
	return n
}

// Place returns where the shards lie, how many there are, and their type.
func (a *Arena[T]) Place() (unsafe.Pointer, int, reflect.Type) {
	return unsafe.Pointer(&a.shards[0]), len(a.shards), reflect.TypeFor[shard[T]]()
}

// RemoveAt is Remove to shard k.
func (a *Arena[T]) RemoveAt(k int, h uint64) bool { return a.shards[k].remove(h) }

// Inspect returns the handles of what is ready and in the bag.
func (m *Magazine[T]) Inspect() (ready, bag []uint64) {
	for _, k := range m.ready {
		ready = append(ready, k.h)
	}
	for _, k := range m.bag[m.from:m.used] {
		bag = append(bag, k.h)
	}
	return ready, bag
}

// Meta returns where the pageMeta of page k lies, its type, its homes, and its counts of
// holders or nil.
func (t *PageTable) Meta(k int) (at unsafe.Pointer, is reflect.Type, homes, counts []atom.Uint32) {
	m := t.metas[k]
	if h := m.holders.Load(); h != nil {
		counts = h.count
	}
	return unsafe.Pointer(m), reflect.TypeFor[pageMeta](), m.homes, counts
}

// Holding returns how many holders slot i has, and whether it is parked.
func (t *PageTable) Holding(i uint32) (n int, isParked bool) {
	m, j := t.meta(i)
	if h := m.holders.Load(); h != nil {
		c := h.count[j].Load()
		return int(c &^ parked), c&parked != 0
	}
	return 0, false
}

// Absent returns the pages without memory and their floors.
func (t *Table[T]) Absent() map[int]uint32 {
	floors := make(map[int]uint32)
	for _, a := range t.absent {
		floors[a.at] = a.floor
	}
	return floors
}

// Unallotted reports whether slot i was not handed out, or not since its page came back.
func (t *Table[T]) Unallotted(i uint32) bool {
	r := t.again.Load()
	return uint64(i) >= t.next.Load() || Generation(r) <= i && i < Low(r)
}

// Void returns the page that stands for those without memory, or nil.
func (t *Table[T]) Void() unsafe.Pointer { return t.void }
