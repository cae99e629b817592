package dense

import (
	"math/bits"

	"coatcheck/internal/atom"
)

// chunks hold the elements of a growing array that lie beyond its length: that of index
// first in the first chunk, and so on. Each chunk is twice as long as the one before. Those who
// look up an element write nothing. C is a chunk, whose elements its user indexes.
//
//	array                  chunk 0     chunk 1
//	0 ……………………… first-1 │ first …… │ ……………………… │ …
type chunks[C any] struct {
	first int  // the index at which the first chunk begins: the array's length
	most  int  // every index is less
	shift uint // chunk k has 1<<(shift+k) elements, up to most

	// all are the chunks.
	//
	//	writers  grow, under mu
	//	readers  every call whose index is beyond the array
	//	moves    nil → a chunk, once
	//	orders   the store publishes the chunk
	all [maxChunks]atom.Pointer[C]
	mu  atom.Mutex
}

// maxChunks is enough for all positions and indexes, of which there are fewer than 2^32 - 1, in chunks
// that begin with one element.
const maxChunks = 32

// init prepares chunks beside an array of n elements. The first has 1<<least elements or an
// eighth of the array, whichever is more.
func (c *chunks[C]) init(n int, least uint, most int) {
	c.first, c.most, c.shift = n, most, max(least, uint(bits.Len(uint(n)/16)))
}

// place returns the number of the chunk for index i, which is beyond the array, and the
// offset in it.
func (c *chunks[C]) place(i uint32) (k int, at uint) {
	o := uint(i) - uint(c.first)
	k = bits.Len(o>>c.shift+1) - 1
	return k, o - (1<<k-1)<<c.shift
}

// find returns the chunk for index i, which is beyond the array, and the offset in it. The chunk
// is nil if there is none, and may be shorter if i is a forged handle's.
func (c *chunks[C]) find(i uint32) (*C, uint) {
	k, at := c.place(i)
	return c.all[k].Load(), at
}

// grow is find that makes a missing chunk. Concurrent calls wait.
func (c *chunks[C]) grow(i uint32, make func(n int) *C) (*C, uint) {
	k, at := c.place(i)
	c.mu.Lock()
	defer c.mu.Unlock()
	chunk := c.all[k].Load()
	if chunk == nil {
		chunk = make(min(1<<(c.shift+uint(k)), c.most-int(uint(i)-at)))
		c.all[k].Store(chunk)
	}
	return chunk, at
}
