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
	m.hidden, m.came, m.lost = false, map[handle]int{}, map[handle]bool{}
	defer func() { m.came, m.lost = nil, nil }()
	parent := maps.Clone(m.parent)
	stays := func(h handle) bool {
		for ; h != top; h = parent[h] {
			if m.left[h] || !m.live[h] || m.lost[h] {
				return false
			}
		}
		return m.live[top]
	}
	w := allWalks[mc.choose(len(allWalks))]
	before, rest := w.order(m.seen, top), w.order(func(h handle) []handle { return m.kids[h] }, top)
	often := 1 + mc.choose(4)
	var got []handle
	reads, reused := mc.reads(), mc.done["reused"]
	phase := mc.reader != nil && mc.phase && reads != mc.f
	for h, n := range w.loop(reads, top) {
		if n.Self != h || !m.live[h] || m.left[h] {
			mc.fatalf("%v is yielded, which is not live, or another's, or has left its place", h)
		}
		i := slices.Index(rest, h) // with the dead, and what they hide
		if i < 0 {
			mc.fatalf("%s of %v yields %v out of order or twice, after %v", w.name, top, h, got)
		}
		got, rest = append(got, h), rest[i+1:]
		for up := h; up != top; up = parent[up] {
			m.came[up] = len(got)
		}
		for range mc.choose(often) {
			if mc.choose(2) == 0 {
				mc.change(h)
			} else {
				mc.leaves(h)
			}
			m.lose()
		}
	}
	mc.done["loop"]++
	if m.hidden {
		mc.done["loop, hidden"]++
	}
	if len(m.left) > 1 {
		mc.done["loop, many leave"]++
	}
	if phase && mc.done["reused"] > reused {
		mc.done["loop, reused in a phase"]++
	}
	for _, h := range before {
		if stays(h) && !slices.Contains(got, h) {
			mc.fatalf("%s of %v misses %v, which stays: %v, want of %v", w.name, top, h, got, before)
		}
	}
}

// leaves lets the node leave at which a loop stands, or one or two behind it.
func (mc *machine) leaves(h handle) {
	all := []handle{h}
	if i := mc.m.at(h); i >= 0 {
		all = mc.m.kids[mc.m.parent[h]][i:]
		all = slices.Clone(all[:min(len(all), 1+mc.choose(3))])
	}
	if mc.choose(2) == 0 {
		slices.Reverse(all)
	}
	for _, h := range all {
		switch mc.choose(6) {
		case 0, 1:
			mc.behind(h)
			mc.m.lose()
		case 2, 3:
			mc.remove(h)
		case 4:
			mc.detach(h)
		}
	}
	if mc.choose(2) == 0 {
		mc.change(0)
	}
}

// lose notes which nodes a loop need not find: those between two dead ones, and those behind a dead one to which it
// had not come, or to which it would come again, from a node that was moved there since.
func (m *model) lose() {
	for _, kids := range m.kids {
		dead := func(h handle) bool { return !m.live[h] }
		for i, h := range kids {
			before, behind := kids[:i], kids[i+1:]
			unseen := false
			for j, h := range before {
				again := slices.ContainsFunc(before[:j], func(moved handle) bool { return m.came[moved] > m.came[h] })
				unseen = unseen || dead(h) && (m.came[h] == 0 || again)
			}
			if unseen || slices.ContainsFunc(before, dead) && slices.ContainsFunc(behind, dead) {
				m.lost[h] = true
			}
		}
	}
}
