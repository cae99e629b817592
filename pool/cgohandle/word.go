package cgohandle

import "coatcheck/pool"

// How a handle fits into a uintptr, which may have 32 bits.

// wide says that a uintptr carries a pool's handle whole.
const wide = ^uintptr(0)>>32 != 0

// If wide is false, a word is
//
//	life | index        12 and 20 bits
//
// The first life is 1, so no word is zero. The last life is a slot's last generation, so
// the pool exhausts the slot when the life would overflow, and no word is issued twice.
// More bits of index would allow more live handles, and exhaust a slot sooner: the total
// is 2^32 less 2^20 either way.
const (
	indexBits       = 20
	lives           = 1<<(32-indexBits) - 1
	lastGeneration  = 1<<32 - 3
	firstGeneration = lastGeneration - 2*(lives-1)
)

// narrowOptions are those of a pool whose handles fit into a narrow word.
func narrowOptions[T any]() *pool.Options[T] {
	return &pool.Options[T]{Capacity: 1 << indexBits, Origin: firstGeneration}
}

// insertNarrow inserts v into a pool with narrowOptions. The pool replaces an exhausted slot by one
// with a new index. One whose index does not fit into a word keeps its place for good, without a
// value, so the table has one handle less.
func insertNarrow[T any](p *pool.Pool[T], v T) (pool.Handle[T], error) {
	for {
		h, err := p.Insert(v)
		if err != nil || h.Index() < 1<<indexBits {
			return h, err
		}
		p.View(h, func(v *T) { *v = *new(T) })
	}
}

// narrow returns the word for a handle of a pool with narrowOptions.
func narrow(h uint64) uint32 {
	life := (uint32(h>>32)-firstGeneration)/2 + 1
	return life<<indexBits | uint32(h)
}

// widen returns the handle of a word. A word with life 0, which is never issued, becomes
// a handle from before the first generation, which the pool refuses.
func widen(w uint32) uint64 {
	generation := firstGeneration + 2*(uint64(w>>indexBits)-1)
	return generation<<32 | uint64(w&(1<<indexBits-1))
}

// wordOf returns the word that C receives for h.
func wordOf[T any](h pool.Handle[T]) uintptr {
	if wide {
		return uintptr(h)
	}
	return uintptr(narrow(uint64(h)))
}

// handleOf returns the handle for a word from C.
func handleOf[T any](w uintptr) pool.Handle[T] {
	if wide {
		return pool.Handle[T](w)
	}
	return pool.Handle[T](widen(uint32(w)))
}
