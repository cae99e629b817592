package main

import (
	"image"
	"image/color"
	"image/draw"
	"math"
)

// Draw paints the meadow.
func (w *World) Draw() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		up := float64(height-y) / height
		sky := color.RGBA{uint8(250 - 90*up), uint8(244 - 50*up), uint8(228 + 20*up), 255}
		draw.Draw(img, image.Rect(0, y, width, y+1), image.NewUniform(sky), image.Point{}, draw.Src)
	}
	line := func(x0, y0, x1, y1, radius float64, ink color.NRGBA) {
		l := stroke{x0, height - 1 - y0, x1, height - 1 - y1, radius} // the ground is at the bottom
		draw.DrawMask(img, l.Bounds(), image.NewUniform(ink), image.Point{}, l, l.Bounds().Min, draw.Over)
	}
	guard := w.parts.Pin()
	defer guard.Unpin()
	// Stems first, then the leaves in front of them.
	for kind := range kinds {
		for h, s := range w.shapes.All() {
			p, _ := guard.Pointer(h)
			switch {
			case p.Kind != kind:
			case kind == Stem:
				fresh := max(0, 1-float64(s.Age)/60)
				line(s.FromX, s.FromY, s.ToX, s.ToY, 0.6+float64(p.Vigour)/16, color.NRGBA{uint8(96 - 20*fresh), uint8(70 + 60*fresh), 48, 255})
			case kind == Leaf:
				faded := float64(s.Age) / (leafAge + 40)
				line(s.FromX, s.FromY, s.ToX, s.ToY, 2.2, color.NRGBA{uint8(60 + 90*faded + float64(p.Hue)/6), uint8(170 - 50*faded), 60, 230})
			}
		}
	}
	for _, b := range w.beetles.Values() {
		line(b.X-2, b.Y+2, b.X+2, b.Y+2, 2.2, color.NRGBA{150, 24, 40, 255})
		line(b.X+3, b.Y+2.5, b.X+3, b.Y+2.5, 1.2, color.NRGBA{30, 20, 20, 255})
	}
	line(0, 0, width, 0, 2, color.NRGBA{88, 72, 50, 255})
	return img
}

// stroke is a mask: a line with round ends and smooth edges.
type stroke struct{ x0, y0, x1, y1, radius float64 }

func (stroke) ColorModel() color.Model { return color.AlphaModel }

func (l stroke) Bounds() image.Rectangle {
	return image.Rect(int(l.x0), int(l.y0), int(l.x1), int(l.y1)).Inset(-int(l.radius + 3))
}

func (l stroke) At(x, y int) color.Color {
	dx, dy, px, py := l.x1-l.x0, l.y1-l.y0, float64(x)-l.x0, float64(y)-l.y0
	along := 0.0
	if long := dx*dx + dy*dy; long > 0 {
		along = min(max((px*dx+py*dy)/long, 0), 1)
	}
	distance := math.Hypot(px-along*dx, py-along*dy)
	return color.Alpha{uint8(255 * min(max(l.radius+0.5-distance, 0), 1))}
}
