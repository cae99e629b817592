package shard

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"coatcheck/internal/atom"
)

// Slot is the storage of one value. The value comes first so that a T of no
// size costs nothing, and a slot is the value plus 8 bytes, rounded up to 8.
type Slot[T any] struct {
	// Value belongs to the slot's owner while the slot is vacant (I1), and to
	// whoever has the handle while it is live: those share it among themselves.
	// Plain access is right because the word orders it: the store of live
	// publishes it (P1), and it is not written again before every guard that
	// may read it has gone (P6). A Get without a pin may read it at any time, and
	// uses nothing of what it read unless Word is still the same (L12).
	Value T

	// Word is described in word.go.
	//
	//	writers  the slot's owner; whoever unlinks it, by compare-and-swap (I1)
	//	readers  any holder of a handle
	//	moves    vacant → live → retired or vacant; the generation grows (I2)
	//	orders   the store of live publishes Value (P1)
	Word atom.Uint64
}

// Publish makes the slot live with the handle h and the Value that it has; the slot
// is the caller's until then. A release store is enough: what the caller does next
// with the slot, it does by h, and finds its own store.
func (s *Slot[T]) Publish(h uint64) { atom.StoreRelease(&s.Word, h) } // publishes (P1)

// set changes the word of a slot that the caller owns, or holds the list of. A release
// store is enough: what makes the slot known to others is another store, a later one.
func (s *Slot[T]) set(word uint64) { atom.StoreRelease(&s.Word, word) }

// Pages is an immutable table of pages: growth makes another one. A page is an
// array of slots that never moves. All have the same power-of-two length, so
// that finding a slot is a shift and a mask; pages that grow geometrically would
// need the position of the index's highest bit, an instruction that on amd64
// makes every look-up wait for the one before.
//
// It is not generic, keeps bare pointers and shows its fields, so that package
// pool can spell its look-ups out and the compiler can put them into the
// caller's loop: each accessor would cost a quarter of what it allows.
type Pages struct {
	Base    []unsafe.Pointer     // page k's first slot; later tables share the array and add to it
	Array   unsafe.Pointer       // that array: a look-up has checked Limit and needs no second check
	Inverse uint64               // 2^32 >> Shift: multiplying by it shifts, in fewer steps than shifting does
	Shift   uint32               // index >> Shift is the page; at most 31
	Mask    uint32               // slots in a page, less one
	Limit   uint32               // slots with an index below it have memory
	Now     *atom.Pointer[Pages] // the current table, which has every slot of this one

	margins []*margin // page k's
	floors  []uint32  // page k's floor if it has no memory, else 0; may be shorter, see absent.go
}

// margin is what lies beside a page's slots, for those who need it.
type margin struct {
	// homes are the numbers from 1 of the shards that slots go home to, one for homeSlots
	// slots; 0 if they have none. A restored pool's have none before they are wanted.
	//
	//	writers  settle, for the owner of a slot
	//	readers  home
	homes []atom.Uint32

	taken   []atom.Uint32         // a bit a slot, see Arena.markTaken; nil without Reset
	holders atom.Pointer[holders] // counts of Refs; nil until makeCounts or the page's first Hold
}

// homeSlots is how many slots have one home. A range has as many.
const homeSlots = Batch

// margin returns what lies beside slot i, and i's place in its page.
func (t *Pages) margin(i uint32) (*margin, uint32) {
	return t.margins[i>>(t.Shift&31)], i & t.Mask
}

// At returns the slot of index i, which must be below t.Limit.
func At[T any](t *Pages, i uint32) *Slot[T] {
	if Exploring && i >= t.Limit {
		panic(fmt.Sprintf("shard: slot %d lies outside a table of %d", i, t.Limit))
	}
	return (*Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
		uintptr(i&t.Mask)*unsafe.Sizeof(Slot[T]{})))
}

const pointerSize = uint64(unsafe.Sizeof(unsafe.Pointer(nil)))

// Block returns up to n slots from index i to the end of its page, for loops
// over all of them.
func Block[T any](t *Pages, i, n uint32) []Slot[T] {
	n = min(n, t.Mask+1-i&t.Mask, t.Limit-i)
	return unsafe.Slice(At[T](t, i), n)
}

const (
	// pageBytes is the least size of a page. Below 32 KiB a page of values with
	// pointers pays a header and a size class; anything above measures alike.
	pageBytes = 64 << 10

	// pageAlign is what the runtime rounds large allocations up to. 1,024 slots
	// are a multiple of it whatever their size.
	pageAlign = 8 << 10
	pageSlots = 1024

	// wideSlot is the size from which a page has fewer than pageSlots slots,
	// since memory comes a page at a time.
	wideSlot = 512

	// maxShift keeps Inverse above 1. A pool that is larger has several pages.
	maxShift = 31
)

// PageShift returns the binary logarithm of the slots in a page for slots of
// the given size, of which the pool will have at most limit.
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
//
// Growth takes a mutex: it is the one place besides Synchronize where an
// operation waits for another, once in a page.
type Table[T any] struct {
	// Current is the newest table of pages.
	//
	//	writers  Init; addPage, showVoid and bringBack, under mu
	//	readers  everybody
	//	orders   the store publishes the new page (P2)
	Current atom.Pointer[Pages]

	// next is the first index that was never handed out.
	//
	//	writers  Allot and takeRest, by compare-and-swap; extend
	//	moves    it only grows
	next atom.Uint64

	// again is the rest of a page that Trim gave up and that was brought back:
	// next | end, as in shard.fresh.
	//
	//	writers  Allot and takeRest, by compare-and-swap; offer, under mu, when it
	//	         is empty
	again atom.Uint64

	// missing is how many slots lie in pages that Trim gave up and that were not
	// offered since; spare, how many of these have memory again.
	//
	//	writers  showVoid, bringBack, offer and withdraw, under mu
	missing atom.Int64
	spare   atom.Int64

	mu         atom.Mutex
	absent     []absent       // under mu: the pages without memory, see absent.go
	back       []absent       // under mu: those that have memory again, and were not offered
	void       unsafe.Pointer // under mu: what the table shows in their place, or nil
	voidMargin *margin        // under mu

	max  uint64 // most slots there may be
	bits bool   // keep a bit a slot for Arena.markTaken
}

// Init makes an empty table for at most max slots in pages of 1<<shift.
func (t *Table[T]) Init(max uint64, shift uint32, bits bool) {
	t.max, t.bits = max, bits
	t.Current.Store(&Pages{Inverse: 1 << (32 - shift), Shift: shift, Mask: 1<<shift - 1, Now: &t.Current})
}

// Pages returns the current table. Any index that was read before the call lies
// below its Limit (P2).
func (t *Table[T]) Pages() *Pages { return t.Current.Load() }

// Max returns the most slots that there may be.
func (t *Table[T]) Max() uint64 { return t.max }

// Unused returns how many slots have memory and are not handed out.
func (t *Table[T]) Unused() uint64 {
	again := rangeLen(t.again.Load()) + uint64(t.spare.Load())
	handed := t.next.Load() // first: next never passes a limit that is read later
	return uint64(t.Pages().Limit) - handed + again
}

// Resident returns how many slots have memory.
func (t *Table[T]) Resident() int {
	missing := t.missing.Load() // first: what is missing has been below a limit that is read later
	return int(int64(t.Pages().Limit) - missing + t.spare.Load())
}

// Missing returns how many slots lie in pages that were given up and not offered
// since.
func (t *Table[T]) Missing() int { return int(t.missing.Load()) }

// Left returns how many slots there may be that are not handed out.
func (t *Table[T]) Left() uint64 {
	return t.max - t.next.Load() + rangeLen(t.again.Load()) + uint64(t.missing.Load())
}

// rangeLen returns how many slots a range has.
func rangeLen(r uint64) uint64 { return uint64(max(0, int64(Low(r))-int64(Generation(r)))) }

// Allot hands out up to n slots that were never used, or not since their page
// came back: those with index lo to hi-1 are the caller's alone. An empty range
// means that a page must be grown first, or that there are Max slots already.
func (t *Table[T]) Allot(n uint32) (lo, hi uint32) {
	for {
		if r := t.again.Load(); rangeLen(r) > 0 {
			count := min(uint64(n), rangeLen(r))
			// A range may come a second time, when its page was given up and
			// brought back once more. Whoever succeeds gets its first slots
			// either way: nothing but the word itself was relied on.
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
		// Success proves that nobody else was given the range. Failure means
		// that somebody was given slots.
		if t.next.CompareAndSwap(first, last) {
			return uint32(first), uint32(last)
		}
	}
}

// grow offers a page if every slot there is has been handed out, one that was
// given up if there is any, and reports false when there are Max slots already.
func (t *Table[T]) grow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.Pages()
	if t.next.Load() < uint64(old.Limit) || rangeLen(t.again.Load()) > 0 {
		return true // somebody else grew it meanwhile
	}
	if len(t.back) == 0 && len(t.absent) > 0 {
		t.bringBack()
	}
	if len(t.back) > 0 {
		t.offer()
		return true
	}
	if uint64(old.Limit) >= t.max {
		return false
	}
	t.addPage(old)
	return true
}

// Provide makes pages until n slots that were not handed out have memory, or all that
// there may be: those first that were given up. Others that need a page wait for one or
// two of these, and not for all.
func (t *Table[T]) Provide(n uint64) {
	for t.provide(n) {
	}
}

// provide is a step of Provide. It reports whether it did any.
func (t *Table[T]) provide(n uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.Unused() >= n:
		return false
	case len(t.absent) > 0:
		t.bringBack()
	case uint64(t.Pages().Limit) < t.max:
		t.addPage(t.Pages())
	default:
		return false
	}
	return true
}

// newPage makes page k: its slots, and what lies beside them.
func (t *Table[T]) newPage(old *Pages, k int) ([]Slot[T], *margin) {
	n := t.slotsIn(old, k)
	page, m := make([]Slot[T], n), new(margin)
	if atom.Charges {
		atom.Allocate(uintptr(n) * unsafe.Sizeof(page[0]))
	}
	if k == 0 {
		page[0].Word.Store(Pack(0, None)) // or it would equal the zero Handle (I4)
	}
	m.homes = make([]atom.Uint32, (n+homeSlots-1)/homeSlots)
	if t.bits {
		m.taken = make([]atom.Uint32, (n+31)/32)
	}
	return page, m
}

// slotsIn returns how many slots page k has: all have the same number, but for
// the last that there may be.
func (t *Table[T]) slotsIn(p *Pages, k int) uint64 {
	return min(uint64(p.Mask)+1, t.max-uint64(k)<<(p.Shift&31))
}

func (t *Table[T]) addPage(old *Pages) {
	page, m := t.newPage(old, len(old.Base))
	grown := *old
	// Older tables share the array and never look at the entry that this append
	// may write in place: it lies beyond their length.
	grown.Base = append(old.Base, unsafe.Pointer(unsafe.SliceData(page)))
	grown.Array = unsafe.Pointer(unsafe.SliceData(grown.Base))
	grown.margins = append(old.margins, m)
	grown.Limit = old.Limit + uint32(len(page))
	t.Current.Store(&grown) // publishes (P2)
}

// Fits reports whether n slots of T can be allocated at all.
func Fits[T any](n uint64) bool {
	return n <= min(math.MaxInt, 1<<47)/uint64(unsafe.Sizeof(Slot[T]{}))
}

// Bytes returns the memory that the pages, what lies beside them, and their
// table take.
func (t *Table[T]) Bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bytes()
}

// bytes is Bytes under mu.
func (t *Table[T]) bytes() int64 {
	p := t.Pages()
	resident := int64(p.Limit) - t.missing.Load() + t.spare.Load()
	if t.void != nil {
		resident += int64(p.Mask) + 1
	}
	n := resident*int64(unsafe.Sizeof(Slot[T]{})) +
		int64(cap(p.Base))*int64(unsafe.Sizeof(p.Base[0])+unsafe.Sizeof(p.margins[0])+unsafe.Sizeof(margin{})) +
		int64(cap(p.floors))*int64(unsafe.Sizeof(p.floors[0]))
	for _, m := range p.margins {
		n += m.bytes()
	}
	return n
}
