//go:build !race

package table_test

import (
	"math/rand/v2"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// craft is a record of common columns: numbers of several sizes, and a string.
type craft struct {
	X, Y, Z float64
	Mass    float64
	Name    string
	HP      int32
	Kind    uint8
}

func craftOf(i int) craft {
	f := float64(i)
	return craft{f, f, f, f, "craft", int32(i), uint8(i)}
}

// handColumns are craft as one writes them by hand, with a slice for each field.
type handColumns struct {
	x, y, z, mass []float64
	name          []string
	hp            []int32
	kind          []uint8
}

func (c *handColumns) add(r *craft) {
	c.x, c.y, c.z, c.mass = append(c.x, r.X), append(c.y, r.Y), append(c.z, r.Z), append(c.mass, r.Mass)
	c.name, c.hp, c.kind = append(c.name, r.Name), append(c.hp, r.HP), append(c.kind, r.Kind)
}

func (c *handColumns) set(i int, r *craft) {
	c.x[i], c.y[i], c.z[i], c.mass[i] = r.X, r.Y, r.Z, r.Mass
	c.name[i], c.hp[i], c.kind[i] = r.Name, r.HP, r.Kind
}

func (c *handColumns) get(i int) craft {
	return craft{c.x[i], c.y[i], c.z[i], c.mass[i], c.name[i], c.hp[i], c.kind[i]}
}

func (c *handColumns) remove(i int) {
	last := len(c.x) - 1
	c.x[i], c.y[i], c.z[i], c.mass[i] = c.x[last], c.y[last], c.z[last], c.mass[last]
	c.name[i], c.hp[i], c.kind[i] = c.name[last], c.hp[last], c.kind[last]
	c.x, c.y, c.z, c.mass = c.x[:last], c.y[:last], c.z[:last], c.mass[:last]
	c.name[last] = ""
	c.name, c.hp, c.kind = c.name[:last], c.hp[:last], c.kind[:last]
}

// handRecords are the same with a slice of craft.
type handRecords struct{ all []craft }

func (c *handRecords) add(r *craft)        { c.all = append(c.all, *r) }
func (c *handRecords) set(i int, r *craft) { c.all[i] = *r }
func (c *handRecords) get(i int) craft     { return c.all[i] }
func (c *handRecords) remove(i int) {
	last := len(c.all) - 1
	c.all[i] = c.all[last]
	c.all[last] = craft{}
	c.all = c.all[:last]
}

// handSlots finds records by handles of a pool. It finds nothing by a stale handle.
type handSlots struct {
	p     *pool.Pool[int]
	keys  []handle
	slots []struct{ generation, row uint32 }
}

func (t *handSlots) find(h handle) int {
	if i := h.Index(); int(i) < len(t.slots) && t.slots[i].generation == h.Generation() && t.p.Contains(h) {
		return int(t.slots[i].row)
	}
	return -1
}

// enter enters a key, and reports whether it was not there.
func (t *handSlots) enter(h handle) bool {
	i := int(h.Index())
	for i >= len(t.slots) {
		t.slots = append(t.slots, struct{ generation, row uint32 }{})
	}
	if !t.p.Contains(h) || t.slots[i].generation == h.Generation() {
		return false
	}
	t.slots[i].generation, t.slots[i].row = h.Generation(), uint32(len(t.keys))
	t.keys = append(t.keys, h)
	return true
}

// drop removes the key at i, over which the last key moves.
func (t *handSlots) drop(i int) {
	last := len(t.keys) - 1
	t.slots[t.keys[i].Index()].generation = 0
	if i != last {
		t.keys[i] = t.keys[last]
		t.slots[t.keys[i].Index()].row = uint32(i)
	}
	t.keys = t.keys[:last]
}

// handMap finds records by numbers.
type handMap struct {
	keys []uint64
	rows map[uint64]int
}

func (t *handMap) find(k uint64) int {
	if i, ok := t.rows[k]; ok {
		return i
	}
	return -1
}

func (t *handMap) enter(k uint64) bool {
	if _, ok := t.rows[k]; ok {
		return false
	}
	t.rows[k] = len(t.keys)
	t.keys = append(t.keys, k)
	return true
}

func (t *handMap) drop(i int) {
	last := len(t.keys) - 1
	delete(t.rows, t.keys[i])
	if i != last {
		t.keys[i] = t.keys[last]
		t.rows[t.keys[i]] = i
	}
	t.keys = t.keys[:last]
}

// The tables by hand are written out, each with its loops: through a type parameter or an interface
// the compiler inlines nothing, and by hand would not be by hand.
type (
	handSoA struct {
		handSlots
		handColumns
	}
	handAoS struct {
		handSlots
		handRecords
	}
	handHashed struct {
		handMap
		handColumns
	}
)

func (t *handSoA) fill(keys []handle) {
	for i, k := range keys {
		if t.enter(k) {
			r := craftOf(i)
			t.add(&r)
		}
	}
}

func (t *handSoA) empty(keys []handle) {
	for _, k := range keys {
		if i := t.find(k); i >= 0 {
			t.drop(i)
			t.remove(i)
		}
	}
}

func (t *handSoA) lookup(keys []handle) (sum float64) {
	for _, k := range keys {
		sum += float64(t.find(k))
	}
	return sum
}

func (t *handSoA) copies(keys []handle) (sum float64) {
	for _, k := range keys {
		if i := t.find(k); i >= 0 {
			sum += sumOf(t.get(i))
		}
	}
	return sum
}

func (t *handSoA) change(keys []handle) {
	for i, k := range keys {
		if at := t.find(k); at >= 0 {
			r := craftOf(i)
			t.set(at, &r)
		}
	}
}

func (t *handSoA) all() (sum float64) {
	for i := range t.keys {
		sum += sumOf(t.get(i))
	}
	return sum
}

func (t *handAoS) fill(keys []handle) {
	for i, k := range keys {
		if t.enter(k) {
			r := craftOf(i)
			t.add(&r)
		}
	}
}

func (t *handAoS) empty(keys []handle) {
	for _, k := range keys {
		if i := t.find(k); i >= 0 {
			t.drop(i)
			t.remove(i)
		}
	}
}

func (t *handAoS) lookup(keys []handle) (sum float64) {
	for _, k := range keys {
		sum += float64(t.find(k))
	}
	return sum
}

func (t *handAoS) copies(keys []handle) (sum float64) {
	for _, k := range keys {
		if i := t.find(k); i >= 0 {
			sum += sumOf(t.get(i))
		}
	}
	return sum
}

func (t *handAoS) change(keys []handle) {
	for i, k := range keys {
		if at := t.find(k); at >= 0 {
			r := craftOf(i)
			t.set(at, &r)
		}
	}
}

func (t *handAoS) all() (sum float64) {
	for i := range t.keys {
		sum += sumOf(t.get(i))
	}
	return sum
}

func (t *handHashed) fill(keys []uint64) {
	for i, k := range keys {
		if t.enter(k) {
			r := craftOf(i)
			t.add(&r)
		}
	}
}

func (t *handHashed) empty(keys []uint64) {
	for _, k := range keys {
		if i := t.find(k); i >= 0 {
			t.drop(i)
			t.remove(i)
		}
	}
}

func (t *handHashed) lookup(keys []uint64) (sum float64) {
	for _, k := range keys {
		sum += float64(t.find(k))
	}
	return sum
}

func (t *handHashed) copies(keys []uint64) (sum float64) {
	for _, k := range keys {
		if i := t.find(k); i >= 0 {
			sum += sumOf(t.get(i))
		}
	}
	return sum
}

func (t *handHashed) change(keys []uint64) {
	for i, k := range keys {
		if at := t.find(k); at >= 0 {
			r := craftOf(i)
			t.set(at, &r)
		}
	}
}

func (t *handHashed) all() (sum float64) {
	for i := range t.keys {
		sum += sumOf(t.get(i))
	}
	return sum
}

// sumOf uses a record. It is not inlined, so that whole records are copied.
//
//go:noinline
func sumOf(r craft) float64 { return r.Y + float64(r.HP) }

// byHand is one of the tables by hand.
type byHand[K any] interface {
	fill(keys []K)
	empty(keys []K)
	lookup(keys []K) float64
	copies(keys []K) float64
	change(keys []K)
	all() float64
}

// BenchmarkByHand compares the verbs with slices and structs of the same meaning, on 10,000 records
// in random order:
//
//	go test -run xxx -bench ByHand -benchtime 1x ./pool/table
//
// prints ns/op of the table, base-ns/op by hand, and the ratio.
func BenchmarkByHand(b *testing.B) {
	const n = 10_000
	p := pool.Must[int](nil)
	hs, numbers := testkit.Fill(b, p, n, testkit.Number), make([]uint64, n)
	for i := range numbers {
		numbers[i] = rand.Uint64()
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	benchByHand(b, "by=handle/layout=SoA", forHandles[craft](p, table.SoA), hs, &handSoA{handSlots: handSlots{p: p}})
	benchByHand(b, "by=handle/layout=AoS", forHandles[craft](p, table.AoS), hs, &handAoS{handSlots: handSlots{p: p}})
	benchByHand(b, "by=hash/layout=SoA", of[uint64, craft](table.SoA), numbers, &handHashed{handMap: handMap{rows: map[uint64]int{}}})
}

func benchByHand[K comparable](b *testing.B, name string, tb *table.Table[K, craft], keys []K, hand byHand[K]) {
	row := func(verb string, subject, base func()) {
		passes := func(pass func()) func(n int) int {
			return func(want int) (done int) {
				for ; done < want; done += len(keys) {
					pass()
				}
				return done
			}
		}
		b.Run(name+"/verb="+verb, func(b *testing.B) { testkit.VersusCounted(b, passes(subject), passes(base)) })
	}
	var sum float64
	fill := func() {
		for i, k := range keys {
			tb.Add(k, craftOf(i))
		}
	}
	row("Add,Remove", func() {
		fill()
		for _, k := range keys {
			tb.Remove(k)
		}
	}, func() {
		hand.fill(keys)
		hand.empty(keys)
	})
	fill()
	hand.fill(keys)
	row("Lookup", func() {
		for _, k := range keys {
			sum += float64(tb.Lookup(k))
		}
	}, func() { sum += hand.lookup(keys) })
	row("Get", func() {
		for _, k := range keys {
			if r, ok := tb.Get(k); ok {
				sum += sumOf(r)
			}
		}
	}, func() { sum += hand.copies(keys) })
	row("Set", func() {
		for i, k := range keys {
			tb.Set(k, craftOf(i))
		}
	}, func() { hand.change(keys) })
	row("All", func() {
		for _, r := range tb.All() {
			sum += sumOf(r)
		}
	}, func() { sum += hand.all() })
	if sum == 0 {
		b.Fatal("nothing was read")
	}
}
