package main

import (
	"math"
)

// Seed is a seed in the air. Seeds are visited all together and referred to by nothing.
// So they lie side by side in a dense store, and are marked to be removed.
type Seed struct {
	ID     uint64
	X, Y   float64
	VX, VY float64
	Hue    uint8
}

const crowded = 14.0 // no seed sprouts nearer to another plant, in pixels

// drift moves seeds. One that reaches the ground dies or sprouts.
func (w *World) drift(s span) error {
	seeds, handles := w.seeds.Values(), w.seeds.Handles()
	for i := s.lo; i < s.hi; i++ {
		seed := &seeds[i]
		d := roll(seed.ID, w.tick)
		wind := 1.5 * math.Sin(float64(w.tick)/40+seed.Y/100)
		seed.VX += (wind-seed.VX)*0.1 + d.spread(0.2)
		seed.VY = max(seed.VY-0.1, -3)
		seed.X += seed.VX
		seed.Y += seed.VY
		if seed.Y > 0 {
			continue
		}
		w.seeds.Kill(handles[i])
		if seed.X < 0 || seed.X >= width || w.crowd(seed.X) {
			continue
		}
		if err := w.sprout(s.piece, seed.ID, seed.X, seed.Hue); err != nil {
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
