package main

import (
	"cmp"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

// run is how many things a piece of work has. Fewer share the work out more
// evenly; more make the frame's end shorter.
const run = 256

// Tick lets the world live for one tick.
func (w *World) Tick() error {
	w.tick++
	// All workers look up under this one guard: nothing that any of them finds
	// is reused before the frame's end.
	guard := w.parts.Pin()
	p := phase{w: w, guard: &guard}

	p.rows(w.light.columns(), w.light.clear)
	p.each(w.shapes.Len(), w.shade)
	p.rows(w.light.columns(), w.light.fall)
	p.each(w.shapes.Len(), w.live)
	p.each(w.shapes.Len(), w.drink)
	p.record(w.shapes.Len(), w.grow)
	p.record(w.beetles.Len(), w.crawl)
	p.record(w.seeds.Len(), w.drift)

	guard.Unpin()
	if p.err != nil {
		return p.err
	}
	return w.endFrame(w.pieces[:p.used])
}

// phase is the phases of one tick.
type phase struct {
	w     *World
	guard *pool.Guard[Part]
	used  int // pieces
	err   error
}

// span is what one worker does at a time: things lo to hi−1.
type span struct {
	lo, hi int
	guard  *pool.Guard[Part]
	piece  *piece // nil in phases that record nothing
}

// each does f for n things, a run at a time.
func (p *phase) each(n int, f func(span) error) {
	p.parallel((n+run-1)/run, func(i int) error {
		return f(span{lo: i * run, hi: min(n, (i+1)*run), guard: p.guard})
	})
}

// record is each for phases that want changes.
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

// rows does f for each of n things.
func (p *phase) rows(n int, f func(i int)) {
	p.parallel(n, func(i int) error { f(i); return nil })
}

// parallel does f(0) to f(n−1), by all workers, and waits for them.
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

// endFrame does what the pieces want, in their order: what withers or is eaten
// goes with all that grew from it, then what has grown joins its parent, and
// seeds and beetles come and go.
func (w *World) endFrame(pieces []*piece) error {
	// A part that goes is detached, so that its siblings close up, and all below it
	// goes as well: an order of removals that the frame adds to those recorded.
	for _, p := range pieces {
		for h := range p.commands.Removals() {
			if err := w.plants.Detach(h); err != nil {
				return err // nothing has been removed yet, so all of them live
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
				w.parts.Remove(s.part) // what it grew from has gone in the same tick
				continue
			}
			w.shapes.Add(s.part, s.shape)
			w.counts.Grown++
		}
		for _, s := range p.seeds {
			if _, err := w.seeds.Create(s); err != nil {
				return err
			}
			w.counts.Sown++
		}
		for _, b := range p.beetles {
			if _, err := w.beetles.Create(b); err != nil {
				return err
			}
		}
		w.counts.add(&p.counts)
		p.spawns, p.seeds, p.beetles, p.counts = p.spawns[:0], p.seeds[:0], p.beetles[:0], counts{}
	}
	w.seeds.Refresh()
	w.beetles.Refresh()
	w.survey()
	w.counts.PeakParts = max(w.counts.PeakParts, w.shapes.Len())
	w.counts.PeakBeetles = max(w.counts.PeakBeetles, w.beetles.Len())
	return nil
}

// foot is where a plant stands.
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
	// Roots come in the order of slots, which depends on who inserted first.
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
