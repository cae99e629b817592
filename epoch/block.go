package epoch

import (
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// block is the cells of guards that found none among the first ones. Each block is
// at least twice as long as the one before it, and pins go to the newest one, so
// there are few, and a pin that finds one full need not search the others.
//
// The naive way, one list of cells that every scan visits, makes a scan cost what
// there once was: ten thousand guards that have gone made a removal twenty times
// dearer for ever. Here a scan visits a group of cells only if its mark says so
// (see mark.go).
type block struct {
	cells []cell // length is a power of two
	// marks are the levels of a tree: marks[0][i] stands for the cells from i*fan
	// on, marks[k][i] for the marks of the level below from i*fan on. The last level
	// is one mark.
	marks [][]mark
	older *block // the block before; constant
	_     [72]byte

	// salt says where pins look for a cell, together with their hints.
	//
	//	writers  pin, when it has found the cells taken where it looked
	//	readers  pin
	//	moves    +1, and wraps; a hint, of which nothing depends
	//
	// A goroutine that pins again finds the cell again that it had, as long as
	// salt stays.
	salt atom.Uint32

	// groups counts the marks of the first level that are not clear.
	//
	//	writers  announce and visitMark, after the mark
	//	readers  Scanned
	groups atom.Int64
	_      [112]byte
}

// newBlock makes a block of n cells, a power of two, to be published as the newest.
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

// pin tries a few cells in each of some places.
func (b *block) pin(at uint32, e, kind uint64) (Guard, bool) {
	mask := uint32(len(b.cells) - 1)
	for range rounds {
		salt := b.salt.Load()
		h := mix(at, salt)
		i, step := uint32(hint.Index(h, len(b.cells))), h|1 // odd: no cell comes twice
		for range probes {
			c := &b.cells[i&mask]
			if word, ok := c.claim(e, kind); ok {
				b.announce(int(i & mask))
				return Guard{c, word}, true
			}
			i += step
		}
		b.salt.CompareAndSwap(salt, salt+1) // failure: another pin has moved on
	}
	return Guard{}, false
}

// mix is a number that looks random for each hint and salt (the last step of
// MurmurHash3). A plain sum would not do: the places of one salt and of a later one
// would be the same cells in the same order, and a run of guards that stay would
// seem to fill the block.
//
// The salt has a factor of its own. With that of hint.Goroutine, one goroutine's next
// salt would be its neighbour's hint: the cells that one has filled with guards that
// stay would be all that the other tries.
func mix(at, salt uint32) uint32 {
	h := at + salt*0xCC9E2D51
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
