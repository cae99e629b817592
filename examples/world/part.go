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
	Flower
	kinds
)

// Part is a piece of a plant: a value of the pool, named by its handle. Its Links are its
// place among the other parts, and its position in the picture is in the table of Shapes.
type Part struct {
	ID    uint64 // the same in every run of a seed, unlike a handle
	Kind  Kind
	Age   int32
	Sap   int32  // consumed in each tick
	Spare int32  // the sap that its parent may take in this tick
	Grown uint32 // the number of parts and grains that grew from it, which determines their IDs
	Links tree.Links[Part]
}

// Shape is the position of a part. Only loops over many parts read it, a field or two
// each: hence a table by columns.
type Shape struct {
	FromX, FromY float64 // the end at its parent
	ToX, ToY     float64
	Angle        float64 // from upright, in radians
	Width        float64
	Light        int32 // of a leaf: 0 to fullLight
	Hue          uint8 // of the plant
}

// spawn is a part to be created. Its value waits in a command buffer, and at the end of
// the frame it is linked to its parent and added to the table.
type spawn struct {
	parent, part pool.Handle[Part] // parent is zero for a plant's foot
	shape        Shape
}

// The economy of a plant, in units of sap.
const (
	fullLight  = 8  // a leaf's production in a tick without shade
	grainSap   = 90 // a grain's initial sap
	stemCost   = 24 // a new part's cost to its parent
	bud        = 16 // the part of it that the new part gets
	leafCost   = 10
	flowerCost = 24
	reserve    = 12 // the sap that a stem keeps
	leafAge    = 60 // when a leaf falls
	flowerAge  = 12 // when a flower is ripe
	stemAge    = 250
	segment    = 9.0 // the length of a part, in pixels
)
