package main

import (
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// Kind is the kind of a part of a plant.
type Kind uint8

const (
	Stem Kind = iota
	Leaf
	kinds
)

// Part is a piece of a plant: a value of the pool, named by its handle. Its Links are its
// place among the other parts, and its position in the picture is in the table of Shapes.
type Part struct {
	ID     uint64 // the same in every run of a seed, unlike a handle
	Kind   Kind
	Hue    uint8  // of the plant
	Vigour int32  // of a stem: how many more can grow on top of it
	Grown  uint32 // the number of parts and plants that grew from it, which determines their IDs
	Links  tree.Links[Part]
}

// Shape is the age and the position of a part. Loops over many parts read a field or two
// each: hence a table by columns.
type Shape struct {
	FromX, FromY float64 // the end at its parent
	ToX, ToY     float64
	Angle        float64 // from upright, in radians
	Age          int32   // in ticks
}

// spawn is a part to be created. Its value waits in a command buffer, and at the end of
// the frame it is linked to its parent and added to the table.
type spawn struct {
	parent, part pool.Handle[Part] // parent is zero for a plant's foot
	shape        Shape
}

// The life of a plant, in ticks and pixels.
const (
	leafAge  = 60 // when a leaf falls
	seedAge  = 40 // when the top of a plant bears seeds
	stemAge  = 120
	segment  = 9.0 // the length of a stem
	crowded  = 14.0
	farthest = 300.0 // that a seed flies
)
