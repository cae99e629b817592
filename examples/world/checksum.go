package main

import (
	"fmt"
	"hash/fnv"

	"coatcheck/pool"
)

// Checksum is equal for equal worlds, whatever their handles are. It is the sum of the hashes of
// all things, in any order, and they refer to each other by ID.
func (w *World) Checksum() (sum uint64) {
	add := func(fields ...any) {
		hash := fnv.New64a()
		fmt.Fprintln(hash, fields...)
		sum += hash.Sum64()
	}
	guard := w.parts.Pin()
	defer guard.Unpin()
	id := func(h pool.Handle[Part]) uint64 {
		if p, ok := guard.Pointer(h); ok {
			return p.ID
		}
		return 0
	}
	add(w.tick)
	for h, shape := range w.shapes.All() {
		p, _ := guard.Pointer(h)
		parent, _ := w.plants.Parent(h)
		var children []uint64
		for child := range w.plants.Children(h) {
			children = append(children, id(child))
		}
		add(p.ID, p.Kind, p.Hue, p.Vigour, p.Grown, id(parent), children, shape)
	}
	for _, b := range w.beetles.Values() {
		perch := id(b.Perch)
		b.Perch = 0
		add(b, perch)
	}
	return sum
}
