package slots

import (
	"math"
	"reflect"
	"unsafe"

	"coatcheck/internal/atom"
)

// A slot's word says what the slot is, in 64 bits that change at once:
//
//	          63          32 31           0
//	         ┌──────────────┬──────────────┐
//	live     │ odd          │ own index    │   = the Handle that names it
//	vacant   │ even         │ link         │   the next slot of its list, or None
//	exhausted│ Spent        │ None         │   in no list
//	         └──────────────┴──────────────┘
//
// So a look-up is one load and one compare. That needs a rule: the word of a slot that is not
// live never has the slot's own index in its low half (I4). A list does not contain a slot
// twice, so no link points back. Memory that was never written would break the rule in slot 0,
// where zero equals the zero Handle; newPage stores None there.
//
// The generation only grows (I2): to the next odd number when the slot goes live, to the next
// even one when it is removed or abandoned.

const (
	// None is the link that ends a list.
	None = 1<<32 - 1

	// MaxSlots is the greatest number of slots, so that no index is None. The rest of the last
	// thousand is kept for marks of later versions.
	MaxSlots = 1<<32 - 1024

	// LastGeneration is the last live generation. One more would need a vacant generation to
	// which a wrapped counter returns.
	LastGeneration = 1<<32 - 3

	// Spent is the generation of an exhausted slot.
	Spent = LastGeneration + 1

	GenerationStep = 1 << 32

	// LastLife is the first word of the last generation.
	LastLife = LastGeneration << 32
)

// Pack makes a word from its halves.
func Pack(generation, low uint32) uint64 { return uint64(generation)<<32 | uint64(low) }

// Generation returns a word's high half.
func Generation(word uint64) uint32 { return uint32(word >> 32) }

// Low returns a word's low half: the index of a live slot or of a list's top, or the link of a
// vacant slot.
func Low(word uint64) uint32 { return uint32(word) }

// IsLive reports whether a slot's word has a live generation.
func IsLive(word uint64) bool { return word>>32&1 == 1 }

// Vacated returns the word that follows the live word h: the next generation, linked to next.
// A compare-and-swap from h to it ends a life. Success proves that this caller ended it, and
// makes it the slot's owner (I1). Failure means that another remover did, or that h was stale.
//
// The 1 carries from the full low half into the generation.
func Vacated(h uint64, next uint32) uint64 { return (h | None) + (1 + uint64(next)) }

// Reborn returns the handle of the slot's next life after h.
func Reborn(h uint64) uint64 { return h + 2*GenerationStep }

// The engine works on words. A slot is a value, which only package pool knows, and a hook,
// which has the slot's word:
//
//	page  ┌───────┬──────┬───────┬──────┬──
//	      │ value │ hook │ value │ hook │ …
//	      └───────┴──────┴───────┴──────┴──
//	       ◀─ Word ─▶
//	       ◀──── Size ───▶
//
// The engine finds a hook by the layout's numbers, and touches values through its functions
// alone: they are typed, so the garbage collector sees each pointer that they clear.

// Hook is a slot as the engine knows it. It lies in a page of slots, and keeps that.
type Hook struct {
	// Word is generation | index or link.
	//
	//	writers  the slot's owner; the goroutine that unlinks it, by compare-and-swap (I1)
	//	readers  any holder of a handle
	//	moves    vacant → live → retired or vacant; the generation grows (I2)
	//	orders   the store of a live word publishes the value (P1)
	Word atom.Uint64
}

// Publish makes the slot live with the handle h and its present value, and returns h. The caller
// must own the slot. A release store is enough: the caller itself goes by h from now on, and
// finds its own store.
func (k *Hook) Publish(h uint64) uint64 { return atom.StoreRelease(h, &k.Word) } // publishes (P1)

// Set changes the word of a slot that the caller owns, or whose list it holds. A plain store is
// enough, because a later compare-and-swap or unlocking makes the slot known to others.
func (k *Hook) Set(word uint64) { atom.StoreLast(word, &k.Word) }

// Layout is what the engine knows of T.
type Layout struct {
	Size     uintptr // of a slot
	Word     uintptr // where its hook lies in it
	value    uintptr // the size of the value
	numbers  numbers // with the tag coatcheck_debug: which parts of the value hold no pointers
	Pointers bool    // T holds pointers

	page  func(n uint64) unsafe.Pointer // allocates n slots, and returns the first one's hook
	Clear func(*Hook)                   // zeroes a slot's value
	Clean func([]Cached)                // is Clear for each: a call of Clear costs 10 instructions
	Reset func(*Hook)                   // object-pool mode: called instead of Clear; or nil
}

// Slot is the storage of one value. The value comes first, so that a T of no size costs
// nothing. A slot is the value plus 8 bytes, rounded up to 8.
type Slot[T any] struct {
	// Value belongs to the slot's owner while the slot is vacant (I1). While it is live, it
	// belongs to the holders of the handle, who synchronize among themselves. Plain access is
	// right: the store of a live word publishes Value (P1), and no write follows before every
	// guard that may read it has gone (P5). A Get without a pin may read Value at any time, and
	// discards what it read if Word has changed (L12).
	Value T

	Hook
}

// LayoutOf returns the layout of slots of T. It is not inlined, so that its functions can inline.
//
//go:noinline
func LayoutOf[T any](hasPointers bool, reset func(*T)) Layout {
	l := Layout{
		Size:     unsafe.Sizeof(Slot[T]{}),
		Word:     unsafe.Offsetof(Slot[T]{}.Hook),
		value:    unsafe.Sizeof(*new(T)),
		Pointers: hasPointers,
		page:     func(n uint64) unsafe.Pointer { return unsafe.Pointer(&unsafe.SliceData(make([]Slot[T], n)).Hook) },
		Clear:    func(k *Hook) { clear1(ValueOf[T](k)) },
		Clean: func(ks []Cached) {
			for i := range ks {
				clear1(ValueOf[T](ks[i].Slot()))
			}
		},
	}
	if Poisons {
		l.numbers = numbersOf(reflect.TypeFor[T]())
	}
	if reset != nil {
		l.Reset = func(k *Hook) { reset(ValueOf[T](k)) }
	}
	return l
}

// ValueOf returns the value of a slot of T.
func ValueOf[T any](k *Hook) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(k), -int(unsafe.Offsetof(Slot[T]{}.Hook))))
}

// At returns the slot of index i, which must be below t.Limit.
func At[T any](t *PageTable, i uint32) *Slot[T] {
	if Exploring && i >= t.Limit {
		panic(outsideText(i, t.Limit))
	}
	return (*Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
		uintptr(i&t.Mask)*unsafe.Sizeof(Slot[T]{})-unsafe.Offsetof(Slot[T]{}.Hook)))
}

// SlotAt is At, for several slots of a table whose fields are loaded once.
func SlotAt[T any](array unsafe.Pointer, inverse uint64, mask, limit, i uint32) *Slot[T] {
	if Exploring && i >= limit {
		panic(outsideText(i, limit))
	}
	return (*Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(array, uint64(i)*inverse>>32*pointerSize)),
		uintptr(i&mask)*unsafe.Sizeof(Slot[T]{})-unsafe.Offsetof(Slot[T]{}.Hook)))
}

// Block returns the slots of PageTable.Strip, and the index of the first one.
func Block[T any](t *PageTable, i, end uint32) (first uint32, slots []Slot[T]) {
	s := t.Strip(i, end) // a call, so that this is inlined
	return s.First, unsafe.Slice((*Slot[T])(unsafe.Add(s.firstHook, -int(unsafe.Offsetof(Slot[T]{}.Hook)))), s.N)
}

// Fits reports whether n slots of a size can be allocated at all.
func Fits(n uint64, size uintptr) bool { return n <= min(math.MaxInt, 1<<47)/uint64(size) }

// clear1 zeroes a value. A call costs 50 instructions more than an assignment. But an assignment
// allocates the zero if that has no place on a stack: if it has more than 128 KiB, or if T must
// be aligned better than pointers, as 64-bit atomics on 32-bit platforms.
func clear1[T any](v *T) {
	if unsafe.Sizeof(*v) <= 1<<10 && unsafe.Alignof(*v) <= unsafe.Alignof(v) {
		*v = *new(T)
	} else {
		clear(unsafe.Slice(v, 1))
	}
}

// Cached is a vacant slot with the handle that it will have. The slot's address is a number (unsafe
// register, U10). So an idle magazine keeps no memory that Trim has given up, wherever its arrays
// still have an old entry, and a removal stores no pointer, which would cost a write barrier.
type Cached struct {
	address uintptr
	H       uint64
}

// Slot returns the slot, which must be the magazine's, or its caller's.
func (k *Cached) Slot() *Hook { return *(**Hook)(unsafe.Pointer(&k.address)) }

// NewCached returns the entry of a slot that the caller owns.
func NewCached(slot *Hook, h uint64) Cached { return Cached{uintptr(unsafe.Pointer(slot)), h} }

// What is done to a slot between two lives.

// Plain reports whether a slot is ready for its next life as it is.
func (l *Layout) Plain() bool { return !l.Pointers && l.Reset == nil }

// Blank zeroes a claimed slot that reclaiming did not zero. If T has no pointers, that matters
// only where user code reads the value before it writes it.
func (l *Layout) Blank(slot *Hook) {
	if l.Plain() || Poisons && l.Reset == nil {
		l.Clear(slot)
	}
}

// Blank is Layout.Blank for a caller that knows T, which saves a call.
func Blank[T any](l *Layout, slot *Hook) {
	if l.Plain() || Poisons && l.Reset == nil {
		clear1(ValueOf[T](slot))
	}
}
