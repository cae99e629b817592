package main

import "coatcheck/pool"

// Beetle eats leaves. It keeps the handle of the part on which it sits. If another beetle
// eats that part, or it falls with its branch, the handle is refused: the beetle need not
// be told.
type Beetle struct {
	ID    uint64
	Perch pool.Handle[Part] // zero on the ground
	X, Y  float64
	Food  int32
	Bred  uint32
}

// The economy of a beetle, in ticks of life.
const (
	leafFood  = 6
	breedFood = 150
	maxFood   = 200
	stride    = 6.0 // what it walks in a tick, in pixels
)

// crawl lets beetles walk, eat, breed and starve.
func (w *World) crawl(s span) error {
	beetles, handles := w.beetles.Values(), w.beetles.Handles()
	for i := s.lo; i < s.hi; i++ {
		b := &beetles[i]
		d := roll(b.ID, w.tick)
		if b.Food--; b.Food < 0 {
			w.beetles.Kill(handles[i])
			s.piece.counts.Starved++
			continue
		}
		if perch, ok := s.guard.Pointer(b.Perch); ok {
			w.climb(b, perch, &d, s.piece)
		} else {
			w.walk(b, &d, s.piece)
		}
		if b.Food > breedFood {
			b.Food /= 2
			child := *b
			child.ID, child.Bred = childID(b.ID, b.Bred), 0
			b.Bred++
			s.piece.beetles = append(s.piece.beetles, child)
			s.piece.counts.Bred++
		}
	}
	return nil
}

// walk does a beetle's tick on the ground.
func (w *World) walk(b *Beetle, d *dice, out *piece) {
	if !b.Perch.IsZero() {
		out.counts.RefusedHandles++
		b.Perch = 0
	}
	b.Y = 0
	b.X += d.spread(2 * stride)
	b.X = min(max(b.X, 0), width)
	if i := w.near(b.X - stride); i < len(w.ground) && w.ground[i].x <= b.X+stride {
		b.sit(w, w.ground[i].part)
	}
}

// climb does a beetle's tick on a plant. It eats a leaf; from another part it climbs to a
// part that grows from it, or sometimes back.
func (w *World) climb(b *Beetle, perch *Part, d *dice, out *piece) {
	parent, grown := w.plants.Parent(b.Perch)
	if perch.Kind == Leaf {
		// If two beetles eat the same leaf in a tick, both get food, and it is removed
		// once.
		w.wither(out, b.Perch)
		out.counts.Eaten++
		b.Food = min(b.Food+leafFood, maxFood)
		if grown {
			b.sit(w, parent)
		}
		return
	}
	if grown && d.below(4) == 0 {
		b.sit(w, parent)
		return
	}
	// Reservoir sampling: the k-th child replaces the choice with probability 1/k.
	next, n := pool.Handle[Part](0), 0
	for h := range w.plants.Children(b.Perch) {
		if n++; d.below(n) == 0 {
			next = h
		}
	}
	switch {
	case n > 0:
		b.sit(w, next)
	case grown:
		b.sit(w, parent)
	}
}

// sit puts the beetle on a part.
func (b *Beetle) sit(w *World, h pool.Handle[Part]) {
	if i := w.shapes.Lookup(h); i.IsSet() {
		b.Perch, b.X, b.Y = h, *w.columns.toX.At(i), *w.columns.toY.At(i)
	}
}
