package tree

import "coatcheck/pool"

// bits is a set of slots, by their indexes. It grows as slots are added.
type bits[T any] []uint64

func (b bits[T]) contains(h pool.Handle[T]) bool {
	i := int(h.Index() / 64)
	return i < len(b) && b[i]>>(h.Index()%64)&1 == 1
}

func (b *bits[T]) set(h pool.Handle[T]) {
	i := int(h.Index() / 64)
	if i >= len(*b) {
		*b = append(*b, make([]uint64, i+1-len(*b))...)
	}
	(*b)[i] |= 1 << (h.Index() % 64)
}

func (b bits[T]) clear() { clear(b) }
