package main

import (
	"cmp"
	"slices"

	"golang.org/x/sync/errgroup"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

// run is how many things a piece of work has. Smaller runs share the work out more
// evenly; larger ones shorten the end of the frame.
const run = 256

// Tick advances the world by one tick.
func (w *World) Tick() error {
	w.tick++
	// All workers look up under this guard, so no part that they find is reused before
	// the end of the frame.
	guard := w.parts.Pin()
	used := 0
	var err error
	for _, phase := range []struct {
		things int
		do     func(span) error
	}{{w.shapes.Len(), w.age}, {w.shapes.Len(), w.grow}, {w.beetles.Len(), w.crawl}} {
		var workers errgroup.Group
		workers.SetLimit(w.workers)
		for lo := 0; lo < phase.things && err == nil; lo += run {
			if used == len(w.pieces) {
				w.pieces = append(w.pieces, &piece{commands: command.New(w.parts)})
			}
			s := span{lo, min(lo+run, phase.things), &guard, w.pieces[used]}
			used++
			workers.Go(func() error { return phase.do(s) })
		}
		err = cmp.Or(err, workers.Wait())
	}
	guard.Unpin()
	if err != nil {
		return err
	}
	return w.endFrame(w.pieces[:used])
}

// span is the work that one worker does at a time: things lo to hi−1, with a piece for the
// changes that it records.
type span struct {
	lo, hi int
	guard  *pool.Guard[Part]
	piece  *piece
}

// endFrame applies the pieces in order. First parts that withered or were eaten are
// removed, with all that grew from them. Then new parts are linked to their parents, and
// beetles are created and destroyed.
func (w *World) endFrame(pieces []*piece) error {
	var buffers []*command.Buffer[Part]
	for _, p := range pieces {
		buffers = append(buffers, p.commands)
	}
	command.Apply(buffers...)
	w.shapes.RemoveDead()

	for _, p := range pieces {
		for _, s := range p.spawns {
			if !s.parent.IsZero() && w.plants.Append(s.parent, s.part) != nil {
				w.parts.Remove(s.part) // its parent was removed in the same tick
				continue
			}
			w.shapes.Add(s.part, s.shape)
			w.counts.Grown++
		}
		for _, b := range p.beetles {
			if _, err := w.beetles.Create(b); err != nil {
				return err
			}
		}
		w.counts.add(&p.counts)
		p.spawns, p.beetles, p.counts = p.spawns[:0], p.beetles[:0], counts{}
	}
	w.beetles.Refresh()
	w.survey()
	w.counts.PeakParts = max(w.counts.PeakParts, w.shapes.Len())
	return nil
}

// foot is the lowest part of a plant.
type foot struct {
	x    float64
	part pool.Handle[Part]
	id   uint64
}

// survey finds the feet of all plants, from left to right.
func (w *World) survey() {
	w.ground = w.ground[:0]
	for h, p := range w.plants.Roots() {
		if i := w.shapes.Lookup(h); i.IsSet() {
			w.ground = append(w.ground, foot{*w.columns.toX.At(i), h, p.ID})
		}
	}
	// Roots are in the order of slots, which depends on scheduling.
	slices.SortFunc(w.ground, func(a, b foot) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.id, b.id)) })
}

// near returns the first foot at or to the right of x.
func (w *World) near(x float64) int {
	i, _ := slices.BinarySearchFunc(w.ground, x, func(f foot, x float64) int { return cmp.Compare(f.x, x) })
	return i
}

func (c *counts) add(d *counts) {
	c.Eaten += d.Eaten
	c.Bred += d.Bred
	c.Starved += d.Starved
	c.RefusedHandles += d.RefusedHandles
}
