package shard

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"coatcheck/internal/atom"
)

// Slot is the storage of one value. The value comes first, so that a T of no size costs
// nothing. A slot is the value plus 8 bytes, rounded up to 8.
type Slot[T any] struct {
	// Value belongs to the slot's owner while the slot is vacant (I1), and to the holders of
	// the handle while it is live, who synchronize among themselves. Plain access is right:
	// the store of a live word publishes Value (P1), and no write follows before every guard
	// that may read it has gone (P5). A Get without a pin may read Value at any time, and
	// discards what it read if Word has changed (L12).
	Value T

	// Word is described in word.go.
	//
	//	writers  the slot's owner; the goroutine that unlinks it, by compare-and-swap (I1)
	//	readers  any holder of a handle
	//	moves    vacant → live → retired or vacant; the generation grows (I2)
	//	orders   the store of a live word publishes Value (P1)
	Word atom.Uint64
}

// Publish makes the slot live with the handle h and its present Value. The caller owns the
// slot. A release store is enough: the caller itself goes by h from now on, and finds its own
// store. Publish returns h.
func (s *Slot[T]) Publish(h uint64) uint64 { return atom.StoreRelease(h, &s.Word) } // publishes (P1)

// set changes the word of a slot that the caller owns, or whose list it holds. A plain store is
// enough, because a later compare-and-swap or unlocking makes the slot known to others.
func (s *Slot[T]) set(word uint64) { atom.StoreLast(word, &s.Word) }

// PageTable is an immutable table of pages: growth makes another. A page is an array
// of slots that never moves. All pages have the same power-of-two length, so that a look-up is
// a shift and a mask. Pages that grow geometrically would need the index's highest bit; on
// amd64 that instruction makes each look-up wait for the one before.
//
// PageTable is not generic and exports bare pointers, so that package pool can write its look-ups
// out and the compiler inlines them: each accessor would cost a quarter of the budget.
type PageTable struct {
	Base    []unsafe.Pointer         // page k's first slot; later tables share the array and append to it
	Array   unsafe.Pointer           // that array: a look-up has checked Limit and needs no second check
	Inverse uint64                   // 2^32 >> Shift: a multiplication by it takes fewer steps than a shift
	Shift   uint32                   // index >> Shift is the page; at most 31
	Mask    uint32                   // slots in a page, less one
	Limit   uint32                   // slots with an index below it have memory
	Now     *atom.Pointer[PageTable] // the current table, which has every slot of this one

	metas  []*pageMeta // page k's
	floors []uint32    // page k's floor if it has no memory, else 0; may be shorter (absent.go)
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
	// Arena.exact. Plain access is right: the slot's owner writes it before it pushes the slot
	// on limbo (P6), and the holder of the lock reads it after it has taken limbo.
	stamps []uint32

	moved   []atom.Uint32         // one bit a slot, for Arena.markMoved; nil without Reset
	holders atom.Pointer[holders] // counts of Refs; nil until makeCounts or the page's first Hold
}

// homeSlots is how many slots share a home: as many as a range has.
const homeSlots = Batch

// meta returns the pageMeta of slot i's page, and i's position in the page.
func (t *PageTable) meta(i uint32) (*pageMeta, uint32) {
	return t.metas[i>>(t.Shift&31)], i & t.Mask
}

// At returns the slot of index i, which must be below t.Limit.
func At[T any](t *PageTable, i uint32) *Slot[T] {
	if Exploring && i >= t.Limit {
		panic(outside(i, t.Limit))
	}
	return (*Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
		uintptr(i&t.Mask)*unsafe.Sizeof(Slot[T]{})))
}

// at is At, for several slots of a table whose fields are loaded once.
func at[T any](array unsafe.Pointer, inverse uint64, mask, limit, i uint32) *Slot[T] {
	if Exploring && i >= limit {
		panic(outside(i, limit))
	}
	return (*Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(array, uint64(i)*inverse>>32*pointerSize)),
		uintptr(i&mask)*unsafe.Sizeof(Slot[T]{})))
}

func outside(i, limit uint32) string {
	return fmt.Sprintf("shard: slot %d lies outside a table of %d", i, limit)
}

const pointerSize = uint64(unsafe.Sizeof(unsafe.Pointer(nil)))

// Block returns up to n slots from index i, none beyond the end of i's page.
func Block[T any](t *PageTable, i, n uint32) []Slot[T] {
	n = min(n, t.Mask+1-i&t.Mask, t.Limit-i)
	return unsafe.Slice(At[T](t, i), n)
}

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

	// maxShift keeps Inverse above 1. A larger pool has several pages.
	maxShift = 31
)

// PageShift returns the binary logarithm of the slots in a page, for slots of the given size,
// of which the pool will have at most limit. whole asks for a single page.
func PageShift(size uintptr, limit uint64, whole bool) uint32 {
	n := uint64(pageBytes) / uint64(size)
	if size <= wideSlot {
		n = max(n, pageSlots)
	} else {
		n = max(4*n, 1)
	}
	if whole || limit < n {
		n = limit
	}
	return min(uint32(bits.Len64(max(n, 1)-1)), maxShift)
}

// Table owns the pages of one pool and hands out slots that were never used.
type Table[T any] struct {
	// Current is the newest table of pages.
	//
	//	writers  Init; addPage, giveUp and bringBack, under mu
	//	readers  every look-up
	//	orders   the store publishes the new page (P2)
	Current atom.Pointer[PageTable]

	// next is the first index that was never handed out.
	//
	//	writers  Allot and takeRest, by compare-and-swap; Extend
	//	moves    it only grows
	next atom.Uint64

	// again is the rest of the pages that Trim gave up and that were brought back last:
	// next | end, as in shard.fresh.
	//
	//	writers  Allot and takeRest, by compare-and-swap; bringBack, under mu, when it
	//	         is empty
	again atom.Uint64

	// missing counts the slots of pages without memory.
	//
	//	writers  giveUp and bringBack, under mu
	missing atom.Int64

	mu       atom.Mutex
	absent   []absent       // under mu: the pages without memory (absent.go)
	void     unsafe.Pointer // under mu: the page that the table shows in their place, or nil
	voidMeta *pageMeta      // under mu

	max    uint64 // the most slots there may be
	exact  bool   // pages have stamps
	resets bool   // pages have bits for Arena.markMoved
}

// Init makes an empty table for at most max slots, in pages of 1<<shift.
func (t *Table[T]) Init(max uint64, shift uint32, exact, resets bool) {
	t.max, t.exact, t.resets = max, exact, resets
	t.Current.Store(&PageTable{Inverse: 1 << (32 - shift), Shift: shift, Mask: 1<<shift - 1, Now: &t.Current})
}

// Pages returns the current table. Any index that was read before the call is below its Limit
// (P2).
func (t *Table[T]) Pages() *PageTable { return t.Current.Load() }

// Unused returns how many slots have memory and are not handed out.
func (t *Table[T]) Unused() uint64 {
	again := rangeLen(t.again.Load())
	handed := t.next.Load() // first: next never passes a limit that is read later
	return uint64(t.Pages().Limit) - handed + again
}

// Resident returns how many slots have memory.
func (t *Table[T]) Resident() int {
	missing := t.missing.Load() // first: missing has been below a limit that is read later
	return int(int64(t.Pages().Limit) - missing)
}

// Left returns how many slots are not handed out, with memory or without. It loads missing
// before again, because bringBack moves slots from one to the other. In the other order it could
// find them in neither.
func (t *Table[T]) Left() uint64 {
	missing := uint64(t.missing.Load())
	return missing + rangeLen(t.again.Load()) + t.max - t.next.Load()
}

// rangeLen returns the length of a range.
func rangeLen(r uint64) uint64 { return uint64(max(0, int64(Low(r))-int64(Generation(r)))) }

// Allot hands out up to n slots that were never used, or not since their page came back. Those
// with index lo to hi-1 are the caller's alone. An empty range means that a page must be grown
// first, or that there are Max slots already.
func (t *Table[T]) Allot(n uint32) (lo, hi uint32) {
	for {
		if r := t.again.Load(); rangeLen(r) > 0 {
			count := min(uint64(n), rangeLen(r))
			// A range comes a second time if its page was given up and brought back once more.
			// A successful compare-and-swap gets the first slots either way, because nothing
			// but the word itself was relied on.
			if t.again.CompareAndSwap(r, r+count<<32) {
				return Generation(r), Generation(r) + uint32(count)
			}
			continue
		}
		first := t.next.Load()
		last := min(first+uint64(n), uint64(t.Pages().Limit))
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
// if there are any. It reports false if there are Max slots already.
func (t *Table[T]) grow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.Pages()
	if t.next.Load() < uint64(old.Limit) || rangeLen(t.again.Load()) > 0 {
		return true // another goroutine has grown it meanwhile
	}
	switch {
	case len(t.absent) > 0:
		t.bringBack()
	case uint64(old.Limit) < t.max:
		t.addPage(old)
	default:
		return false
	}
	return true
}

// Provide gives memory to the slots below n, which must not be more than there may be.
func (t *Table[T]) Provide(n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uint64(t.Pages().Limit) < n {
		t.addPage(t.Pages())
	}
}

// newPage makes page k and its meta.
func (t *Table[T]) newPage(old *PageTable, k int) ([]Slot[T], *pageMeta) {
	n := t.slotsIn(old, k)
	page, m := make([]Slot[T], n), new(pageMeta)
	if k == 0 {
		page[0].Word.Store(Pack(0, None)) // or it would equal the zero Handle (I4)
	}
	m.homes = make([]atom.Uint32, (n+homeSlots-1)/homeSlots)
	if t.exact {
		m.stamps = make([]uint32, n)
	}
	if t.resets {
		m.moved = make([]atom.Uint32, (n+31)/32)
	}
	return page, m
}

// slotsIn returns how many slots page k has. All have the same number, except the last that
// there may be.
func (t *Table[T]) slotsIn(p *PageTable, k int) uint64 {
	return min(uint64(p.Mask)+1, t.max-uint64(k)<<(p.Shift&31))
}

func (t *Table[T]) addPage(old *PageTable) {
	page, m := t.newPage(old, len(old.Base))
	grown := *old
	// Older tables share the array. They never read the entry that this append may write in
	// place, because it lies beyond their length.
	grown.Base = append(old.Base, unsafe.Pointer(unsafe.SliceData(page)))
	grown.Array = unsafe.Pointer(unsafe.SliceData(grown.Base))
	grown.metas = append(old.metas, m)
	grown.Limit = old.Limit + uint32(len(page))
	t.Current.Store(&grown) // publishes (P2)
}

// Fits reports whether n slots of T can be allocated at all.
func Fits[T any](n uint64) bool {
	return n <= min(math.MaxInt, 1<<47)/uint64(unsafe.Sizeof(Slot[T]{}))
}
