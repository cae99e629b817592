package shard

import (
	"fmt"
	"math/bits"
	"unsafe"

	"coatcheck/internal/atom"
)

// PageTable is an immutable table of pages: growth makes another. A page is an array of slots
// that never moves. All pages have the same power-of-two length, so a look-up is a shift and a
// mask. Pages that grow geometrically would need the index's highest bit; on amd64 that
// instruction makes each look-up wait for the one before.
//
// PageTable is not generic and exports bare pointers. So package pool can write out its look-ups,
// and the compiler inlines them: each accessor would cost a quarter of the budget.
type PageTable struct {
	Base    []unsafe.Pointer         // the hook of page k's first slot; later tables share the array and append to it
	Array   unsafe.Pointer           // that array: a look-up has checked Limit and needs no second check
	Inverse uint64                   // 2^32 >> Shift: a multiplication by it takes fewer steps than a shift
	Shift   uint32                   // index >> Shift is the page; at most 31
	Mask    uint32                   // slots in a page, less one
	Limit   uint32                   // slots with an index below it have memory
	Now     *atom.Pointer[PageTable] // the current table, which has every slot of this one

	size uintptr // a copy of Layout.Size

	metas  []*pageMeta // page k's
	floors []uint32    // page k's floor if it has no memory, else 0; may be shorter (decommit.go)
}

// pageMeta has what belongs to a page and lies apart from its slots.
type pageMeta struct {
	// homes has one number for homeSlots slots: that of their home shard, from 1, or 0 for
	// none. A restored pool's slots have no home until a shard takes them.
	//
	//	writers  setHome, for the owner of a slot
	//	readers  home
	homes []atom.Uint32

	// stamps has the low half of the epoch stamp of each slot's last removal; nil unless
	// Arena.stampPerSlot. Plain access is right: the slot's owner writes it before it pushes the slot
	// on limbo (P6), and the holder of the lock reads it after it has taken limbo.
	stamps []uint32

	moved   []atom.Uint32         // one bit a slot, for Table.markMoved; nil without Reset
	holders atom.Pointer[holders] // counts of Refs; nil until makeCounts or the page's first Hold
}

// homeSlots is how many slots share a home: as many as a range has.
const homeSlots = Batch

// meta returns the pageMeta of slot i's page, and i's position in the page.
func (t *PageTable) meta(i uint32) (*pageMeta, uint32) {
	return t.metas[i>>(t.Shift&31)], i & t.Mask
}

// At returns the slot of index i, which must be below t.Limit (unsafe register, U2).
func (t *PageTable) At(i uint32) *Hook {
	if Exploring && i >= t.Limit {
		panic(outside(i, t.Limit))
	}
	return (*Hook)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
		uintptr(i&t.Mask)*t.size))
}

// beside returns how many slots from index i on, but at most n, lie in one page.
func (t *PageTable) beside(i, n uint32) uint32 { return min(n, t.Mask+1-i&t.Mask, t.Limit-i) }

// strip is a part of a page: slots that lie side by side.
type strip struct {
	first unsafe.Pointer // the first slot's hook
	size  uintptr
	n     uint32
}

// strip returns up to n slots from index i, none beyond the end of i's page.
func (t *PageTable) strip(i, n uint32) strip {
	return strip{unsafe.Pointer(t.At(i)), t.size, t.beside(i, n)}
}

// at returns slot j of the strip.
func (p strip) at(j uint32) *Hook { return (*Hook)(unsafe.Add(p.first, uintptr(j)*p.size)) }

// whole is the strip of n slots of a new page.
func (l *Layout) whole(page unsafe.Pointer, n uint64) strip {
	return strip{page, l.Size, uint32(n)}
}

func outside(i, limit uint32) string {
	return fmt.Sprintf("shard: slot %d lies outside a table of %d", i, limit)
}

const pointerSize = uint64(unsafe.Sizeof(unsafe.Pointer(nil)))

const (
	// pageBytes is the least size of a page. Below 32 KiB, a page of values with pointers has
	// a header and a size class. Larger pages all cost the same.
	pageBytes = 64 << 10

	// pageAlign is what the runtime rounds large allocations up to. 1,024 slots are a multiple
	// of it, whatever their size.
	pageAlign = 8 << 10
	pageSlots = 1024

	// wideSlot is the size from which a page has fewer than pageSlots slots, since memory
	// comes a page at a time.
	wideSlot = 512

	// The last page of a pool with a Capacity may have slots that are not used before others are
	// exhausted: at most one for spareShare others, or spareBytes.
	spareShare = 8
	spareBytes = 4 << 10

	// maxShift keeps Inverse above 1. A larger pool has several pages.
	maxShift = 31
)

// PageShift returns the binary logarithm of the slots in a page, for slots of the given size. If
// capacity is not 0, the pool will mostly have so many slots; pages are then so small that hardly
// any memory beyond them is allocated. whole asks for as few pages as that allows.
func PageShift(size uintptr, capacity uint64, whole bool) uint32 {
	n := uint64(pageBytes) / uint64(size)
	if size <= wideSlot {
		n = max(n, pageSlots)
	} else {
		n = max(4*n, 1)
	}
	if capacity > 0 && (whole || capacity < n) {
		n = capacity
	}
	shift := min(uint32(bits.Len64(max(n, 1)-1)), maxShift)
	for capacity > 0 && shift > 0 {
		spare := -capacity & (1<<shift - 1)
		if spare <= capacity/spareShare || spare*uint64(size) <= spareBytes {
			break
		}
		shift--
	}
	return shift
}

// Table owns the pages of one pool and hands out slots that were never used.
type Table struct {
	// Current is the newest table of pages.
	//
	//	writers  Init; addPage, decommit and recommit, under mu
	//	readers  every look-up
	//	orders   the store publishes the new page (P2)
	Current atom.Pointer[PageTable]

	// next is the first index that was never handed out.
	//
	//	writers  Allot and Trim, by compare-and-swap; Extend
	//	moves    it only grows; never beyond bound
	next atom.Uint64

	// exhausted counts the slots that have used up their generations and whose grace period is over.
	// They are in no list.
	//
	//	writers  exhaust and finishGrace
	//	readers  bound, spentInLimbo; Count
	//	moves    it grows
	exhausted atom.Int64

	// recommitRange is the rest of the pages that Trim gave up and that were brought back last:
	// a run, as in shard.fresh.
	//
	//	writers  Allot and Trim, by compare-and-swap; recommit, under mu, when it is empty
	recommitRange run

	// decommittedSlots counts the slots of pages without memory.
	//
	//	writers  decommit and recommit, under mu
	decommittedSlots atom.Int64

	mu          atom.Mutex
	decommitted []decommitted  // under mu: the pages without memory (decommit.go)
	stub        unsafe.Pointer // under mu: the page that the table shows in their place, or nil
	stubMeta    *pageMeta      // under mu

	max          uint64 // the most slots there may be
	inUse        uint64 // the most that are not exhausted, or 0 for max: the Capacity
	first        uint32 // the least live generation of any slot
	fresh        uint32 // the first live generation of a slot that was never used
	stampPerSlot bool   // pages have stamps
	layout       Layout
}

// Init makes an empty table for at most max slots, in pages of 1<<shift. If inUse is not 0, at
// most so many may be in use at a time.
func (t *Table) Init(max, inUse uint64, shift, first uint32, stampPerSlot bool, l Layout) {
	t.max, t.inUse, t.first, t.fresh, t.stampPerSlot, t.layout = max, inUse, first, first, stampPerSlot, l
	t.Current.Store(&PageTable{
		Inverse: 1 << (32 - shift), Shift: shift, Mask: 1<<shift - 1, Now: &t.Current,
		size: l.Size,
	})
}

// Pages returns the current table. Any index that was read before the call is below its Limit
// (P2).
func (t *Table) Pages() *PageTable { return t.Current.Load() }

// bound returns the index that no slot has which may be handed out now. A slot that is exhausted
// is replaced by one with a new index, so a pool with a Capacity does not end. next never passes
// a bound that is read later.
func (t *Table) bound() uint64 {
	if t.inUse == 0 {
		return t.max
	}
	return min(t.max, t.inUse+uint64(t.exhausted.Load()))
}

// memory returns how many of the slots below bound have been given memory. The last page may
// have more.
func (t *Table) memory() uint64 { return min(uint64(t.Pages().Limit), t.bound()) }

// Unused returns how many slots have memory and are not handed out.
func (t *Table) Unused() uint64 {
	again := uint64(t.recommitRange.left())
	handed := t.next.Load() // first: next never passes a limit that is read later
	return t.memory() - handed + again
}

// Resident returns how many slots have memory.
func (t *Table) Resident() int {
	missing := t.decommittedSlots.Load() // first: missing has been below a limit that is read later
	return int(int64(t.memory()) - missing)
}

// Left returns how many slots are not handed out, with memory or without. It loads decommittedSlots
// before recommitRange, because recommit moves slots from one to the other. In the other order it could
// find them in neither.
func (t *Table) Left() uint64 {
	missing := uint64(t.decommittedSlots.Load())
	left, handed := uint64(t.recommitRange.left()), t.next.Load()
	return missing + left + t.bound() - handed
}

// Allot hands out up to n slots that were never used, or not since their page came back. The
// slots with index lo to hi-1 are the caller's alone. If the range is empty, a page must be grown
// first, or there are Max slots already.
func (t *Table) Allot(n uint32) (lo, hi uint32) {
	for {
		// A run comes a second time if its page was given up and brought back once more. That
		// is as good.
		if first, count, _ := t.recommitRange.take(int(n)); count > 0 {
			return first, first + uint32(count)
		}
		first := t.next.Load()
		last := min(first+uint64(n), t.memory())
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

// grow makes a page if all slots have been handed out, or brings some back that were given up,
// if there are any. It reports false if there are as many slots as there may be, and also, unless
// wait is true, if another goroutine has the lock.
func (t *Table) grow(wait bool) bool {
	if wait {
		t.mu.Lock()
	} else if !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	old, handed := t.Pages(), t.next.Load()
	switch {
	case handed < t.memory() || t.recommitRange.left() > 0: // another goroutine has grown it meanwhile
	case len(t.decommitted) > 0:
		t.recommit(0)
	case handed < t.bound():
		t.addPage(old)
	default:
		return false
	}
	return true
}

// provide makes a page, or brings some back that were given up, if fewer than n slots have memory
// and are not handed out. It reports whether it did, and a further call may.
func (t *Table) provide(n uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.Unused() >= n:
		return false
	case len(t.decommitted) > 0 && t.recommitRange.left() == 0:
		t.recommit(n)
	case t.memory() < t.bound():
		t.addPage(t.Pages())
	default:
		return false
	}
	return true
}

// Provide gives memory to the slots below n, which must not be more than max.
func (t *Table) Provide(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uint64(t.Pages().Limit) < n {
		t.addPage(t.Pages())
	}
}

// newPage makes page k, of n slots, and its meta.
func (t *Table) newPage(old *PageTable, k int) (page unsafe.Pointer, n uint64, m *pageMeta) {
	n = t.slotsIn(old, k)
	page, m = t.layout.Page(n), new(pageMeta)
	if k == 0 {
		t.layout.whole(page, n).at(0).Word.Store(Pack(0, None)) // or it would equal the zero Handle (I4)
	}
	m.homes = make([]atom.Uint32, (n+homeSlots-1)/homeSlots)
	if t.stampPerSlot {
		m.stamps = make([]uint32, n)
	}
	if t.layout.Reset != nil {
		m.moved = make([]atom.Uint32, (n+31)/32)
	}
	return page, n, m
}

// slotsIn returns how many slots page k has. All have the same number, except the last that
// there may be.
func (t *Table) slotsIn(p *PageTable, k int) uint64 {
	return min(uint64(p.Mask)+1, t.max-uint64(k)<<(p.Shift&31))
}

func (t *Table) addPage(old *PageTable) {
	page, n, m := t.newPage(old, len(old.Base))
	grown := *old
	// Older tables share the array. They never read the entry that this append may write in
	// place, because it lies beyond their length.
	grown.Base = append(old.Base, page)
	grown.Array = unsafe.Pointer(unsafe.SliceData(grown.Base))
	grown.metas = append(old.metas, m)
	grown.Limit = old.Limit + uint32(n)
	t.Current.Store(&grown) // publishes (P2)
}
