package main

import (
	"coatcheck/pool"
	"coatcheck/pool/command"
	"coatcheck/pool/dense"
	"coatcheck/pool/table"
	"coatcheck/pool/tree"
)

// World is a meadow: plants that grow and sow others, and beetles that eat leaves.
//
//	parts    a pool: plants' parts refer to each other, beetles to parts, and
//	         any of them may be gone by the next tick
//	plants   a forest over them: which part grew from which
//	shapes   a table by their handles: loops read a column or two of it
//	beetles  dense: all of them move in every tick, a slice at a time
//	pieces   command buffers: while workers look, nothing comes or goes
//
// A tick is a sequence of phases. In each phase all workers do the same to different
// things (tick.go). One worker writes a thing, and others read only fields of it that are
// not written in that phase. Changes of other things are recorded, and applied at the end
// of the frame by one goroutine.
type World struct {
	seed    uint64
	tick    int
	workers int

	parts   *pool.Pool[Part]
	plants  *tree.Forest[Part]
	shapes  *table.Table[pool.Handle[Part], Shape]
	beetles *dense.Store[Beetle]

	columns columns
	ground  []foot
	pieces  []*piece
	counts  counts
}

// columns are the columns of shapes that loops use.
type columns struct {
	toX, toY, angle table.View[float64]
	age             table.View[int32]
}

// counts are counts of events so far.
type counts struct {
	Grown, Withered, Eaten int // parts
	Bred, Starved          int
	PeakParts              int
	RefusedHandles         int // perches that were removed
}

// piece is the changes of one run of a phase. There is one for each run of things rather
// than for each worker, so that the order of changes does not depend on scheduling.
type piece struct {
	commands *command.Buffer[Part]
	spawns   []spawn
	beetles  []Beetle
	counts   counts
}

const (
	width  = 1200 // of the meadow, in pixels
	height = 600

	firstPlants = 24
)

// NewWorld makes a meadow with some plants and beetles.
func NewWorld(seed uint64, workers, plants int) (*World, error) {
	w, err := empty(seed, workers, pool.Must[Part](nil))
	if err != nil {
		return nil, err
	}
	d, first := roll(seed, -1), &piece{commands: command.New(w.parts)}
	for i := range plants {
		id := childID(seed, uint32(i))
		x := (float64(i)+0.5)*width/float64(plants) + d.spread(20)
		if err := w.sprout(first, id, x, uint8(d.below(256))); err != nil {
			return nil, err
		}
		if i%2 == 0 {
			first.beetles = append(first.beetles, Beetle{ID: mix(id), X: d.spread(width/2) + width/2, Food: 60})
		}
	}
	return w, w.endFrame([]*piece{first})
}

// empty makes a world around a pool of parts.
func empty(seed uint64, workers int, parts *pool.Pool[Part]) (*World, error) {
	shapes, err := table.ForHandles[Part, Shape](parts, table.SoA)
	if err != nil {
		return nil, err
	}
	return &World{
		seed:    seed,
		workers: workers,
		parts:   parts,
		plants:  tree.New(parts, func(p *Part) *tree.Links[Part] { return &p.Links }),
		shapes:  shapes,
		beetles: dense.Must[Beetle](nil),
		columns: columns{
			toX:   table.Column(shapes, func(s *Shape) *float64 { return &s.ToX }),
			toY:   table.Column(shapes, func(s *Shape) *float64 { return &s.ToY }),
			angle: table.Column(shapes, func(s *Shape) *float64 { return &s.Angle }),
			age:   table.Column(shapes, func(s *Shape) *int32 { return &s.Age }),
		},
	}, nil
}
