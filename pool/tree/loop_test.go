//go:build !race

package tree_test

import (
	"maps"
	"slices"
)

// loop walks over nodes below top with a body that changes the forest, and checks the walk
// against the promise of the package documentation.
func (mc *machine) loop(top handle) {
	m := &mc.m
	if !m.live[top] {
		return
	}
	clear(m.left)
	m.hidden = false
	parent := maps.Clone(m.parent)
	stays := func(h handle) bool {
		for ; h != top; h = parent[h] {
			if m.left[h] || !m.live[h] {
				return false
			}
		}
		return true
	}
	w := allWalks[mc.choose(len(allWalks))]
	before, rest := w.order(m.seen, top), w.order(func(h handle) []handle { return m.kids[h] }, top)
	often := 1 + mc.choose(4)
	var got []handle
	for h, n := range w.loop(mc.reads(), top) {
		if n.Self != h || !m.live[h] || m.left[h] {
			mc.fatalf("%v is yielded, which is not live, or another's, or has left its place", h)
		}
		i := slices.Index(rest, h) // with the dead, and what they hide
		if i < 0 {
			mc.fatalf("%s of %v yields %v out of order or twice, after %v", w.name, top, h, got)
		}
		got, rest = append(got, h), rest[i+1:]
		for range mc.choose(often) {
			mc.change(h)
		}
	}
	mc.done["loop"]++
	switch {
	case m.hidden:
		mc.done["loop, hidden"]++
	default:
		if len(m.left) > 1 {
			mc.done["loop, many leave"]++
		}
		for _, h := range before {
			if stays(h) && !slices.Contains(got, h) {
				mc.fatalf("%s of %v misses %v, which stays: %v, want of %v", w.name, top, h, got, before)
			}
		}
	}
}
