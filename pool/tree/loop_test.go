package tree_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// judge records a walk whose body changes the forest, and what it may yield.
type judge struct {
	*machine
	top    handle
	kids   map[handle][]handle // when the walk began, including the dead and what they hide
	parent map[handle]handle

	left   map[handle]bool // it left its place
	hidden bool            // a node was removed behind the forest's back
	got    []handle
}

// stays reports whether h and its ancestors up to the top have kept their places.
func (j *judge) stays(h handle) bool {
	for ; h != j.top; h = j.parent[h] {
		if j.left[h] || !j.m.live[h] {
			return false
		}
	}
	return true
}

func (j *judge) leave(h handle) { j.left[h] = true }

// change does something to the forest while the walk is at h.
func (j *judge) change(h handle) {
	m, f := &j.m, j.f
	a, b := j.any(), j.any()
	if j.choose(3) == 0 {
		a = h
	}
	switch j.choose(11) {
	case 0, 1:
		if f.Detach(a) == nil && m.parent[a] != 0 {
			m.cut(a)
			j.leave(a)
		}
	case 2, 3, 4:
		if m.parent[a] == b && m.at(a) == len(m.kids[b])-1 {
			break // it is there
		}
		if f.Move(a, b) == nil {
			require.NoError(j.t, m.move(a, b))
			j.leave(a)
		}
	case 5:
		if m.live[a] && a != j.top {
			m.cut(a)
			require.Equal(j.t, m.remove(a), f.Remove(a))
			j.leave(a)
		}
	case 6, 7:
		if j.p.Remove(a) {
			delete(m.live, a)
			j.leave(a)
			j.hidden = true
		}
		if j.choose(2) == 0 {
			for _, h := range m.repair() {
				j.leave(h)
			}
			f.Repair()
		}
	case 8:
		if parent := m.parent[a]; m.live[parent] && f.Detach(a) == nil {
			m.cut(a)
			j.leave(a)
			if f.Prepend(parent, a) == nil {
				require.NoError(j.t, m.insert(parent, a, 0))
			}
		}
	case 9:
		if m.live[a] && m.live[b] && f.InsertAfter(a, b) == nil {
			require.NoError(j.t, m.beside(a, b, 1))
			j.leave(b)
		}
	case 10:
		if m.live[a] && m.live[b] && f.InsertBefore(a, b) == nil {
			require.NoError(j.t, m.beside(a, b, 0))
			j.leave(b)
		}
	}
}

// loop walks over everything below a node with a body that changes the forest, and checks
// the walk against the promise of the package documentation.
func (mc *machine) loop(top handle) {
	if !mc.m.live[top] {
		return
	}
	j := &judge{machine: mc, top: top, kids: map[handle][]handle{}, parent: maps.Clone(mc.m.parent),
		left: map[handle]bool{}}
	for h, kids := range mc.m.kids {
		j.kids[h] = slices.Clone(kids)
	}
	w := allWalks[mc.choose(len(allWalks))]
	before, order := w.order(mc.m.seen, top), w.order(func(h handle) []handle { return j.kids[h] }, top)
	often := 1 + mc.choose(4)
	for h, n := range w.loop(mc.f, top) {
		if n.Self != h || !mc.m.live[h] || j.left[h] {
			mc.fatalf("%v is yielded, which is not live, or another's, or has left its place", h)
		}
		j.got = append(j.got, h)
		for range mc.choose(often) {
			j.change(h)
		}
	}
	mc.done["loop"]++
	mc.done[w.name]++
	rest := order
	for _, h := range j.got {
		i := slices.Index(rest, h)
		if i < 0 {
			mc.fatalf("%s of %v yields %v out of order or twice: %v, the initial order is %v", w.name, top, h, j.got, order)
		}
		rest = rest[i+1:]
	}
	if len(j.left) > 0 {
		mc.done["loop, disturbed"]++
	}
	if j.hidden {
		mc.done["loop, hidden"]++
	}
	if j.hidden || len(j.left) > 1 {
		return // nodes that keep their places may be hidden, or lost with a node and its follower
	}
	for _, h := range before {
		if j.stays(h) && !slices.Contains(j.got, h) {
			mc.fatalf("%s of %v misses %v, which stays: %v, the initial order is %v, left %v", w.name, top, h, j.got, order, j.left)
		}
	}
}

// TestWalksGoForwards walks over many small trees, some of whose nodes are dead, with
// bodies that change them in every way.
func TestWalksGoForwards(t *testing.T) {
	rnd := testkit.Rand(t)
	done := map[string]int{}
	seldom := func(what string) bool { return done[what] < 3 }
	all := []string{"loop, disturbed", "loop, hidden"}
	for n := 0; n < long(20_000) || n < 20_000 && slices.ContainsFunc(all, seldom); n++ {
		mc := newMachine(t, rnd.IntN)
		mc.plant(2 + rnd.IntN(20))
		mc.loop(mc.known[3])
		for k, v := range mc.done {
			done[k] += v
		}
	}
	t.Log(done)
	require.Empty(t, slices.DeleteFunc(all, func(what string) bool { return !seldom(what) }))
}

// plant makes a tree of n nodes, and removes some behind the forest's back.
func (mc *machine) plant(n int) {
	wide := 1 + mc.choose(n)
	for i := range n {
		h := add(mc.t, mc.p, uint64(i))
		mc.m.live[h] = true
		mc.known = append(mc.known, h)
		if i > 0 {
			parent := mc.known[3+max(0, i-1-mc.choose(wide))]
			require.NoError(mc.t, mc.f.Append(parent, h))
			require.NoError(mc.t, mc.m.insert(parent, h, len(mc.m.kids[parent])))
		}
	}
	for range mc.choose(3) {
		if h := mc.any(); h != mc.known[3] && mc.p.Remove(h) {
			delete(mc.m.live, h)
		}
	}
}
