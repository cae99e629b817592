package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"coatcheck/pool"
)

// Checksum is equal for equal worlds, whatever their handles are. Things are added in the
// order of their IDs, and refer to each other by ID.
func (w *World) Checksum() uint64 {
	sum := fnv.New64a()
	put := func(fields ...any) { fmt.Fprintln(sum, fields...) }
	guard := w.parts.Pin()
	defer guard.Unpin()
	id := func(h pool.Handle[Part]) uint64 {
		if p, ok := guard.Get(h); ok {
			return p.ID
		}
		return 0
	}

	keys := slices.SortedFunc(slices.Values(w.shapes.Keys()), func(a, b pool.Handle[Part]) int { return cmp.Compare(id(a), id(b)) })
	put(w.tick, len(keys))
	for _, h := range keys {
		p, _ := guard.Get(h)
		shape, _ := w.shapes.Copy(h)
		parent, _ := w.plants.Parent(h)
		put(p.ID, p.Kind, p.Hue, p.Vigour, p.Grown, id(parent), shape)
		for child := range w.plants.Children(h) {
			put(id(child))
		}
	}

	beetles := slices.SortedFunc(slices.Values(w.beetles.Values()), func(a, b Beetle) int { return cmp.Compare(a.ID, b.ID) })
	put(len(beetles))
	for _, b := range beetles {
		put(b.ID, id(b.Perch), b.X, b.Y, b.Food, b.Bred)
	}
	return sum.Sum64()
}
