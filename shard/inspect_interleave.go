//go:build interleave

package shard

import (
	"reflect"
	"unsafe"

	"coatcheck/internal/atom"
)

// Contents shows how each of a shard's lists begins. Explored schedules check invariants on it
// between two steps of a run.
type Contents struct {
	Free, Fresh, Limbo uint64         // the words
	Lock, Clearing     unsafe.Pointer // while a thread holds one, the lists below are in its hands
	Waiting, Ready     []List
}

// List is a list of slots that only the holder of a lock touches, and a batch's stamp.
type List struct {
	First, N uint32
	Stamp    uint64
	Arrays   []uint32 // the slots by the arrays, from the first to the last; empty if there are none
}

// Inspect returns the contents of the shards.
func (a *Arena) Inspect() (contents []Contents) {
	for _, s := range a.shards() {
		c := Contents{
			Free: s.free.head.Load(), Fresh: s.fresh.word.Load(), Limbo: s.limbo.head.Load(),
			Lock: unsafe.Pointer(&s.mu), Clearing: unsafe.Pointer(&s.clearing),
		}
		add := func(l *chain, stamp uint64) {
			if l.n > 0 {
				c.Waiting = append(c.Waiting, List{l.top(), l.n, stamp, l.arrays.indexes()})
			}
		}
		for k := range s.waiting.len() {
			w := s.waiting.entry(k)
			add(&w.body.chain, w.stamp)
		}
		add(&s.turned, s.sealed.stamp)
		add(&s.sealed.body.chain, s.sealed.stamp)
		for _, r := range s.ready {
			c.Ready = append(c.Ready, List{r.top(), r.n, 0, r.arrays.indexes()})
		}
		contents = append(contents, c)
	}
	return contents
}

// KeepArrays makes an arena that was not used yet one that does not replay, and so keeps arrays if it may.
func (a *Arena) KeepArrays() {
	a.Replays = false
	for _, s := range a.shards() {
		s.frontier.Init(a.Domain, false)
	}
}

// indexes returns the slots of the arrays, in the order of their chain.
func (l *arrays) indexes() (slots []uint32) {
	if l.last == nil {
		return nil
	}
	for b := l.first(); ; b = b.next {
		for j := b.n; j > 0; j-- {
			slots = append(slots, b.slots[j-1])
		}
		if b == l.last {
			return slots
		}
	}
}

// InResets returns how many slots are in Resets, or wait only for a run of Resets. A shard may
// not begin a run while it has as many as it may have. None of these slots forbids a refusal.
func (a *Arena) InResets() (n int) {
	for _, s := range a.shards() {
		n += int(s.inResets)
		if len(s.runs) == runsMost {
			n += int(s.waits)
		}
	}
	return n
}

// Places returns where the shards lie, and their type, and where the buckets lie, how many there
// are, and theirs.
func (a *Arena) Places() (addresses []unsafe.Pointer, shardType reflect.Type, buckets unsafe.Pointer, n int, bucketType reflect.Type) {
	for _, s := range a.shards() {
		addresses = append(addresses, unsafe.Pointer(s))
	}
	return addresses, reflect.TypeFor[shard](), unsafe.Pointer(a.buckets.Load()), int(a.mask.Load()) + 1, reflect.TypeFor[bucket]()
}

// StartAgain makes an arena that was not used yet begin with n shards. The next meeting in the first
// one moves a bucket.
func (a *Arena) StartAgain(n int) {
	a.start(n)
	a.shards()[0].misses.Store(patience - 1)
}

// HintOf returns a hint that leads to shard k. If it was not made yet, goroutines with the hints of
// different shards can be told apart.
func (a *Arena) HintOf(k int) uint32 {
	for i := range a.mask.Load() + 1 {
		if s := bucketOf(a.buckets.Load(), i).shard.Load(); int(s.number) == k && len(a.shards()) == a.Config.Shards {
			return i << bucketShift
		}
	}
	return uint32(k) << bucketShift
}

// RemoveAt is Remove to shard k.
func (a *Arena) RemoveAt(k int, h uint64) bool { return a.shards()[k].remove(h) }

// Inspect returns the handles of what is ready and in the bag.
func (m *Magazine) Inspect() (ready, bag []uint64) {
	for _, k := range m.ready {
		ready = append(ready, k.h)
	}
	for _, k := range m.bag[m.start:m.used] {
		bag = append(bag, k.h)
	}
	return ready, bag
}

// View returns the table that m goes by.
func (m *Magazine) View() *PageTable { return m.view.Load() }

// SpentInLimbo returns how many slots in limbo or in the backlog count as exhausted soon.
func (a *Arena) SpentInLimbo() int64 { return a.spentInLimbo() }

// Meta returns how many slots slot i's page has, where its pageMeta lies, its type, its homes, and
// its counts of holders or nil.
func (t *PageTable) Meta(i uint32) (n uint32, address unsafe.Pointer, metaType reflect.Type, homes, counts []atom.Uint32) {
	m, _ := t.meta(i)
	if h := m.holders.Load(); h != nil {
		counts = h.count
	}
	return m.n, unsafe.Pointer(m), reflect.TypeFor[pageMeta](), m.homes, counts
}

// Units returns the address of each unit.
func (t *PageTable) Units() []uintptr { return t.entries() }

// Absent returns the floors of the slots without memory.
func (t *Table) Absent() map[uint32]uint32 {
	floors := make(map[uint32]uint32)
	for _, d := range t.decommitted {
		m, _ := t.Pages().meta(d.firstSlot)
		for i := range m.n {
			floors[d.firstSlot+i] = d.floor
		}
	}
	return floors
}

// Unallotted reports whether slot i was not handed out, or not since its page came back.
func (t *Table) Unallotted(i uint32) bool {
	next, end := t.recommitRange.bounds()
	return uint64(i) >= t.next.Load() || next <= i && i < end
}

// Void returns the unit that stands for those without memory, or nil.
func (t *Table) Void() unsafe.Pointer { return t.stub }
