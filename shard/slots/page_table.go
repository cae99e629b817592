package slots

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/cost"
)

// PageTable is an immutable table of pages: growth makes another. A page is an array of slots that
// never moves, and has one or more units. All units have the same power-of-two length and an entry
// of their own. So a look-up is a shift and a mask, and need not know the lengths of pages, which
// grow from one unit on (page_size.go).
//
// The wrong version has an entry for each page. Pages that grow geometrically would need the
// index's highest bit; on amd64 that instruction makes each look-up wait for the one before.
//
// PageTable is not generic and exports bare pointers. So package pool can write out its look-ups,
// and the compiler inlines them: each accessor would cost a quarter of the budget.
type PageTable struct {
	Array   unsafe.Pointer           // the entries: the address of each unit's first hook; later tables may share them
	Inverse uint64                   // 2^32 >> Shift: a multiplication by it takes fewer steps than a shift
	Shift   uint32                   // index >> Shift is the unit; at most 31
	Mask    uint32                   // slots in a unit, less one
	Limit   uint32                   // slots with an index below it have memory
	now     *atom.Pointer[PageTable] // the current table, which has every slot of this one

	size uintptr // a copy of Layout.Size
	room int     // of how many units Array has room for the entries

	// metas has an element for each unit as far as pages are smaller than whole ones, and then one
	// for as many slots as a whole page has. So a larger page has several, and all are its meta.
	// Slot i's is number i>>low below split, and i>>high + skew from there on. With one for each
	// unit everywhere, a pool would take up to a 256th more memory, and the garbage collector would
	// follow as many pointers.
	metas     []*PageMeta
	split     uint32
	low, high uint32
	skew      uint32
}

// At returns the slot of index i, which must be below t.Limit (unsafe register, U2).
func (t *PageTable) At(i uint32) *Hook {
	if Exploring && i >= t.Limit {
		panic(outsideText(i, t.Limit))
	}
	return (*Hook)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
		uintptr(i&t.Mask)*t.size))
}

// Beside returns how many slots from index i on, but at most n, lie in i's page.
func (t *PageTable) Beside(i, n uint32) uint32 {
	m, j := t.Meta(i)
	return min(n, m.N-j)
}

// Strip is a part of a page: slots that lie side by side.
type Strip struct {
	firstHook unsafe.Pointer // the first slot's hook
	size      uintptr
	First, N  uint32 // the first slot's index, and how many there are
}

// Strip returns the first slots from index i on that have memory and lie side by side. They lie below
// end, which must be above i. If none of those has memory, the strip is empty, and begins at end. So a
// loop takes one step for each page that has memory, and one for each gap.
func (t *PageTable) Strip(i, end uint32) Strip {
	m, j := t.Meta(i)
	if m.Floor != 0 {
		cost.Visits(1)
		if m.gapEnd >= end {
			return Strip{unsafe.Pointer(t.At(end - 1)), t.size, end, 0} // at the stub, of which it has no slot
		}
		i = m.gapEnd
		m, j = t.Meta(i)
	}
	n := min(m.N-j, end-i)
	cost.Visits(1 + int(n))
	return Strip{unsafe.Pointer(t.At(i)), t.size, i, n}
}

// Slot returns slot j of the strip.
func (p Strip) Slot(j uint32) *Hook { return (*Hook)(unsafe.Add(p.firstHook, uintptr(j)*p.size)) }

// bytes returns how long the strip is. A loop by offsets saves a multiplication a slot.
func (p Strip) bytes() uintptr { return uintptr(p.N) * p.size }

// hook returns the slot at an offset.
func (p Strip) hook(offset uintptr) *Hook { return (*Hook)(unsafe.Add(p.firstHook, offset)) }

// whole is the strip of n slots of a new page.
func (l *Layout) whole(page unsafe.Pointer, n uint64) Strip {
	return Strip{page, l.Size, 0, uint32(n)}
}

func outsideText(i, limit uint32) string {
	return fmt.Sprintf("shard: slot %d lies outside a table of %d", i, limit)
}

const pointerSize = uint64(unsafe.Sizeof(unsafe.Pointer(nil)))

// The entries of a table are the addresses of its units, as numbers. Of a million slots the garbage
// collector would otherwise follow 8,000 to 16,000 pointers, which takes it up to as long as all
// the rest of a pool whose values have no pointers. One pointer in front of the entries, to the
// metas, keeps the pages:
//
//	          Array
//	            ▼
//	┌───────┬────────┬────────┬──
//	│ metas │ unit 0 │ unit 1 │ …
//	└───┬───┴────────┴────────┴──
//	    ▼   each with its page
//
// So whatever keeps the entries keeps the pages. A look-up that has loaded only Array finds each
// page as the table shows it, even if Trim has replaced the table since.
//
// The wrong version has the numbers in a slice, and the pages in the table. A look-up that is
// preempted between its loads of Array and of an entry keeps only the slice, and the page may be
// freed.

// fewEntries is how many entries at most are pointers to the collector: these need no type of their
// own.
const fewEntries = 512

// makeEntries returns entries for n units, all zero, behind room for the pointer to the metas
// (unsafe register, U13).
func makeEntries(n int) unsafe.Pointer {
	if n <= fewEntries {
		return unsafe.Pointer(&make([]unsafe.Pointer, 1+n)[1])
	}
	typ := reflect.StructOf([]reflect.StructField{
		{Name: "Metas", Type: reflect.TypeFor[unsafe.Pointer]()},
		{Name: "Units", Type: reflect.ArrayOf(n, reflect.TypeFor[uintptr]())},
	})
	return unsafe.Add(reflect.New(typ).UnsafePointer(), pointerSize)
}

// roomFor returns for how many entries a table of n units has room: up to an eighth more, since
// copies of a large table cost more than that. It returns few different numbers, because the
// runtime keeps a type for each that is above fewEntries.
func roomFor(n int) int {
	if n <= fewEntries {
		return n
	}
	step := 1 << (bits.Len(uint(n)) - 4)
	return (n + n/16 + step - 1) &^ (step - 1)
}

// Units returns how many entries the table has.
func (t *PageTable) Units() int { return int((uint64(t.Limit) + uint64(t.Mask)) >> (t.Shift & 31)) }

// entries returns the entries.
func (t *PageTable) entries() []uintptr { return unsafe.Slice((*uintptr)(t.Array), t.Units()) }

// move gives the table a copy of old's entries, with room for n.
func (t *PageTable) move(old *PageTable, n int) {
	t.room = roomFor(n)
	t.Array = makeEntries(t.room)
	copy(t.entries(), old.entries())
}

// keep makes the entries keep all pages, by a pointer to the metas. The caller holds Table.mu, and
// publishes the table afterwards.
func (t *PageTable) keep() {
	*(*unsafe.Pointer)(unsafe.Add(t.Array, -int(pointerSize))) = unsafe.Pointer(unsafe.SliceData(t.metas))
}

// show enters the units of m's page: the first lies at address, and each later one step bytes
// behind the one before.
func (t *PageTable) show(m *PageMeta, address unsafe.Pointer, step uintptr) {
	firstUnit, last := m.FirstSlot>>(t.Shift&31), (m.FirstSlot+m.N-1)>>(t.Shift&31)
	units := t.entries()
	for k := firstUnit; k <= last; k++ {
		units[k] = uintptr(address) + uintptr(k-firstUnit)*step
	}
	for k := t.MetaOf(m.FirstSlot); k <= t.MetaOf(m.FirstSlot+m.N-1); k++ {
		t.metas[k] = m
	}
}

// longer returns a slice of n metas that begins with s, in the same array if that has room.
func longer(s []*PageMeta, n int) []*PageMeta {
	if n > cap(s) {
		s = append(make([]*PageMeta, 0, max(n, len(s)+len(s)/8)), s...)
	}
	return s[:n]
}
