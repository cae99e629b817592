package main

import (
	"math"

	"coatcheck/pool"
	"coatcheck/pool/table"
)

// shade counts leaves by square.
func (w *World) shade(s span) error {
	keys := w.shapes.Keys()
	for i := table.Index(s.lo); int(i) < s.hi; i++ {
		if p, ok := s.guard.Get(keys[i]); ok && p.Kind == Leaf {
			w.light.at(*w.columns.toX.At(i), *w.columns.toY.At(i)).Add(1)
		}
	}
	return nil
}

// live ages each part by a tick and sets the sap that its parent may take.
func (w *World) live(s span) error {
	keys := w.shapes.Keys()
	for i := table.Index(s.lo); int(i) < s.hi; i++ {
		p, ok := s.guard.Get(keys[i])
		if !ok {
			continue
		}
		p.Age++
		switch p.Kind {
		case Leaf:
			above := w.light.at(*w.columns.toX.At(i), *w.columns.toY.At(i)).Load()
			p.Spare = max(0, fullLight-above)
			*w.columns.light.At(i) = p.Spare
		case Stem:
			p.Spare = max(0, p.Sap-reserve) / 4
			p.Sap -= p.Spare
		case Flower:
			p.Spare = 0
		}
	}
	return nil
}

// drink moves sap from parts to their parents. Each part has one parent, so one worker
// reads its spare.
func (w *World) drink(s span) error {
	keys := w.shapes.Keys()
	for i := table.Index(s.lo); int(i) < s.hi; i++ {
		p, ok := s.guard.Get(keys[i])
		if !ok || p.Kind != Stem {
			continue
		}
		for _, child := range w.plants.Children(keys[i]) {
			p.Sap += child.Spare
		}
		if _, ok := w.plants.Parent(keys[i]); !ok {
			p.Sap += p.Spare // the foot of a plant has no parent
		}
		p.Sap = min(p.Sap-1-p.Age/80, 400)
	}
	return nil
}

// grow makes parts grow others, ripen and wither.
func (w *World) grow(s span) error {
	keys := w.shapes.Keys()
	for i := table.Index(s.lo); int(i) < s.hi; i++ {
		h := keys[i]
		p, ok := s.guard.Get(h)
		if !ok {
			continue
		}
		d := roll(p.ID, w.tick)
		switch {
		case p.Kind == Leaf && int(p.Age) > leafAge+d.below(40),
			p.Kind == Stem && (p.Sap < -20 || int(p.Age) > stemAge+d.below(150)):
			s.piece.commands.Remove(h)
		case p.Kind == Flower && p.Age > flowerAge:
			for range 1 + d.below(3) {
				s.piece.grains = append(s.piece.grains, Grain{
					ID: childID(p.ID, p.Grown), Hue: uint8(int(*w.columns.hue.At(i)) + d.below(9) - 4),
					X: *w.columns.toX.At(i), Y: *w.columns.toY.At(i), VX: d.spread(3), VY: 1 + d.spread(1),
				})
				p.Grown++
			}
			s.piece.commands.Remove(h)
		case p.Kind == Stem:
			if err := w.growFrom(s.piece, i, h, p, &d); err != nil {
				return err
			}
		}
	}
	return nil
}

// growFrom makes a stem grow the parts that it can afford.
func (w *World) growFrom(out *piece, i table.Index, h pool.Handle[Part], p *Part, d *dice) error {
	stems, leaves, flowers := 0, 0, 0
	for _, child := range w.plants.Children(h) {
		switch child.Kind {
		case Stem:
			stems++
		case Leaf:
			leaves++
		case Flower:
			flowers++
		}
	}
	angle := *w.columns.angle.At(i)
	tip := *w.columns.toY.At(i)
	// A stem thickens with the number of parts that grew from it.
	*w.columns.width.At(i) = 1 + math.Sqrt(float64(p.Grown))*0.5 + float64(min(p.Age, 300))/150

	side := 0.5
	if d.below(2) == 0 {
		side = -side
	}
	// A branch bends back towards upright.
	onward := (angle + d.spread(0.35)) * 0.92
	switch {
	case leaves < 3 && p.Sap >= leafCost && p.Age < stemAge/2:
		p.Sap -= leafCost
		return w.put(out, i, h, p, Leaf, 0, angle+2*side+d.spread(0.4))
	case stems == 0 && p.Sap >= 2*stemCost && tip < height-4*segment:
		p.Sap -= stemCost
		return w.put(out, i, h, p, Stem, bud, onward)
	case stems == 1 && p.Sap >= 4*stemCost && d.below(6) == 0 && tip < height-4*segment:
		p.Sap -= stemCost
		return w.put(out, i, h, p, Stem, bud, angle+1.4*side+d.spread(0.2))
	case stems == 0 && flowers == 0 && p.Sap >= flowerCost && p.Age > 20 && d.below(8) == 0:
		p.Sap -= flowerCost
		return w.put(out, i, h, p, Flower, 0, angle)
	}
	return nil
}

// put records a new part at the tip of part h, which is at i in the table.
func (w *World) put(out *piece, i table.Index, h pool.Handle[Part], parent *Part, kind Kind, sap int32, angle float64) error {
	long := segment
	if kind != Stem {
		long = segment * 0.6
	}
	child, err := out.commands.Insert(Part{ID: childID(parent.ID, parent.Grown), Kind: kind, Sap: sap})
	if err != nil {
		return err
	}
	parent.Grown++
	x, y := *w.columns.toX.At(i), *w.columns.toY.At(i)
	out.spawns = append(out.spawns, spawn{h, child, Shape{
		FromX: x, FromY: y,
		ToX: x + math.Sin(angle)*long, ToY: max(1, y+math.Cos(angle)*long),
		Angle: angle, Width: 1, Hue: *w.columns.hue.At(i),
	}})
	return nil
}

// sprout records the foot of a new plant.
func (w *World) sprout(out *piece, id uint64, x float64, hue uint8) error {
	h, err := out.commands.Insert(Part{ID: id, Kind: Stem, Sap: grainSap})
	if err != nil {
		return err
	}
	out.spawns = append(out.spawns, spawn{part: h, shape: Shape{FromX: x, ToX: x, ToY: segment, Width: 1, Hue: hue}})
	return nil
}
