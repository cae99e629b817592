package shard

import (
	"math"
	"slices"

	"coatcheck/shard/slots"
)

// Bounds of one step, and Ahead: how many slots of 16 bytes a shard takes although others have
// some.
const (
	ReclaimMost = reclaimMost
	SpliceLeast = spliceLeast
	SpliceMost  = spliceMost
	ReadyMost   = readyMost
	ResetRun    = resetRun
	RunsMost    = runsMost
	ApartMost   = apartMost
	Patience    = patience
	CellsASlot  = cellsASlot
	CellsPaid   = cellsPaid
	OthersFirst = othersFirst
	Ahead       = aheadBytes / 16

	// VisitsAll reports whether each slot is visited that is reclaimed, as in the debug build.
	VisitsAll = slots.Poisons
)

// Shard is the type of shards. Its methods here are for tests of one shard's lists.
type Shard = shard

func (s *shard) TakeOne() (*slots.Hook, uint64) { return s.pop() }

func (s *shard) Fresh() (*slots.Hook, uint64) { return s.takeFresh() }

func (s *shard) Refill(n uint32) (*slots.Hook, uint64) { return s.allocRange(n) }

func (s *shard) SetHome(lo, hi uint32) { s.setHome(lo, hi) }

func (s *shard) Home(i uint32) *shard { return s.home(i) }

func (s *shard) Claim() (*slots.Hook, uint64, error) { return s.claim() }

func (s *shard) Contend() { s.contend() }

func (s *shard) Met(h uint32) { s.contendAs(h) }

func (s *shard) SetMisses(n uint32) { s.misses.Store(n) }

// Reclaim reclaims, for target or for no insertion, and then also what was removed since the last seal. It reports
// whether another call would move more at once.
func (s *shard) Reclaim(target *shard) (unfinished bool) {
	s.lock()
	if target == nil {
		s.backlog.seal(s)
	}
	return s.reclaimAndUnlock(target)
}

func (s *shard) Lock() { s.lock() }

func (s *shard) Unlock() { s.unlock() }

func (s *shard) Remove(h uint64) bool { return s.remove(h) }

func (s *shard) Removals() Removals { return Removals{shard: s} }

func (s *shard) Head() uint64 { return s.free.Head.Load() }

func (a *Arena) Decide(s *shard, began uint64) (uint64, error) {
	d := s.claimLocked(began)
	return d.h, d.err
}

// RefuseAfter finds no slot for s, calls between, and returns the refusal, or nil if the caller is to look again.
func (a *Arena) RefuseAfter(s *shard, between func()) error {
	list := a.shards()
	list.lock()
	defer list.unlock()
	var d verdict
	if d.takeLocked(s); d.slot != nil || d.grow {
		panic("shard: there is no reason to refuse")
	}
	between()
	return d.refuseLocked(s)
}

// Finds reports whether a verdict lets the arena grow, and Slack is slack.
func (a *Arena) Finds(s *shard, began uint64) (grow bool) { return s.claimLocked(began).grow }

func (a *Arena) Slack() int { return a.slack() }

// LockVerdicts keeps others from making shards until the function that it returns is called.
func (a *Arena) LockVerdicts() (unlock func()) { a.verdicts.mu.Lock(); return a.verdicts.mu.Unlock }

// Free returns how many slots the shard has for insertions, Ready how many of them wait for an
// empty freelist, and Pending how many slots wait or are in Resets.
func (s *shard) Free() int { free, _, _ := s.count(); return free }

func (s *shard) Ready() int { _, ready := s.pending(); return ready }

func (s *shard) Pending() int { _, limbo, _ := s.count(); return limbo }

// MostOwned is how many slots joined batches have, at most.
func (s *shard) MostOwned() int { return int(s.arena.mostOwned) }

// Seals is seals, and Batches returns how many batches wait.
func (s *shard) Seals() uint64 { return s.backlog.seals }

func (s *shard) Batches() int { return s.backlog.waiting.Len() }

// Full is full.
func (s *shard) Full() bool { return s.backlog.waiting.full() }

// BacklogBytes is bytes.
func (s *shard) BacklogBytes() int64 { return s.backlog.bytes() + s.ready.bytes() }

// UnpaidRound is a round for an insertion into another shard, which, beside many guards, scans only if removals have
// paid for it.
func (s *shard) UnpaidRound() {
	s.lock()
	s.reclaimAndUnlock(s.next(1))
}

// Round is one round of reclaiming, with its Resets. It returns how many slots it visited.
func (s *shard) Round(target *shard) (visits int, unfinished bool) {
	s.lock()
	if target == nil {
		s.backlog.seal(s)
	}
	var r round
	r.reclaim(s, target)
	s.unlock()
	if r.resets.n > 0 {
		r.resets.call()
	}
	return r.visits, r.unfinished
}

// Goal is what Synchronize waits for in a shard. Reached asks without reclaiming.
type Goal = goal

func (s *shard) Goal() *Goal {
	s.lock()
	defer s.unlock()
	return &goal{shard: s, set: true, number: s.backlog.setGoal(s)}
}

func (s *shard) NewGoal() *Goal { return &goal{shard: s} }

// Step is step, with its Resets.
func (g *goal) Step() (unfinished, reached bool) {
	r, reached := g.step()
	if r.resets.n > 0 {
		r.resets.call()
	}
	return r.unfinished, reached
}

func (g *goal) Reached() bool {
	g.shard.lock()
	defer g.shard.unlock()
	return g.shard.backlog.reached(g.number)
}

// Len returns how many slots wait for End.
func (r *Removals) Len() int { return int(r.chain.N) }

// Return gives back a slot that was popped as h, as magazines do.
func (s *shard) Return(slot *slots.Hook, h uint64) {
	m := Magazine{arena: s.arena, shard: s, ready: []slots.Cached{slots.NewCached(slot, h)}}
	m.giveBack(Caller)
}

// Order returns the slots of the freelist, and then those that are ready, in the order in
// which they will be handed out. listed is how many are in the freelist.
func (s *shard) Order() (order []uint32, listed int) {
	add := func(i uint32) {
		for ; i != slots.None; i = slots.Low(s.arena.Table.Slot(i).Word.Load()) {
			order = append(order, i)
		}
	}
	add(slots.Low(s.free.Head.Load()))
	listed = len(order)
	for _, c := range slices.Backward(s.ready.chains) {
		add(slots.Low(c.First))
	}
	return order, listed
}

// PopMany takes up to n slots and returns the handles that they will have.
func (s *shard) PopMany(n int) (hs []uint64) {
	dst := make([]slots.Cached, n)
	for _, k := range slices.Backward(dst[:s.popMany(dst)]) {
		hs = append(hs, k.H)
	}
	return hs
}

// Slot returns slot i, Shard shard k, and the others the arena's counts.
func (a *Arena) Slot(i uint32) *slots.Hook { return a.Table.Slot(i) }

func (a *Arena) Shard(k int) *shard { return a.shards()[k] }

func (a *Arena) Made() int { return len(a.shards()) }

func (a *Arena) Buckets() int { return int(a.mask.Load()) + 1 }

func (a *Arena) SetDealt(n uint32) { a.magazines.dealt.Store(n) }

func (m *Magazine) Shard() *shard { return m.shard }

func (a *Arena) Exhausted() int64 { return a.Table.Exhausted() }

func (a *Arena) Decisions() uint64 { return a.verdicts.number.Load() }

// SetHolders makes a hold one of n, and MostHolders is how many there may be.
func (k *Hold) SetHolders(n uint32) { k.count.Store(n) }

const MostHolders = mostHolders

// Stamp gives slot i a stamp, and StampOf is StampOf.
func (a *Arena) Stamp(i uint32) { a.Table.SetStamp(i, a.Domain.Stamp()) }

func (a *Arena) StampOf(i uint32, now uint64) uint64 { return a.Table.StampOf(i, now) }

// TrimAll is Trim that does not reclaim before.
func (a *Arena) TrimAll() int64 { return a.trim() }

// TrimAfter is TrimAll that calls a function when it has chosen pages, before it takes slots.
func (a *Arena) TrimAfter(chosen func()) int64 {
	t := newTrimmer(a)
	t.choose()
	chosen()
	return t.trim()
}

// TrimWithin is TrimAll that calls a function when it has all locks, before it takes slots.
func (a *Arena) TrimWithin(locked func()) int64 {
	t := newTrimmer(a)
	t.choose()
	t.taken = within{t.taken, locked}
	return t.trim()
}

type within struct {
	taken
	locked func()
}

func (w within) init(shards int) {
	w.taken.init(shards)
	w.locked()
}

// OldPage is the generation from which a page is not given up any more.
const OldPage = oldPage

// Wake is what a removal does after its push. WaitsAsleep returns when the call that waits has looked, and sleeps unless it is
// woken. There must be one.
func (a *Arena) Wake() { a.waiters.wake() }

func (a *Arena) WaitsAsleep() bool {
	defer a.LockVerdicts()() // its look has ended
	return a.waiters.asleep.Load() != 0
}

// HasCurrentView reports whether the magazine's view is the current table.
func (m *Magazine) HasCurrentView() bool { return m.view.Load() == m.arena.Table.Pages() }

// Reach returns how many slots the magazine may keep.
func (m *Magazine) Reach() int { return m.reach }

// Beside begins a part that runs no user code, calls others, and ends it.
func (m *Magazine) Beside(others func()) {
	turn := m.begin()
	others()
	m.mustBeAlone(turn)
}

// Kept returns how many slots the magazine keeps.
func (m *Magazine) Kept() int { return len(m.ready) + m.used - m.start }

// Ordered reports whether the parts of the bag follow each other, up to the open part.
func (m *Magazine) Ordered() bool {
	at := m.start
	for k := range m.seals.Len() {
		if end := m.seals.Entry(k).Body; end <= at {
			return false
		} else {
			at = end
		}
	}
	return m.open == at && at <= m.used || m.open == 0 && m.seals.Len() == 0
}

// Ordered reports whether batches are in the order of their stamps, and what is ready ends with None.
func (s *shard) Ordered() bool {
	s.lock()
	defer s.unlock()
	for k := 1; k < s.backlog.waiting.Len(); k++ {
		if s.backlog.waiting.Entry(k-1).Stamp > s.backlog.waiting.Entry(k).Stamp {
			return false
		}
	}
	for _, c := range s.ready.chains {
		i := c.Top()
		for range c.N {
			i = slots.Low(s.arena.Table.Slot(i).Word.Load())
		}
		if i != slots.None {
			return false
		}
	}
	return true
}

// PushOne pushes the slot of h, which its caller has unlinked when limbo was as seen says.
func (s *shard) PushOne(seen, h uint64) bool { return s.limbo.PushOne(seen, slots.Low(h)) }

// Removed returns how many slots were removed since the last seal.
func (s *shard) Removed() int { return int(s.removed()) }

// Seal seals what was removed, and ends no epoch.
func (s *shard) Seal() {
	s.lock()
	defer s.unlock()
	s.backlog.seal(s)
}

// KeepsTaken reports whether the arrays of the lists have anything that was taken out. It would keep the memory of its page.
func (s *shard) KeepsTaken() bool {
	w, r := &s.backlog.waiting.StampList, &s.ready
	batches := append(w.List[len(w.List):cap(w.List)], w.List[:len(w.List)-w.Len()]...)
	return slices.ContainsFunc(batches, func(b slots.Stamped[batch]) bool { return b.Body.Last != nil }) ||
		slices.ContainsFunc(r.chains[len(r.chains):cap(r.chains)], func(c slots.Chain) bool { return c.Last != nil })
}

// CollectorRound is the round of ClearExpired in s, where what was removed could not be sealed before.
func CollectorRound(s *Shard) {
	s.arena.Domain.EndEpoch()
	pins := s.arena.Domain.Scan()
	s.lock()
	var r round
	r.runByAndUnlock(s, pins)
}

// Ranked returns an order of reuse whose ages are numbered from 0. So have the orders of an arena and of its copy, which
// has as many stamps as there are ages.
func Ranked(b []byte) []byte {
	o, c := order{}, scribe{b: b, reads: true}
	c.order(&o)
	ages := []*uint64{&o.floorAge, &o.account.began}
	if o.account.flags&foundNone == 0 {
		ages = append(ages, &o.account.oldest)
	} else {
		o.account.oldest = 0
	}
	for k := range o.waiting {
		ages = append(ages, &o.waiting[k].age, &o.waiting[k].leastAge)
	}
	for _, list := range o.removed() {
		for k := range list.slots {
			ages = append(ages, &list.slots[k].age)
		}
	}
	var known []uint64
	for _, age := range ages {
		known = append(known, *age)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, age := range ages {
		k, _ := slices.BinarySearch(known, *age)
		*age = uint64(k)
	}
	c = scribe{}
	c.order(&o)
	return c.b
}

// ForgedOrders returns what no copy of an arena may take for its order b, by what is wrong. In the arena slot live is live,
// and slot spent is exhausted; the first list of b is not empty, and there are two equal pages without memory.
func ForgedOrders(a *Arena, b []byte, live, spent uint32) map[string][]byte {
	forged := map[string][]byte{}
	forge := func(name string, change func(o *order)) {
		o, c := order{}, scribe{b: b, reads: true}
		c.order(&o)
		change(&o)
		c = scribe{}
		c.order(&o)
		forged[name] = c.b
	}
	slotOf := func(i uint32) place {
		return place{index: uint64(i), generation: uint64(slots.Generation(a.Table.Slot(i).Word.Load()))}
	}
	forge("stamped", func(o *order) { o.stamped = 2 })
	forge("a stub and a half", func(o *order) { o.stub = 2 })
	forge("no stub", func(o *order) { o.stub = 0 })
	forge("unworn", func(o *order) { o.unworn = 2 })
	forge("flags", func(o *order) { o.account.flags = allFlags })
	forge("credit", func(o *order) { o.account.credit = math.MaxInt32 + 1 })
	forge("guards", func(o *order) { o.account.guards = math.MaxInt32 + 1 })
	forge("pushed", func(o *order) { o.pushed = slots.SealEvery })
	forge("a page twice", func(o *order) { copy(o.gone[2:4], o.gone[:2]) })
	forge("a page and its neighbour's half", func(o *order) { o.gone[0]++ })
	forge("half a page", func(o *order) { o.gone = o.gone[:len(o.gone)-1] })
	forge("another floor", func(o *order) { o.gone[1] += 2 })
	for name, p := range map[string]place{"live": slotOf(live), "listed": slotOf(slots.Low(a.shards()[0].free.Head.Load()))} {
		forge(name+" in limbo", func(o *order) { o.limbo.slots = append(o.limbo.slots, p) })
		forge(name+", late", func(o *order) { o.late.slots = append(o.late.slots, p) })
		forge(name+", ready", func(o *order) { o.ready = append(o.ready, places{1, []place{p}}) })
		forge(name+", waiting", func(o *order) { o.waiting = append(o.waiting, queued{places: places{0, []place{p}}}) })
		forge(name+", fresh", func(o *order) { o.fresh = []uint64{p.index, p.index + 1} })
		forge(name+", back", func(o *order) { o.again = []uint64{p.index, p.index + 1} })
		forge(name+", gone", func(o *order) { o.gone = append(o.gone, p.index, p.generation) })
	}
	forge("a page of which a part is vacant", func(o *order) {
		p := o.free.slots[0]
		m, _ := a.Table.Pages().Meta(uint32(p.index))
		first := slotOf(m.FirstSlot)
		o.free.slots, o.gone = nil, append(o.gone, first.index, first.generation)
	})
	forge("free and spent", func(o *order) { o.free.slots = append(o.free.slots, slotOf(spent)) })
	forge("ready and spent", func(o *order) { o.ready = append(o.ready, places{1, []place{slotOf(spent)}}) })
	forge("fresh and spent", func(o *order) { o.fresh = []uint64{uint64(spent), uint64(spent) + 1} })
	return forged
}

// OrderInFile returns an order as a snapshot has it, whose numbers are 1, 2, 3 and so on. Each of its lists has one
// element, and a 1 before that.
func OrderInFile() []byte {
	last := uint64(0)
	next := func() uint64 { last++; return last }
	list := func() places {
		return places{known: next(), slots: []place{{index: next(), generation: next(), age: next()}}}
	}
	o := order{sizes: next(), kind: next(), next: next(), stamped: next(), stub: next(), unworn: next(), searches: next(), seals: next(), pushed: next(), floorAge: next()}
	o.fresh, o.again, o.gone, o.unused = []uint64{next()}, []uint64{next()}, []uint64{next()}, []uint64{next()}
	o.free, o.limbo, o.late = list(), list(), list()
	o.ready = []places{list()}
	o.waiting = []queued{{age: next(), leastAge: next(), number: next(), turned: next()}}
	o.waiting[0].places = list()
	o.account = account{flags: next(), oldest: next(), began: next(), credit: next(), guards: next()}
	var c scribe
	c.order(&o)
	return c.b
}
