package dense

import (
	"iter"
	"math/bits"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// part is an array of values, each with its handle and its mark, and an array of slots.
// Offsets into it count from its first position.
//
// The slices are never changed, so a part that was reached through an atomic pointer is
// safe to index whatever Refresh does. During a phase only Create writes elements: it
// owns values[i] and handles[i] from its claim of position i, and the slot that
// handles[i] names.
type part[T any] struct {
	values  []T
	handles []pool.Handle[T]
	slots   []slot
	dead    marks
}

func makePart[T any](n int) part[T] {
	return part[T]{make([]T, n), make([]pool.Handle[T], n), make([]slot, n), makeMarks(n)}
}

// room holds the values of a Store and the slots of its handles. Position i is element i
// of the array, or of a chunk if the array is shorter.
//
//	positions   0 ……………… Len ……………… tail
//	            ├── Values ──┼─ created ─┤
//	            ├────────── array ────┤├─ chunk 0 ─┤├──── chunk 1 ────┤
//
// During a phase pointers must stay valid and slices in place, so a full array cannot be
// replaced by a larger one, as append does. What does not fit goes to chunks, each twice
// as long as the one before, and the next Refresh moves all of it to a larger array. That
// move changes no position, so no slot is written.
type room[T any] struct {
	part[T]

	most  int  // every position and index is less
	least uint // the argument of makeRoom
	shift uint // chunk k has 1<<(shift+k) values, up to most

	// chunks hold the positions from len(values) on.
	//
	//	writers  grow, under mu
	//	readers  every call whose position or index is beyond the array
	//	moves    nil → a chunk, once
	//	orders   the store publishes the chunk
	chunks [maxChunks]atom.Pointer[part[T]]
	mu     atom.Mutex
}

// maxChunks is enough for 2^32 positions in chunks that begin with two values.
const maxChunks = 32

// makeRoom returns a room whose array has n values. The first chunk has 1<<least values
// or an eighth of the array, whichever is more.
func makeRoom[T any](n int, least uint, most int) *room[T] {
	return &room[T]{part: makePart[T](n), most: most, least: least, shift: max(least, uint(bits.Len(uint(n)/16)))}
}

// leastChunk returns the binary logarithm of the first chunk's length, for values of this
// size: about 4 KiB of them, between 8 and 1,024.
func leastChunk(size uintptr) uint {
	return uint(bits.Len(uint(min(max(4096/max(size, 1), 8), 1024)))) - 1
}

// find returns the part that has position or index i, and the offset in it. The part is
// nil if there is none.
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

// chunkOf returns the number of the chunk for position i, which is beyond the array, and
// the offset in it.
func (d *room[T]) chunkOf(i uint32) (k int, at uint) {
	o := uint(i) - uint(len(d.values))
	k = bits.Len(o>>d.shift+1) - 1
	return k, o - (1<<k-1)<<d.shift
}

// grow is find that makes a missing part. Concurrent calls wait.
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

// parts ranges over the parts that have positions below n, each with its first position.
func (d *room[T]) parts(n int) iter.Seq2[int, *part[T]] {
	return func(yield func(int, *part[T]) bool) {
		if !yield(0, &d.part) {
			return
		}
		first := len(d.values)
		for k := 0; first < n; k++ {
			c := d.chunks[k].Load()
			if c == nil || !yield(first, c) {
				return // nil only after a call overlapped a Refresh
			}
			first += len(c.values)
		}
	}
}

// resized returns a room for n values with the first used positions of d. The caller has
// the Store to itself.
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
