package main

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"coatcheck/pool"
)

// Checksum is equal for equal worlds, whatever their handles are. Things are added in the
// order of their IDs, and refer to each other by ID.
func (w *World) Checksum() uint64 {
	sum := fnv.New64a()
	put := func(fields ...any) {
		for _, f := range fields {
			// Numbers of fixed size can be written, and a hash returns no error.
			_ = binary.Write(sum, binary.LittleEndian, f)
		}
	}
	guard := w.parts.Pin()
	defer guard.Unpin()
	id := func(h pool.Handle[Part]) uint64 {
		if p, ok := guard.Get(h); ok {
			return p.ID
		}
		return 0
	}

	type row struct {
		id uint64
		h  pool.Handle[Part]
	}
	rows := make([]row, 0, w.shapes.Len())
	for _, h := range w.shapes.Keys() {
		rows = append(rows, row{id(h), h})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	put(int64(w.tick), int64(len(rows)))
	for _, r := range rows {
		p, _ := guard.Get(r.h)
		shape, _ := w.shapes.Copy(r.h)
		parent, _ := w.plants.Parent(r.h)
		put(p.ID, p.Kind, p.Hue, p.Vigour, p.Grown, id(parent), shape)
		for child := range w.plants.Children(r.h) {
			put(id(child))
		}
	}

	beetles := slices.SortedFunc(slices.Values(w.beetles.Values()), func(a, b Beetle) int { return cmp.Compare(a.ID, b.ID) })
	put(int64(len(beetles)))
	for _, b := range beetles {
		put(b.ID, id(b.Perch), b.X, b.Y, b.Food, b.Bred)
	}
	return sum.Sum64()
}
