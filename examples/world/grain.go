package main

import "math"

// Grain is a fruit in the air, and sprouts where it lands. Grains are visited all together and
// referred to by nothing. So they lie side by side in a dense store, and are marked to be
// removed.
type Grain struct {
	ID     uint64
	X, Y   float64
	VX, VY float64
	Hue    uint8
}

const crowded = 14.0 // no grain sprouts nearer to another plant, in pixels

// drift moves grains. One that reaches the ground dies or sprouts.
func (w *World) drift(s span) error {
	grains, handles := w.grains.Values(), w.grains.Handles()
	for i := s.lo; i < s.hi; i++ {
		grain := &grains[i]
		d := roll(grain.ID, w.tick)
		wind := 1.5 * math.Sin(float64(w.tick)/40+grain.Y/100)
		grain.VX += (wind-grain.VX)*0.1 + d.spread(0.2)
		grain.VY = max(grain.VY-0.1, -3)
		grain.X += grain.VX
		grain.Y += grain.VY
		if grain.Y > 0 {
			continue
		}
		w.grains.Kill(handles[i])
		if grain.X < 0 || grain.X >= width || w.crowd(grain.X) {
			continue
		}
		if err := w.sprout(s.piece, grain.ID, grain.X, grain.Hue); err != nil {
			return err
		}
	}
	return nil
}

// crowd reports whether a plant stands near x.
func (w *World) crowd(x float64) bool {
	i := w.near(x - crowded)
	return i < len(w.ground) && w.ground[i].x <= x+crowded
}
