package dense

import (
	"iter"
	"math/bits"

	"coatcheck/pool"
)

// The words of this package:
//
//	position   the number of a value: 0 is the first of Values, and created values follow
//	offset     the number of a value in its part (the array or a chunk), from 0 on
//	index      the number of a slot, which its handles carry
//	rank       the number of a slot on the stack of those that wait, from the bottom
//	mark       the bit of a position whose value the next Refresh destroys: the value is dead
//	gap        the position of a value that goes, before others close up
//	waiting    of a slot: it has no value, and a value to come will get it
//	exhausted  of a slot: it has used up its generations, and no value will get it
//	unborn     of a position: its init panicked or exited, so it never had a value

// part is an array of values, each with its handle and its mark.
//
// The slices never change. So once a part was reached through an atomic pointer, it can be indexed
// safely, whatever Refresh does. During a phase only Create writes elements: from its claim of a
// position on, it owns the value and the handle there.
type part[T any] struct {
	values  []T
	handles []pool.Handle[T]
	dead    marks
}

func makePart[T any](n int) *part[T] {
	return &part[T]{make([]T, n), make([]pool.Handle[T], n), makeMarks(n)}
}

// room holds the values of a Store and the slots of its handles. A position is an element of the
// array, or of a chunk if the array is shorter.
//
//	positions   0 ……………… Len ……………… tail
//	            ├── Values ──┼─ created ─┤
//	            ├────────── array ────┤├─ chunk 0 ─┤├──── chunk 1 ────┤
//
// During a phase pointers must stay valid and slices in place. So a larger array cannot replace a
// full one, as it does in append. Create puts what does not fit into chunks, and the next Refresh
// moves all of it to a larger array. No position changes then, so no slot is written.
//
// Slots have an array and chunks of their own. A slot stays when its value moves or goes, so
// after a peak there are more slots than values.
type room[T any] struct {
	slots []slot
	part[T]

	valueChunks chunks[part[T]]
	slotChunks  chunks[[]slot]
}

// sizes are the limits of all rooms of a Store.
type sizes struct {
	chunkBits uint // the binary logarithm of the first chunk's length
	capacity  int  // every position is less
	slotLimit int  // every index is less
}

// makeRoom returns a room that has an array for n values, and these slots.
func makeRoom[T any](n int, slots []slot, z *sizes) *room[T] {
	d := &room[T]{part: *makePart[T](n), slots: slots}
	d.valueChunks.init(n, z.chunkBits, z.capacity)
	d.slotChunks.init(len(slots), z.chunkBits, z.slotLimit)
	return d
}

// firstChunkBits returns the binary logarithm of the first chunk's length. Such a chunk has about 4 KiB of
// values of this size, but at most 1,024 values, and one value that is larger.
func firstChunkBits(size uintptr) uint {
	return uint(bits.Len(uint(min(max(4096/max(size, 1), 1), 1024)))) - 1
}

// find returns the part that has position i, and the offset in it. The part is nil if there
// is none.
func (d *room[T]) find(i uint32) (*part[T], int) {
	if uint(i) < uint(len(d.values)) {
		return &d.part, int(i)
	}
	if c, offset := d.valueChunks.find(i); c != nil && offset < uint(len(c.values)) {
		return c, int(offset)
	}
	return nil, 0
}

// grow returns the part that has position i, and the offset in it. It makes the chunk if there is none.
func (d *room[T]) grow(i uint32) (*part[T], int) {
	if c, offset := d.find(i); c != nil {
		return c, offset
	}
	c, offset := d.valueChunks.grow(i, makePart[T])
	return c, int(offset)
}

// slot returns the slot with this index, or nil if there is none, as for a forged handle.
func (d *room[T]) slot(index uint32) *slot {
	if uint(index) < uint(len(d.slots)) {
		return &d.slots[index]
	}
	if c, offset := d.slotChunks.find(index); c != nil && offset < uint(len(*c)) {
		return &(*c)[offset]
	}
	return nil
}

// growSlot returns the slot with this index. It makes the chunk if there is none.
func (d *room[T]) growSlot(index uint32) *slot {
	if sl := d.slot(index); sl != nil {
		return sl
	}
	c, offset := d.slotChunks.grow(index, func(n int) *[]slot {
		made := make([]slot, n)
		return &made
	})
	return &(*c)[offset]
}

// parts ranges over the parts that have positions below n. It yields each with its first position.
func (d *room[T]) parts(n int) iter.Seq2[int, *part[T]] {
	return func(yield func(int, *part[T]) bool) {
		if !yield(0, &d.part) {
			return
		}
		first := len(d.values)
		for k := 0; first < n; k++ {
			c := d.valueChunks.list[k].Load()
			if c == nil || !yield(first, c) {
				return // nil only after a call overlapped a Refresh
			}
			first += len(c.values)
		}
	}
}

// resized returns a room for n values and m slots. It copies the values of d at positions below
// taken, and the slots with indexes below used, for all of which it has room. The caller has the Store to itself.
func (d *room[T]) resized(n, m, taken, used int, z *sizes) *room[T] {
	slots := d.slots
	if m != len(slots) {
		slots = make([]slot, m)
		d.copySlots(slots[:used])
	}
	larger := makeRoom[T](n, slots, z)
	for first, c := range d.parts(taken) {
		copy(larger.values[first:taken], c.values)
		copy(larger.handles[first:taken], c.handles)
		for i := range c.dead.offsets {
			larger.dead.add(first + i)
		}
	}
	return larger
}
