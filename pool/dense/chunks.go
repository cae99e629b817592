package dense

import (
	"math/bits"

	"coatcheck/internal/atom"
)

// chunks extend an array while goroutines use it. The elements from number first on lie in chunks,
// each twice as long as the one before. A look-up of an element writes nothing. C is the type of a
// chunk. The elements are values by position, or slots by index.
//
//	array                  chunk 0     chunk 1
//	0 ……………………… first-1 │ first …… │ ……………………… │ …
type chunks[C any] struct {
	first int  // the number of the first chunk's first element: the array's length
	limit int  // every number is less
	shift uint // chunk k has 1<<(shift+k) elements, up to limit

	// list has the chunks.
	//
	//	writers  grow, under mu
	//	readers  every call that needs an element beyond the array
	//	moves    nil → a chunk, once
	//	orders   the store publishes the chunk
	list [maxChunks]atom.Pointer[C]
	mu   atom.Mutex
}

// maxChunks is enough even if the first chunk has one element: there are fewer than 2^32 - 1 positions,
// and as many indexes.
const maxChunks = 32

// init prepares the chunks that follow an array of n elements. The first will have 1<<chunkBits
// elements, or an eighth of the array if that is more.
func (c *chunks[C]) init(n int, chunkBits uint, limit int) {
	c.first, c.limit, c.shift = n, limit, max(chunkBits, uint(bits.Len(uint(n)/16)))
}

// locate returns which chunk has element i, and the offset in it. The element is beyond the array.
func (c *chunks[C]) locate(i uint32) (k int, offset uint) {
	o := uint(i) - uint(c.first)
	k = bits.Len(o>>c.shift+1) - 1
	return k, o - (1<<k-1)<<c.shift
}

// find returns the chunk that has element i, and the offset in it. The element is beyond the array.
// The chunk is nil if there is none yet. It may be too short for the offset, if i comes from a forged
// handle.
func (c *chunks[C]) find(i uint32) (*C, uint) {
	k, offset := c.locate(i)
	return c.list[k].Load(), offset
}

// grow returns what find does, but makes the chunk if there is none. Concurrent calls wait for it.
func (c *chunks[C]) grow(i uint32, make func(n int) *C) (*C, uint) {
	k, offset := c.locate(i)
	c.mu.Lock()
	defer c.mu.Unlock()
	chunk := c.list[k].Load()
	if chunk == nil {
		chunk = make(min(1<<(c.shift+uint(k)), c.limit-int(uint(i)-offset)))
		c.list[k].Store(chunk)
	}
	return chunk, offset
}
