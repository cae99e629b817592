package main

import (
	"math"

	"coatcheck/pool"
	"coatcheck/pool/table"
)

// age makes all parts a tick older. It reads no other column.
func (w *World) age(s span) error {
	for i := table.Index(s.lo); int(i) < s.hi; i++ {
		*w.columns.age.At(i)++
	}
	return nil
}

// grow makes parts grow others, bear seeds and wither.
func (w *World) grow(s span) error {
	keys := w.shapes.Keys()
	for i := table.Index(s.lo); int(i) < s.hi; i++ {
		h := keys[i]
		p, ok := s.guard.Pointer(h)
		if !ok {
			continue
		}
		d, age := roll(p.ID, w.tick), int(*w.columns.age.At(i))
		var err error
		switch {
		case p.Kind == Leaf && age > leafAge+d.below(40), p.Kind == Stem && age > stemAge+d.below(200):
			w.wither(s.piece, h)
		case p.Kind == Stem:
			err = w.growFrom(s.piece, i, h, p, &d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wither records the removal of part h, with all that grew from it. A part may wither twice.
func (w *World) wither(out *piece, h pool.Handle[Part]) {
	out.commands.Do(func() { w.counts.Withered += w.plants.Remove(h) })
}

// growFrom makes a stem grow a leaf, the next stem or a branch, or bear a seed.
func (w *World) growFrom(out *piece, i table.Index, h pool.Handle[Part], p *Part, d *dice) error {
	var of [kinds]int
	for _, child := range w.plants.Children(h) {
		of[child.Kind]++
	}
	angle, age := *w.columns.angle.At(i), *w.columns.age.At(i)
	side := 0.5
	if d.below(2) == 0 {
		side = -side
	}
	switch {
	case of[Leaf] < 2 && age < stemAge/2 && d.below(10) == 0:
		return w.put(out, i, h, p, Leaf, 0, angle+2*side+d.spread(0.4))
	case of[Stem] == 0 && p.Vigour > 0 && d.below(3) == 0:
		// It bends back towards upright.
		return w.put(out, i, h, p, Stem, p.Vigour-1, (angle+d.spread(0.35))*0.92)
	case of[Stem] == 1 && p.Vigour > 1 && d.below(100) == 0:
		return w.put(out, i, h, p, Stem, p.Vigour/2, angle+1.4*side+d.spread(0.2))
	case of[Stem] == 0 && age > seedAge && d.below(40) == 0:
		x := *w.columns.toX.At(i) + d.spread(farthest)
		if near := w.near(x - crowded); x < 0 || x >= width || near < len(w.ground) && w.ground[near].x <= x+crowded {
			return nil
		}
		id := childID(p.ID, p.Grown)
		p.Grown++
		return w.sprout(out, id, x, uint8(int(p.Hue)+d.below(9)-4))
	}
	return nil
}

// put records a new part at the tip of part h, which is at i in the table.
func (w *World) put(out *piece, i table.Index, h pool.Handle[Part], parent *Part, kind Kind, vigour int32, angle float64) error {
	long := segment
	if kind != Stem {
		long = segment * 0.6
	}
	child, err := out.commands.Insert(Part{ID: childID(parent.ID, parent.Grown), Kind: kind, Hue: parent.Hue, Vigour: vigour})
	if err != nil {
		return err
	}
	parent.Grown++
	x, y := *w.columns.toX.At(i), *w.columns.toY.At(i)
	out.spawns = append(out.spawns, spawn{h, child, Shape{
		FromX: x, FromY: y, ToX: x + math.Sin(angle)*long, ToY: max(1, y+math.Cos(angle)*long), Angle: angle,
	}})
	return nil
}

// sprout records the foot of a new plant.
func (w *World) sprout(out *piece, id uint64, x float64, hue uint8) error {
	h, err := out.commands.Insert(Part{ID: id, Hue: hue, Vigour: int32(12 + id%28)})
	if err != nil {
		return err
	}
	out.spawns = append(out.spawns, spawn{part: h, shape: Shape{FromX: x, ToX: x, ToY: segment}})
	return nil
}
