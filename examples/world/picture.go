package main

import (
	"image"
	"image/color"
	"math"
)

// Draw paints the meadow.
func (w *World) Draw() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		up := float64(height-y) / height
		sky := color.RGBA{uint8(250 - 90*up), uint8(244 - 50*up), uint8(228 + 20*up), 255}
		for x := range width {
			img.SetRGBA(x, y, sky)
		}
	}
	c := canvas{img}
	guard := w.parts.Pin()
	defer guard.Unpin()
	// Stems first, then the leaves in front of them.
	for kind := range kinds {
		for h, s := range w.shapes.All() {
			p, ok := guard.Get(h)
			if !ok || p.Kind != kind {
				continue
			}
			switch kind {
			case Stem:
				fresh := max(0, 1-float64(s.Age)/60)
				c.line(s.FromX, s.FromY, s.ToX, s.ToY, 0.6+float64(p.Vigour)/16, color.RGBA{uint8(96 - 20*fresh), uint8(70 + 60*fresh), 48, 255})
			case Leaf:
				faded := float64(s.Age) / (leafAge + 40)
				c.line(s.FromX, s.FromY, s.ToX, s.ToY, 2.2, color.RGBA{uint8(60 + 90*faded + float64(p.Hue)/6), uint8(170 - 50*faded), 60, 230})
			}
		}
	}
	for _, b := range w.beetles.Values() {
		c.line(b.X-2, b.Y+2, b.X+2, b.Y+2, 2.2, color.RGBA{150, 24, 40, 255})
		c.line(b.X+3, b.Y+2.5, b.X+3, b.Y+2.5, 1.2, color.RGBA{30, 20, 20, 255})
	}
	c.line(0, 0, width, 0, 2, color.RGBA{88, 72, 50, 255})
	return img
}

// canvas is an image whose y axis starts at the ground.
type canvas struct{ img *image.RGBA }

// line draws a line with round ends and smooth edges.
func (c canvas) line(x0, y0, x1, y1, radius float64, ink color.RGBA) {
	y0, y1 = height-1-y0, height-1-y1
	dx, dy := x1-x0, y1-y0
	long := dx*dx + dy*dy
	for y := int(min(y0, y1) - radius - 1); y <= int(max(y0, y1)+radius+1); y++ {
		for x := int(min(x0, x1) - radius - 1); x <= int(max(x0, x1)+radius+1); x++ {
			px, py := float64(x)-x0, float64(y)-y0
			along := 0.0
			if long > 0 {
				along = min(max((px*dx+py*dy)/long, 0), 1)
			}
			distance := math.Hypot(px-along*dx, py-along*dy)
			c.blend(x, y, ink, min(max(radius+0.5-distance, 0), 1))
		}
	}
}

// blend covers a fraction of a pixel with ink.
func (c canvas) blend(x, y int, ink color.RGBA, share float64) {
	if share == 0 || !(image.Point{X: x, Y: y}).In(c.img.Rect) {
		return
	}
	share *= float64(ink.A) / 255
	was := c.img.RGBAAt(x, y)
	over := func(was, ink uint8) uint8 { return uint8(float64(was)*(1-share) + float64(ink)*share) }
	c.img.SetRGBA(x, y, color.RGBA{over(was.R, ink.R), over(was.G, ink.G), over(was.B, ink.B), 255})
}
