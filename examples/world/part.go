package main

import (
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// Kind is what a part of a plant is.
type Kind uint8

const (
	Stem Kind = iota
	Leaf
	Flower
	kinds
)

// Part is a piece of a plant: a value of the pool, named by its handle. Its place
// among the other parts is in its Links, and where it stands in the picture is in
// the table of Shapes.
type Part struct {
	ID    uint64 // the same in every run of a seed, which a handle is not
	Kind  Kind
	Age   int32
	Sap   int32  // what it lives on
	Spare int32  // what its parent may take in this tick
	Grown uint32 // how many parts and seeds have come from it: their IDs follow from that
	Links tree.Links[Part]
}

// Shape is where a part stands. Only loops over many parts read it, each a field
// or two: hence a table by columns.
type Shape struct {
	FromX, FromY float64 // where it grows from
	ToX, ToY     float64
	Angle        float64 // from upright, in radians
	Width        float64
	Light        int32 // of a leaf: 0 to fullLight
	Hue          uint8 // of the plant
}

// spawn is a part that is to be: its value waits in a command buffer, and at the
// frame's end it joins its parent and the table.
type spawn struct {
	parent, part pool.Handle[Part] // parent: none for what grows out of the ground
	shape        Shape
}

// The economy of a plant, in units of sap.
const (
	fullLight  = 8  // what a leaf makes in a tick, if nothing is above it
	seedSap    = 90 // what a seed brings
	stemCost   = 24 // what a new part costs the one that it grows from
	bud        = 16 // of that, what the new part begins with
	leafCost   = 10
	flowerCost = 24
	reserve    = 12 // what a stem keeps before it gives
	leafAge    = 60 // when a leaf falls
	flowerAge  = 12 // when a flower has ripened
	stemAge    = 250
	segment    = 9.0 // how long a part is, in pixels
)
