//go:build interleave

package explore_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/internal/check/testkit"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// names gives each word of a pool a number, which is the same in every run, and a name for the
// record.
type names struct {
	p       *Pool[val]
	threads []string
	regions []region
	rows    []region // also those that were dropped, which a Pin may still look at
	clones  int      // that are being made
}

// ofAClone is the number of all words that are not the pool's while a clone is made. Nobody but the call that makes
// it knows of the clone, so that switches before its words are left out.
const ofAClone = 1 << 63

// region is memory in one piece that holds words.
type region struct {
	base, size uintptr
	id         uint64
	name       string
	element    reflect.Type // what it is an array of
}

// find finds the pool's memory, as far as it is allocated.
func (ns *names) find() {
	p := ns.p
	ns.regions = ns.regions[:0]
	add := func(base unsafe.Pointer, n int, element reflect.Type, id int, name string) {
		ns.regions = append(ns.regions, region{uintptr(base), uintptr(n) * element.Size(), uint64(id) << 32, name, element})
	}
	// A page is known by the hook of its first slot, which lies behind the value.
	total := func(first unsafe.Pointer, n, id int, name string) {
		add(unsafe.Add(first, -int(unsafe.Offsetof(slots.Slot[val]{}.Hook))), n, reflect.TypeFor[slots.Slot[val]](), id, name)
	}
	t := Arena(p).Table.Pages()
	if v := Arena(p).Table.Void(); v != nil {
		total(v, int(t.Mask)+1, 1<<19, "void")
	}
	for first, k := uint32(0), 0; first < t.Limit; k++ {
		n, m, is, homes, counts := t.InspectPage(first)
		at := unsafe.Pointer(t.At(first))
		if first += n; at == Arena(p).Table.Void() {
			continue
		}
		total(at, int(n), 1<<16+k, fmt.Sprintf("page%d", k))
		add(m, 1, is, 1<<17+k, fmt.Sprintf("meta%d", k))
		add(unsafe.Pointer(&homes[0]), len(homes), reflect.TypeFor[atom.Uint32](), 3<<17+k, fmt.Sprintf("homes%d", k))
		if counts != nil {
			add(unsafe.Pointer(&counts[0]), len(counts), reflect.TypeFor[atom.Uint32](), 1<<18+k, fmt.Sprintf("holders%d", k))
		}
	}
	each, is, buckets, n, are := Arena(p).Places()
	for k, at := range each {
		add(at, 1, is, 1<<20+k, fmt.Sprintf("shard%d", k))
	}
	add(buckets, n, are, 1, fmt.Sprintf("buckets%d.", n))
	// The cells are the epoch package's own affair: by reflection.
	array := func(v reflect.Value, id int, name string) {
		add(v.UnsafePointer(), v.Len(), v.Type().Elem(), id, name)
	}
	domain := reflect.ValueOf(Domain(p)).Elem()
	for r := pointee(domain.FieldByIndex(rowField)); r.IsValid(); r = pointee(r.FieldByName("older")) {
		cells := r.FieldByName("cells")
		if at := uintptr(cells.UnsafePointer()); !slices.ContainsFunc(ns.rows, func(o region) bool { return o.base == at }) {
			k := len(ns.rows) / 2
			ns.rows = append(ns.rows,
				region{r.UnsafeAddr(), r.Type().Size(), uint64(1<<8+k) << 32, fmt.Sprintf("row%d", k), r.Type()},
				region{at, uintptr(cells.Cap()) * cells.Type().Elem().Size(), uint64(1<<8+1<<7+k) << 32, fmt.Sprintf("cells%d", k), cells.Type().Elem()})
		}
	}
	ns.regions = append(ns.regions, ns.rows...)
	blocks := blocksOf(domain.FieldByIndex(topField))
	for k, b := range blocks {
		add(b.Addr().UnsafePointer(), 1, b.Type(), 1<<9+k, fmt.Sprintf("block%d", k))
		array(b.FieldByName("cells"), 1<<10+k, fmt.Sprintf("block%d.cells", k))
		for i, marks := 0, b.FieldByName("marks"); i < marks.Len(); i++ {
			array(marks.Index(i), 1<<11+k<<4+i, fmt.Sprintf("marks%d.%d", k, i))
		}
	}
	add(unsafe.Pointer(p), 1, reflect.TypeFor[Pool[val]](), 2, "pool")
}

// Where the fields are that lead to the cells: to look them up by name takes long.
var (
	rowField = domainField("row")
	topField = domainField("top")
)

func domainField(name string) []int {
	f, ok := reflect.TypeFor[epoch.Domain]().FieldByName(name)
	if !ok {
		panic("epoch.Domain has no field " + name)
	}
	return f.Index
}

// newestRow returns the number of cells in the newest row.
func (ns *names) newestRow() int {
	r := pointee(reflect.ValueOf(Domain(ns.p)).Elem().FieldByIndex(rowField))
	if !r.IsValid() {
		return 0
	}
	return r.FieldByName("cells").Len()
}

// pointee returns what a hooked pointer points to, or no value. It holds one of sync/atomic, which
// begins with an array of no pointers, for their type, and ends with the address.
func pointee(hooked reflect.Value) reflect.Value {
	plain := hooked.Field(0)
	next := plain.Field(plain.NumField() - 1)
	if next.IsNil() {
		return reflect.Value{}
	}
	return reflect.NewAt(plain.Type().Field(0).Type.Elem().Elem(), next.UnsafePointer()).Elem()
}

// blocksOf returns the blocks of cells, the oldest first, so that each keeps its number.
func blocksOf(top reflect.Value) (list []reflect.Value) {
	for b := pointee(top); b.IsValid(); {
		list = append(list, b)
		older := b.FieldByName("older")
		if older.IsNil() {
			break
		}
		b = reflect.NewAt(older.Type().Elem(), older.UnsafePointer()).Elem()
	}
	slices.Reverse(list)
	return list
}

// region returns the one that holds a word, or nil.
func (ns *names) region(word unsafe.Pointer) *region {
	for again := false; ; again = true {
		for i := range ns.regions {
			if r := &ns.regions[i]; uintptr(word)-r.base < r.size {
				return r
			}
		}
		if again {
			return nil
		}
		ns.find() // memory may have been allocated meanwhile
	}
}

func (ns *names) key(word unsafe.Pointer) uint64 {
	if r := ns.region(word); r != nil {
		return r.id | uint64(uintptr(word)-r.base)
	}
	if ns.clones > 0 {
		return ofAClone
	}
	return 0
}

// name returns the name of a word, with its index in the page or the array that it lies in.
func (ns *names) name(word unsafe.Pointer) string {
	r := ns.region(word)
	if r == nil {
		return ""
	}
	off := uintptr(word) - r.base
	return fmt.Sprintf("%s[%d].%s", r.name, off/r.element.Size(), path(r.element, off%r.element.Size()))
}

// path returns the name of the field at an offset.
func path(t reflect.Type, off uintptr) string {
	switch {
	case t.PkgPath() == "coatcheck/internal/atom":
		return ""
	case t.Kind() == reflect.Struct:
		for i := t.NumField() - 1; i >= 0; i-- {
			if f := t.Field(i); f.Offset <= off && off-f.Offset < f.Type.Size() {
				rest := path(f.Type, off-f.Offset)
				if rest == "" {
					return f.Name
				}
				if f.Anonymous {
					return rest
				}
				return f.Name + "." + rest
			}
		}
	case t.Kind() == reflect.Array:
		i := off / t.Elem().Size()
		return fmt.Sprintf("%d %s", i, path(t.Elem(), off%t.Elem().Size()))
	}
	return ""
}

// TestInterleaveNamesWords: the record calls a slot's word by its index, and as the source does.
func TestInterleaveNamesWords(t *testing.T) {
	p := Must(&Options[val]{Shards: 1})
	testkit.MustInsert(t, p, val{})
	ns := names{p: p}
	table := Arena(p).Table.Pages()
	for i := range uint32(2) {
		require.Equal(t, fmt.Sprintf("page0[%d].Word", i), ns.name(unsafe.Pointer(&table.At(i).Word)))
		require.Equal(t, fmt.Sprintf("page0[%d].Value.keep", i), ns.name(unsafe.Pointer(&slots.At[val](table, i).Value.keep)))
	}
}
