package slots

import (
	"math/bits"
	"reflect"
	"unsafe"
)

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
