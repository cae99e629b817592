package dense

import (
	"iter"
	"math/bits"

	"coatcheck/pool"
)

// part is an array of values, each with its handle and its mark. Offsets into it count from
// its first position.
//
// The slices are never changed, so a part that was reached through an atomic pointer is
// safe to index whatever Refresh does. During a phase only Create writes elements: it
// owns values[i] and handles[i] from its claim of position i.
type part[T any] struct {
	values  []T
	handles []pool.Handle[T]
	dead    marks
}

func makePart[T any](n int) *part[T] {
	return &part[T]{make([]T, n), make([]pool.Handle[T], n), makeMarks(n)}
}

// room holds the values of a Store and the slots of its handles. Position i is element i
// of the array, or of a chunk if the array is shorter.
//
//	positions   0 ……………… Len ……………… tail
//	            ├── Values ──┼─ created ─┤
//	            ├────────── array ────┤├─ chunk 0 ─┤├──── chunk 1 ────┤
//
// During a phase pointers must stay valid and slices in place, so a full array cannot be
// replaced by a larger one, as append does. What does not fit goes to chunks, and the next
// Refresh moves all of it to a larger array. That move changes no position, so no slot is
// written.
//
// Slots have an array and chunks of their own. A slot stays when its value moves or goes, so
// after a peak there are more slots than values.
type room[T any] struct {
	slots []slot
	part[T]

	beyond      chunks[part[T]]
	slotsBeyond chunks[[]slot]
}

// sizes are the numbers that rooms of a Store are made with.
type sizes struct {
	least    uint // the binary logarithm of the first chunk's length
	capacity int  // every position is less
	most     int  // every index is less
}

// makeRoom returns a room with an array of n values, and these slots.
func makeRoom[T any](n int, slots []slot, z *sizes) *room[T] {
	d := &room[T]{part: *makePart[T](n), slots: slots}
	d.beyond.init(n, z.least, z.capacity)
	d.slotsBeyond.init(len(slots), z.least, z.most)
	return d
}

// leastChunk returns the binary logarithm of the first chunk's length, for values of this
// size: about 4 KiB of them, or one larger value, and at most 1,024.
func leastChunk(size uintptr) uint {
	return uint(bits.Len(uint(min(max(4096/max(size, 1), 1), 1024)))) - 1
}

// find returns the part that has position i, and the offset in it. The part is nil if there
// is none.
func (d *room[T]) find(i uint32) (*part[T], int) {
	if uint(i) < uint(len(d.values)) {
		return &d.part, int(i)
	}
	if c, at := d.beyond.find(i); c != nil && at < uint(len(c.values)) {
		return c, int(at)
	}
	return nil, 0
}

// grow is find that makes a missing part.
func (d *room[T]) grow(i uint32) (*part[T], int) {
	if c, at := d.find(i); c != nil {
		return c, at
	}
	c, at := d.beyond.grow(i, makePart[T])
	return c, int(at)
}

// slot returns the slot with this index, or nil if there is none: a forged handle's index may
// be any.
func (d *room[T]) slot(index uint32) *slot {
	if uint(index) < uint(len(d.slots)) {
		return &d.slots[index]
	}
	if c, at := d.slotsBeyond.find(index); c != nil && at < uint(len(*c)) {
		return &(*c)[at]
	}
	return nil
}

// growSlot is slot that makes a missing one.
func (d *room[T]) growSlot(index uint32) *slot {
	if sl := d.slot(index); sl != nil {
		return sl
	}
	c, at := d.slotsBeyond.grow(index, func(n int) *[]slot {
		made := make([]slot, n)
		return &made
	})
	return &(*c)[at]
}

// parts ranges over the parts that have positions below n, each with its first position.
func (d *room[T]) parts(n int) iter.Seq2[int, *part[T]] {
	return func(yield func(int, *part[T]) bool) {
		if !yield(0, &d.part) {
			return
		}
		first := len(d.values)
		for k := 0; first < n; k++ {
			c := d.beyond.all[k].Load()
			if c == nil || !yield(first, c) {
				return // nil only after a call overlapped a Refresh
			}
			first += len(c.values)
		}
	}
}

// resized returns a room for n values and m slots, with the values at the first taken positions
// of d and the first used of its slots. The caller has the Store to itself.
func (d *room[T]) resized(n, m, taken, used int, z *sizes) *room[T] {
	slots := d.slots
	if m != len(slots) {
		slots = make([]slot, m)
		d.copySlots(slots[:min(used, m)])
	}
	to := makeRoom[T](n, slots, z)
	for first, c := range d.parts(taken) {
		copy(to.values[first:taken], c.values)
		copy(to.handles[first:taken], c.handles)
		for i := range c.dead.all {
			to.dead.add(first + i)
		}
	}
	return to
}
