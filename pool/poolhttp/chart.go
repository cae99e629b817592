package poolhttp

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The chart's size in its own units, which the page scales.
const (
	chartWidth  = 600
	chartHeight = 120
)

// chart is the drawing of a history.
type chart struct {
	Width, Height int
	Most          int    // the number of slots at the upper edge
	Cut           bool   // there are more slots, all free
	Areas         []area // in drawing order, each over those before
}

// area is a layer with all those below it.
type area struct {
	Layer string
	Path  string // of an SVG path
}

// draw makes the chart of a history whose last sample was just taken.
func draw(h history) chart {
	used, total := 0, 0
	for _, s := range h {
		used, total = max(used, s.used()), max(total, s.total())
	}
	c := chart{Width: chartWidth, Height: chartHeight}
	// A page of memory has thousands of slots, and a few live ones could not be seen
	// among them. So the chart shows at most as many free slots as used ones.
	height := total
	if used > 0 {
		height = min(total, 2*used)
	}
	c.Most = ceil(height)
	c.Cut = total > c.Most
	end := h[len(h)-1].taken.Add(interval)
	x := func(t time.Time) float64 {
		return max(0, chartWidth*(1-float64(end.Sub(t))/float64(window)))
	}
	y := func(slots int) float64 {
		return chartHeight * (1 - min(1, float64(slots)/float64(c.Most)))
	}
	for l := len(layers) - 1; l >= 0; l-- {
		if l > 0 && !slices.ContainsFunc(h, func(s sample) bool { return s.top[l] > s.top[l-1] }) {
			continue // it has no slots
		}
		var path strings.Builder
		for i, s := range h {
			edge := s.taken.Add(interval)
			if i+1 < len(h) {
				if next := h[i+1].taken; next.Sub(s.taken) <= lasts {
					edge = next
				}
			}
			if s.top[l] > 0 {
				fmt.Fprintf(&path, "M%.1f %dV%.1fH%.1fV%[2]dz", x(s.taken), chartHeight, y(s.top[l]), x(edge))
			}
		}
		if path.Len() > 0 {
			c.Areas = append(c.Areas, area{layers[l].Name, path.String()})
		}
	}
	return c
}

// ceil returns the least number of two digits, and zeros behind them, that is not below n.
func ceil(n int) int {
	unit := 1
	for n > 100*unit {
		unit *= 10
	}
	return max(1, (n+unit-1)/unit*unit)
}
