package epoch

import (
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// block has the cells of guards that found none among the first ones. Each block is at least
// twice as long as the one before, and pins use the newest one. So there are few blocks, and a
// pin that finds the newest full does not search the others.
//
// The naive way is one list of cells that every scan visits. Then ten thousand guards, long
// unpinned, made each removal twenty times slower. Here a scan visits a group of cells only if
// its mark says so (mark.go).
type block struct {
	cells []cell // length is a power of two
	// marks are the levels of a tree. marks[0][i] stands for the cells from i*fan on, and
	// marks[k][i] for the marks of the level below from i*fan on. The last level is one mark.
	marks [][]mark
	older *block // the block before; constant
	_     [72]byte

	// salt and a pin's hint choose where the pin looks for a cell. While salt stays, a
	// goroutine finds the cell that it had before.
	//
	//	writers  pin, when it has found the cells taken where it looked
	//	readers  pin
	//	moves    +1, and wraps; a hint, which correctness does not depend on
	salt atom.Uint32

	// groups counts the marks of the first level that are not clear.
	//
	//	writers  announce and visitMark, after the mark
	//	readers  Scanned
	groups atom.Int64
	_      [112]byte
}

// newBlock makes a block of n cells, a power of two. Its caller publishes it as the newest.
func newBlock(n int, older *block) *block {
	b := &block{cells: make([]cell, n), older: older}
	for {
		n = (n + fan - 1) / fan
		b.marks = append(b.marks, make([]mark, n))
		if n == 1 {
			return b
		}
	}
}

// begin makes the cells of a new block begin with the second sequence.
func (b *block) begin() {
	for i := range b.cells {
		b.cells[i].word.Store(1 << kindBits)
	}
}

// pin tries probes cells at each of rounds places.
func (b *block) pin(index uint32, e, kind uint64) (Guard, bool) {
	mask := uint32(len(b.cells) - 1)
	for range rounds {
		salt := b.salt.Load()
		h := mix(index, salt)
		i, step := uint32(hint.Index(h, len(b.cells))), h|1 // odd: no cell comes twice
		for range probes {
			if g, ok := b.cells[i&mask].claim(e, kind); ok {
				b.announce(int(i & mask))
				return g, true
			}
			i += step
		}
		b.salt.CompareAndSwap(salt, salt+1) // failure: another pin has moved on
	}
	return Guard{}, false
}

// mix hashes a hint and a salt, by the last step of MurmurHash3. In a plain sum, the places of
// one salt and those of a later one would be the same cells in the same order. Then a run of
// guards that stay pinned would seem to fill the block.
//
// The salt has a factor of its own. With the factor of hint.Goroutine, one goroutine's next
// salt would be its neighbour's hint. Then the second would try only the cells that the first
// has filled.
func mix(index, salt uint32) uint32 {
	h := index + salt*0xCC9E2D51
	h = (h ^ h>>16) * 0x85EBCA6B
	h = (h ^ h>>13) * 0xC2B2AE35
	return h ^ h>>16
}

// bytes returns the memory that the block takes.
func (b *block) bytes() int64 {
	n := int64(unsafe.Sizeof(*b)) + int64(len(b.cells))*int64(unsafe.Sizeof(cell{}))
	for _, level := range b.marks {
		n += int64(unsafe.Sizeof(level)) + int64(len(level))*int64(unsafe.Sizeof(mark{}))
	}
	return n
}
