package main

import (
	"cmp"
	"slices"
	"sync/atomic"

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
	p := phase{w: w, guard: &guard}

	p.record(w.shapes.Len(), w.age)
	p.record(w.shapes.Len(), w.grow)
	p.record(w.beetles.Len(), w.crawl)

	guard.Unpin()
	if p.err != nil {
		return p.err
	}
	return w.endFrame(w.pieces[:p.used])
}

// phase runs the phases of one tick.
type phase struct {
	w     *World
	guard *pool.Guard[Part]
	used  int // the number of pieces used
	err   error
}

// span is the work that one worker does at a time: things lo to hi−1.
type span struct {
	lo, hi int
	guard  *pool.Guard[Part]
	piece  *piece
}

// record calls f for n things, a run at a time, each with a piece for the changes that it records.
func (p *phase) record(n int, f func(span) error) {
	from := p.used
	p.used += (n + run - 1) / run
	for len(p.w.pieces) < p.used {
		p.w.pieces = append(p.w.pieces, &piece{commands: command.New(p.w.parts)})
	}
	p.parallel(p.used-from, func(i int) error {
		return f(span{lo: i * run, hi: min(n, (i+1)*run), guard: p.guard, piece: p.w.pieces[from+i]})
	})
}

// parallel calls f(0) to f(n−1) on all workers, and waits for them.
func (p *phase) parallel(n int, f func(i int) error) {
	if p.err != nil {
		return
	}
	var next atomic.Int64
	var g errgroup.Group
	for range min(p.w.workers, n) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := f(i); err != nil {
					return err
				}
			}
		})
	}
	p.err = g.Wait()
}

// endFrame applies the pieces in order. First parts that withered or were eaten are
// removed, with all that grew from them. Then new parts are linked to their parents, and
// beetles are created and destroyed.
func (w *World) endFrame(pieces []*piece) error {
	// A removed part is detached, so that its siblings close up. Everything below it is
	// removed as well, by the frame's own buffer.
	for _, p := range pieces {
		for h := range p.commands.Removals() {
			if err := w.plants.Detach(h); err != nil {
				return err // nothing is removed yet, so all handles are live
			}
			for d := range w.plants.Descendants(h) {
				w.frame.commands.Remove(d)
			}
		}
	}
	buffers := make([]*command.Buffer[Part], 0, len(pieces)+1)
	for _, p := range append(pieces[:len(pieces):len(pieces)], &w.frame) {
		if !slices.Contains(buffers, p.commands) {
			buffers = append(buffers, p.commands)
		}
	}
	_, removed := command.Apply(buffers...)
	w.counts.Withered += removed
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
