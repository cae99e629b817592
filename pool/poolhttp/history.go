package poolhttp

import (
	"slices"
	"time"

	"coatcheck/pool"
	"coatcheck/pool/internal/states"
)

// layers are the layers of the chart, from the bottom to the top.
var layers = states.All

const (
	window = 5 * time.Minute // the time that a chart shows
	apart  = time.Second     // the least time between kept samples: at most 301 of 96 bytes a pool

	// interval is how often the page repeats its request, and how long the last sample is
	// shown.
	interval = 2 * time.Second

	// lasts is the longest time for which a sample is shown. It is more than a minute,
	// the usual interval at which metrics are collected.
	lasts = 70 * time.Second
)

// sample is the height of each layer's upper edge at a moment, and what was refused until then.
type sample struct {
	taken   time.Time
	top     [len(layers)]int
	refused [3]int // stalled, full, exhausted
}

func sampled(now time.Time, st pool.Stats) sample {
	s := sample{taken: now, refused: [...]int{st.RefusedStalled, st.RefusedFull, st.RefusedExhausted}}
	sum := 0
	for i, l := range layers {
		sum += l.Of(st)
		s.top[i] = sum
	}
	return s
}

// used returns how many slots are not free.
func (s sample) used() int { return s.top[len(layers)-2] }

// total returns how many slots there are.
func (s sample) total() int { return s.top[len(layers)-1] }

// history is the samples of the last minutes, in order of time.
type history []sample

// add appends a sample, unless the last one is less than apart old, and deletes those
// that are too old. It returns a copy that always has the sample.
func (h *history) add(s sample) history {
	old := 0
	for old < len(*h)-1 && s.taken.Sub((*h)[old].taken) > window {
		old++
	}
	*h = slices.Delete(*h, 0, old)
	if n := len(*h); n == 0 || s.taken.Sub((*h)[n-1].taken) >= apart {
		*h = append(*h, s)
		return slices.Clone(*h)
	}
	return append(slices.Clone(*h), s)
}
