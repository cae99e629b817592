package slots

import (
	"unsafe"

	"coatcheck/internal/atom"
)

// The owner of a pool's pages. It adds pages, and hands out slots that were never used, by one atomic word.
// Look-ups do not come here: they load the newest PageTable (page_table.go).

// Table owns the pages of one pool and hands out slots that were never used.
type Table struct {
	// Current is the newest table of pages.
	//
	//	writers  Init; addPage, Decommit and recommit, under mu; Provide and ExtendVacant, in a new table
	//	readers  every look-up
	//	orders   the store publishes the new page (P2)
	Current atom.Pointer[PageTable]

	// next is the first index that was never handed out.
	//
	//	writers  Allot and HandOut, by compare-and-swap; Extend and ExtendVacant, in a new table
	//	moves    it only grows; never beyond bound
	next atom.Uint64

	// exhausted counts the slots that have used up their generations and whose grace period is
	// over. They are in no list.
	//
	//	writers  CountExhausted; RestoreSpent, in a new table
	//	readers  Bound; Exhausted
	//	moves    it grows
	exhausted atom.Int64

	// spent counts the slots that have left their last generation: the exhausted ones, and those that
	// wait to be.
	//
	//	writers  CountSpent, before the slot is pushed on limbo or dropped; RestoreSpent, in a new table
	//	readers  Spent
	//	moves    it grows; exhausted never passes a spent that is read later
	spent atom.Int64

	// RecommitRange is the rest of the pages that Trim gave up and that were brought back last:
	// a Range, as shard.fresh is.
	//
	//	writers  Allot, and Trim of an arena as the owner of all lists, by compare-and-swap; recommit,
	//	         under mu, when it is empty; the goroutine that restores an arena
	RecommitRange Range

	// decommittedSlots counts the slots of pages without memory.
	//
	//	writers  Decommit and recommit, under mu; hide and Occupy, in a new table
	decommittedSlots atom.Int64

	// gone counts the lives of pages that gave up their memory (lives.go).
	//
	//	writers  Decommit, under mu
	//	readers  Survey
	gone atom.Int64

	// unborn counts those below the floors of pages that came back, which never began.
	//
	//	writers  recommit, under mu; BeginCount, in a new table
	//	readers  Inserted
	unborn atom.Int64

	//lint:ignore U1000 only the tag uses it: it guards the marks of slots (debug_on.go)
	vacancy     vacancy
	mu          atom.Mutex
	decommitted []Decommitted  // under mu: the pages without memory (decommit.go)
	stub        unsafe.Pointer // under mu: the unit that the table shows in place of each of theirs, or nil

	max          uint64  // the most slots there may be
	inUse        uint64  // the most that are not exhausted, or 0 for max: the Capacity
	whole        uint64  // the slots of the first page if it has all of the Capacity, else 0
	origins      Origins // with which generation each slot begins
	first        uint32  // origins.first, or later, for slots that were never used
	layout       Layout
	stampPerSlot bool // pages have stamps
	newFirst     bool // pages are added before others come back
	sizes        PageSizes

	// changes counts how often pages were added, brought back or given up, so it names a state of the
	// table. If a number comes again, after 2^32 changes, a caller may add a page too many.
	//
	//	writers  addPage, recommit and Decommit, under mu or in a new table, once Allot finds the new slots
	//	readers  Grow and GrowAhead, under mu; Changes
	changes atom.Uint32

	// needed is how many slots had memory when Grow was called last, or fewer after a Trim.
	//
	//	writers  Grow and Decommit, under mu
	//	readers  roomAhead
	needed atom.Uint32
}

// Setup has the properties of a Table.
type Setup struct {
	Layout
	Slots      uint64 // the most slots that there may ever be
	Capacity   uint64 // the most that are not exhausted, or 0 for Slots
	Pages      PageSizes
	Origin     uint32 // with which generation each slot begins (OriginsOf)
	FreshStage uint32 // the first live stage of slots that were never used, if it is above 1; at most LastStage
	Fixed      bool   // the first page has all of the Capacity
	Stamps     bool   // slots have stamps
	NewFirst   bool   // pages are added before others come back, as their slots were never used
}

// Init makes an empty table.
func (t *Table) Init(c Setup) {
	t.max, t.inUse, t.sizes = c.Slots, c.Capacity, c.Pages
	t.stampPerSlot, t.layout, t.newFirst = c.Stamps, c.Layout, c.NewFirst
	t.origins = OriginsOf(c.Origin)
	t.first = t.origins.first
	t.BeginAt(c.FreshStage)
	unit, page := uint32(c.Pages.Unit), uint32(c.Pages.Page)
	now := &PageTable{
		Inverse: 1 << (32 - unit), Shift: unit, Mask: 1<<unit - 1, now: &t.Current, size: c.Size,
		split: 1 << page, low: unit, high: page, skew: 1<<(page-unit) - 1,
	}
	if c.Fixed {
		t.whole = (t.inUse + uint64(now.Mask)) &^ uint64(now.Mask)
		now.split, now.low, now.high = uint32(t.whole), 31, unit
		now.skew = (now.split-1)>>31 + 1 - now.split>>unit
	}
	t.Current.Store(now)
}

// Pages returns the current table. Any index that was read before the call is below its Limit
// (P2).
func (t *Table) Pages() *PageTable { return t.Current.Load() }

// Slot returns the slot of an index that was read from a word.
func (t *Table) Slot(i uint32) *Hook { return t.Pages().At(i) }

// Origins says with which generation each slot begins.
func (t *Table) Origins() *Origins { return &t.origins }

// GenerationOf returns the generation of slot i, whose word is word. A word that was never written stands for
// the generation before the first.
func (t *Table) GenerationOf(i uint32, word uint64) uint32 {
	if g := Generation(word); g != 0 {
		return g
	}
	return t.first + t.origins.spread(i) - 1
}

// StageOf is GenerationOf for the stage.
func (t *Table) StageOf(i uint32, word uint64) uint32 {
	return t.origins.Stage(i, t.GenerationOf(i, word))
}

// FirstLife returns slot i, of a range, and the handle that it will have.
func (t *Table) FirstLife(i uint32) (*Hook, uint64) {
	slot := t.Slot(i)
	return slot, Pack(t.GenerationOf(i, slot.Word.Load())+1, i)
}

// Lock keeps the table as it is until Unlock: meanwhile no page is added, comes back or is given up.
func (t *Table) Lock() { t.mu.Lock() }

// Unlock ends what Lock began.
func (t *Table) Unlock() { t.mu.Unlock() }

// Bound returns the index below which all slots lie that may be handed out now. A slot that is
// exhausted is replaced by one with a new index, so a pool with a Capacity does not end. next never
// passes a bound that is read later.
func (t *Table) Bound() uint64 {
	if t.inUse == 0 {
		return t.max
	}
	return min(t.max, t.inUse+uint64(t.exhausted.Load()))
}

// Exhausted returns how many slots are exhausted, and that they are out of their grace period.
func (t *Table) Exhausted() int64 { return t.exhausted.Load() }

// CountExhausted counts one more. It is in no list.
func (t *Table) CountExhausted() { t.exhausted.Add(1) }

// CountSpent counts one more slot that has left its last generation. The caller owns it.
func (t *Table) CountSpent() { t.spent.Add(1) }

// Spent returns how many slots have left their last generation, and how many of them still wait to be
// exhausted. A slot is counted before it is pushed on limbo, so the reclaimer of its batch finds it.
func (t *Table) Spent() (n, waiting int64) {
	exhausted := t.exhausted.Load() // first: it never passes a spent that is read later
	n = t.spent.Load()
	return n, n - exhausted
}

// RestoreSpent sets the numbers in a table that no other goroutine has: of slots that are exhausted, and
// of those that wait to be.
func (t *Table) RestoreSpent(exhausted, waiting uint64) {
	t.exhausted.Store(int64(exhausted))
	t.spent.Store(int64(exhausted + waiting))
}

// WithMemory returns how many of the slots below bound have been given memory. The last page may
// have more.
func (t *Table) WithMemory() uint64 { return min(uint64(t.Pages().Limit), t.Bound()) }

// Unused returns how many slots have memory and are not handed out.
func (t *Table) Unused() uint64 {
	again := uint64(t.RecommitRange.Left())
	handed := t.next.Load() // first: next never passes a limit that is read later
	return t.WithMemory() - handed + again
}

// Resident returns how many slots have memory.
func (t *Table) Resident() int {
	missing := t.decommittedSlots.Load() // first: missing has been below a limit that is read later
	return int(int64(t.WithMemory()) - missing)
}

// Missing returns how many slots have no memory.
func (t *Table) Missing() uint64 { return uint64(t.decommittedSlots.Load()) }

// Left returns how many slots are not handed out, with memory or without. It loads decommittedSlots
// before RecommitRange, because recommit moves slots from one to the other. In the other order it
// could find them in neither.
func (t *Table) Left() uint64 {
	missing := uint64(t.decommittedSlots.Load())
	left, handed := uint64(t.RecommitRange.Left()), t.next.Load()
	return missing + left + t.Bound() - handed
}

// Allot hands out up to n slots that were never used, or not since their page came back. The
// slots with index lo to hi-1 are the caller's alone. If the range is empty, a page must be grown
// first, or there are as many slots as there may be.
func (t *Table) Allot(n uint32) (lo, hi uint32) {
	for {
		// The same run may come again, if its page was given up and brought back meanwhile. That is
		// as good.
		if first, count, _ := t.RecommitRange.Take(int(n)); count > 0 {
			return first, first + uint32(count)
		}
		first := t.next.Load()
		last := min(first+uint64(n), t.WithMemory())
		if first >= last {
			return 0, 0
		}
		// Success proves that no other goroutine was given the range. Failure means that
		// another was given slots.
		if t.next.CompareAndSwap(first, last) {
			return uint32(first), uint32(last)
		}
	}
}

// HandOut hands out the slots from lo to hi-1, if lo is the first that was not handed out. Success makes
// them the caller's.
func (t *Table) HandOut(lo, hi uint64) bool { return t.next.CompareAndSwap(lo, hi) }

// Changes returns how often pages were added, brought back or given up: a number for Grow. Load it before
// the look that finds no slot.
func (t *Table) Changes() uint32 { return t.changes.Load() }

// Grow brings pages back that were given up, or adds one if there are none. The caller found that the
// pool needs it (takeLocked) when the table had changed so many times. If the table has changed since,
// Grow does nothing. So for each state of the table one page is added, whoever finds that it is
// needed, and however long they wait for the lock.
//
// The wrong version asks only whether slots are left. While a goroutine waits for the lock, others add
// a page, use it up, and remove what they inserted. Then it adds a page to a pool that is almost empty,
// and so does each goroutine behind it: 4 live values took 8,192 slots.
func (t *Table) Grow(changes uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes.Load() == changes {
		t.needed.Store(uint32(t.Resident()))
		t.growLocked()
	}
}

// GrowAhead is Grow for a caller that could do without, since another shard has slots. It reports
// whether there may be slots to hand out now. It adds nothing if roomAhead says no, or if another
// goroutine has the lock.
func (t *Table) GrowAhead(changes uint32, slack int) bool {
	if !t.roomAhead(slack) || !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	if t.changes.Load() != changes {
		return true
	}
	return t.growLocked() // as the table has not changed, there is room still
}

// roomAhead reports whether a page more leaves at most so many slots beyond those that were needed. A page
// that comes back counts as a new one, which is no shorter.
func (t *Table) roomAhead(slack int) bool {
	return uint64(t.Resident())+t.nextPage(uint64(t.Pages().Limit)) <= uint64(t.needed.Load())+uint64(slack)
}

// growLocked brings pages back, or adds one. It reports false if there are as many slots as there may
// be. The caller holds mu, and found that all slots with memory were handed out.
func (t *Table) growLocked() bool {
	if t.next.Load() < t.WithMemory() || t.RecommitRange.Left() > 0 {
		return true // a slot was exhausted since, and one of the last page replaces it; or the number of changes came again
	}
	return t.more(0)
}

// more brings pages back, for n slots or as many as recommit chooses, or adds one. It reports false if there is
// no page to bring back or to add. The caller holds mu.
func (t *Table) more(n uint64) bool {
	back, room := len(t.decommitted) > 0 && t.RecommitRange.Left() == 0, t.WithMemory() < t.Bound()
	switch {
	case back && !(room && t.newFirst):
		t.recommit(n)
	case room:
		t.addPage(t.Pages())
	default:
		return false
	}
	return true
}

// ProvideMore brings pages back that were given up, or makes one, unless n slots have memory and are
// not handed out. It reports whether it did; then a further call may do more.
func (t *Table) ProvideMore(n uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Unused() < n && t.more(n)
}

// Provide gives memory to the slots below n, which must not be more than max, in a table that no other goroutine has.
func (t *Table) Provide(n uint64) {
	for uint64(t.Pages().Limit) < n {
		t.addPage(t.Pages())
	}
}

// addPage adds the next page.
func (t *Table) addPage(old *PageTable) {
	page, m := t.newPage(old.Limit, uint32(t.nextPage(uint64(old.Limit))))
	grown := *old
	grown.Limit = old.Limit + m.N
	if grown.Units() > grown.room {
		grown.move(old, grown.Units())
	}
	// Older tables share the arrays. They never read what is written in place here, because it
	// lies beyond their length.
	grown.metas = longer(old.metas, int(grown.MetaOf(grown.Limit-1))+1)
	grown.show(m, page, uintptr(1)<<(old.Shift&31)*t.layout.Size)
	grown.keep()
	t.Current.Store(&grown) // publishes (P2)
	t.changes.Add(1)
}

// Allocated returns how many slots have been handed out. No handle names a slot with an index
// that great. Every slot below lies below the Limit of a table that is loaded after the call.
func (t *Table) Allocated() uint64 { return t.next.Load() }
