//go:build interleave

package shard

import (
	"reflect"
	"unsafe"

	"coatcheck/shard/slots"
)

// The sizes of sizes.go, for builds that explore schedules.
const (
	fixedBatches = 4
	apartMost    = 2
	fixedBuckets = 4
	readyMost    = 2
	spliceLeast  = 2
	spliceMost   = 4
	youngMost    = 2
	firstReach   = 8 // three of these fit into a part of the bag
	resetRun     = 2
	runsMost     = 2
	aheadBytes   = 64 // one slot: a shard goes ahead once
	rangeLeast   = 2
	othersFirst  = 2
	patience     = 2

	cellsPaid      = 1
	cellsPaidInBag = 16
)

// Contents shows how each of a shard's lists begins. Explored schedules check invariants on it
// between two steps of a run.
type Contents struct {
	Free, Fresh    uint64         // the words
	Limbo, Late    List           // by their words
	Lock           unsafe.Pointer // while a thread holds it, the lists below are in its hands
	Waiting, Ready []List
}

// List is a list of slots that only the holder of a lock touches, and a batch's stamp.
type List struct {
	First, N uint32
	Stamp    uint64
}

// Inspect returns the contents of the shards.
func (a *Arena) Inspect() (contents []Contents) {
	for _, s := range a.shards() {
		c := Contents{
			Free: s.free.Head.Load(), Fresh: s.fresh.Word.Load(), Lock: unsafe.Pointer(&s.mu),
		}
		c.Limbo.First, c.Limbo.N = s.limbo.Top()
		c.Late.First, c.Late.N = s.late.Top()
		add := func(l *slots.Chain, stamp uint64) {
			if l.N > 0 {
				c.Waiting = append(c.Waiting, List{l.Top(), l.N, stamp})
			}
		}
		b := &s.backlog
		for k := range b.waiting.Len() {
			w := b.waiting.Entry(k)
			add(&w.Body.Chain, w.Stamp)
		}
		for _, r := range s.ready.chains {
			c.Ready = append(c.Ready, List{r.Top(), r.N, 0})
		}
		contents = append(contents, c)
	}
	return contents
}

// ShardsMade returns how many shards there are, and the lock under which they are made (I13).
func (a *Arena) ShardsMade() (n int, lock unsafe.Pointer) {
	return len(a.shards()), unsafe.Pointer(&a.verdicts.mu)
}

// NotReplaying makes an arena that was not used yet one that does not replay: ClearExpired
// reclaims.
func (a *Arena) NotReplaying() {
	a.Replays = false
	for _, s := range a.shards() {
		s.backlog.Frontier.Init(a.Domain, false)
	}
}

// InResets returns how many slots are in Resets, or wait only for a run of Resets. A shard may
// not begin a run while it has as many as it may have. None of these slots forbids a refusal.
func (a *Arena) InResets() (n int) {
	for _, s := range a.shards() {
		n += int(s.backlog.inResets)
		if len(s.backlog.runs) == runsMost {
			n += int(s.backlog.waits)
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
		ready = append(ready, k.H)
	}
	for _, k := range m.bag[m.start:m.used] {
		bag = append(bag, k.H)
	}
	return ready, bag
}

// View returns the table that m goes by.
func (m *Magazine) View() *slots.PageTable { return m.view.Load() }

// SpentInLimbo returns how many slots in limbo or in the backlog count as exhausted soon.
func (a *Arena) SpentInLimbo() int64 { _, waiting := a.Table.Spent(); return waiting }
