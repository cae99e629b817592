package dense

import (
	"iter"
	"math/bits"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// part is an array of values, each with its handle and its mark; and an array of slots,
// which handles point to. Positions and indexes in it count from its first.
//
// The slices are never changed, so a part that was reached through an atomic pointer is
// safe to index whatever Refresh does. Elements are written by Refresh, and during a
// phase by whoever has claimed them (Create): values[i] and handles[i] with position i, a
// slot with the handle that it names.
type part[T any] struct {
	values  []T
	handles []pool.Handle[T]
	slots   []slot
	dead    marks
}

func makePart[T any](n int) part[T] {
	return part[T]{make([]T, n), make([]pool.Handle[T], n), make([]slot, n), makeMarks(n)}
}

// room is where the values of a Store and the slots of its handles lie: position i is
// element i of the array, or of a chunk if the array ends before.
//
//	positions   0 ……………… Len ……………… tail
//	            ├── Values ──┼─ created ─┤
//	            ├────────── array ────┤├─ chunk 0 ─┤├──── chunk 1 ────┤
//
// Pointers must stay good and slices in place until the phase is over, so an array
// that is full cannot be replaced by a larger one then, as append does it. What it has
// no room for goes to chunks, each twice as long as the one before, and the next
// Refresh moves all of it to a larger array. Positions stay what they are in that
// move, so no handle needs to hear of it.
type room[T any] struct {
	part[T]

	most  int  // no position or index is greater or equal
	least uint // of makeRoom
	shift uint // chunk k has 1<<(shift+k) values, up to most

	// chunks hold the positions from len(values) on.
	//
	//	writers  grow, under mu
	//	readers  whoever has a position there
	//	moves    nil → a chunk, once
	//	orders   the store publishes the chunk
	chunks [maxChunks]atom.Pointer[part[T]]
	mu     atom.Mutex
}

// maxChunks is enough for 2^32 positions in chunks that begin with two values.
const maxChunks = 32

// makeRoom returns a room whose array has n values, and whose chunks begin with 1<<least
// values or an eighth of the array, whatever is more.
func makeRoom[T any](n int, least uint, most int) *room[T] {
	return &room[T]{part: makePart[T](n), most: most, least: least, shift: max(least, uint(bits.Len(uint(n)/16)))}
}

// leastChunk returns for values of some size the logarithm of how many the first chunk
// takes: 4 KiB or so of them, between 8 and 1,024.
func leastChunk(size uintptr) uint {
	return uint(bits.Len(uint(min(max(4096/max(size, 1), 8), 1024)))) - 1
}

// find returns the part that has position or index i, and where in it. The part is nil
// if there is none.
func (d *room[T]) find(i uint32) (*part[T], int) {
	if uint(i) < uint(len(d.values)) {
		return &d.part, int(i)
	}
	k, at := d.chunkOf(i)
	if c := d.chunks[k].Load(); c != nil && at < uint(len(c.values)) { // a forged handle's index may be any
		return c, int(at)
	}
	return nil, 0
}

// chunkOf returns the chunk that position i belongs to, which is not in the array, and
// where in it.
func (d *room[T]) chunkOf(i uint32) (k int, at uint) {
	o := uint(i) - uint(len(d.values))
	k = bits.Len(o>>d.shift+1) - 1
	return k, o - (1<<k-1)<<d.shift
}

// grow is find that makes the part if there is none. Who comes meanwhile waits.
func (d *room[T]) grow(i uint32) (*part[T], int) {
	if c, at := d.find(i); c != nil {
		return c, at
	}
	k, at := d.chunkOf(i)
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.chunks[k].Load()
	if c == nil {
		made := makePart[T](min(1<<(d.shift+uint(k)), d.most-int(uint(i)-at)))
		c = &made
		d.chunks[k].Store(c)
	}
	return c, int(at)
}

// parts ranges over what has positions below n, each with its first position.
func (d *room[T]) parts(n int) iter.Seq2[int, *part[T]] {
	return func(yield func(int, *part[T]) bool) {
		if !yield(0, &d.part) {
			return
		}
		first := len(d.values)
		for k := 0; first < n; k++ {
			c := d.chunks[k].Load()
			if c == nil || !yield(first, c) {
				return // nil only after a call has overlapped a Refresh
			}
			first += len(c.values)
		}
	}
}

// resized returns a room for n values with the first used positions of d. Nothing else
// may run.
func (d *room[T]) resized(n, used int) *room[T] {
	to := makeRoom[T](n, d.least, d.most)
	for first, c := range d.parts(used) {
		copy(to.values[first:used], c.values)
		copy(to.handles[first:used], c.handles)
		copy(to.slots[first:used], c.slots)
		for i := range c.dead.all {
			to.dead.add(first + i)
		}
	}
	return to
}
