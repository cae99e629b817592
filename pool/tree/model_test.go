//go:build !race

package tree_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// model is a forest that is obviously right: a slice of children for every node. Until
// Repair, a node that was removed behind the forest's back stays in its parent's slice,
// and keeps its own.
type model struct {
	live   map[handle]bool
	parent map[handle]handle
	kids   map[handle][]handle

	// What has happened since a loop began.
	left   map[handle]bool // lost their places
	hidden bool            // a node was removed behind the forest's back
	came   map[handle]int  // when the loop has come to them last
	lost   map[handle]bool // see lose

	closed  map[handle]bool // parents of which closeEnd has taken a dead child
	refused bool            // the last call returned ErrBroken
}

func (m *model) at(h handle) int { return slices.Index(m.kids[m.parent[h]], h) }

// dead reports whether parent has an i-th child and that child is dead.
func (m *model) dead(parent handle, i int) bool {
	kids := m.kids[parent]
	return i >= 0 && i < len(kids) && !m.live[kids[i]]
}

// above returns the error of a search for h among the ancestors of at.
func (m *model) above(at, h handle) error {
	if len(m.kids[h]) == 0 {
		return nil
	}
	for at = m.parent[at]; at != 0; at = m.parent[at] {
		switch {
		case at == h:
			return tree.ErrCycle
		case !m.live[at]:
			return tree.ErrBroken
		}
	}
	return nil
}

// insert is the common part of Append (at the end), Prepend (at 0) and beside.
func (m *model) insert(parent, h handle, i int) error {
	switch {
	case parent == h:
		return tree.ErrCycle
	case m.parent[h] != 0 && !m.live[m.parent[h]]:
		return tree.ErrBroken
	case m.parent[h] != 0:
		return tree.ErrHasParent
	}
	if err := m.above(parent, h); err != nil {
		return err
	}
	if m.closeEnd(parent, i) {
		i = min(i, len(m.kids[parent]))
	} else if m.dead(parent, i-1) || m.dead(parent, i) {
		return tree.ErrBroken
	}
	m.kids[parent] = slices.Insert(m.kids[parent], i, h)
	m.parent[h] = parent
	return nil
}

// closeEnd takes a dead child from the end of parent's list at which i is, if all others live, and
// reports whether it did. If only the next one lives, the forest may do so if it did before.
func (m *model) closeEnd(parent handle, i int) bool {
	kids := m.kids[parent]
	end := len(kids) - 1
	if i == 0 && m.dead(parent, 0) {
		end = 0
	} else if i != len(kids) {
		return false
	}
	if !m.dead(parent, end) {
		return false
	}
	rest := slices.Delete(slices.Clone(kids), end, end+1)
	if slices.ContainsFunc(rest, func(k handle) bool { return !m.live[k] }) {
		next := rest[max(0, end-1)]
		if !m.closed[parent] || !m.live[next] || m.refused {
			return false
		}
	}
	delete(m.parent, kids[end])
	m.kids[parent], m.closed[parent] = rest, true
	return true
}

// beside is InsertAfter and InsertBefore: at is 1 or 0.
func (m *model) beside(sibling, h handle, at int) error {
	parent := m.parent[sibling]
	switch {
	case parent == 0 && sibling == h:
		return tree.ErrCycle
	case parent == 0:
		return tree.ErrNoParent
	case !m.live[parent]:
		return tree.ErrBroken
	}
	return m.insert(parent, h, m.at(sibling)+at)
}

// loose returns ErrBroken if h has a parent and cannot be removed from its list.
func (m *model) loose(h handle) error {
	if p := m.parent[h]; p != 0 && (!m.live[p] || m.dead(p, m.at(h)-1) || m.dead(p, m.at(h)+1)) {
		return tree.ErrBroken
	}
	return nil
}

func (m *model) cut(h handle) {
	if p := m.parent[h]; p != 0 {
		i := m.at(h)
		m.kids[p] = slices.Delete(slices.Clone(m.kids[p]), i, i+1)
		m.left[h] = true
	}
	delete(m.parent, h)
}

func (m *model) move(h, parent handle) error {
	if h == parent {
		return tree.ErrCycle
	}
	if err := m.above(parent, h); err != nil {
		return err
	}
	n := len(m.kids[parent])
	if m.parent[h] == parent && m.at(h) == n-2 && m.closeEnd(parent, n) {
		return nil // it is the last that lives, and keeps its place
	}
	if err := m.loose(h); err != nil || m.parent[h] == parent && m.at(h) == n-1 {
		return err
	}
	if !m.closeEnd(parent, n) && m.dead(parent, n-1) {
		return tree.ErrBroken
	}
	m.cut(h)
	m.kids[parent] = append(m.kids[parent], h)
	m.parent[h] = parent
	return nil
}

// runs splits the children of h at dead ones.
func (m *model) runs(h handle) (runs [][]handle) {
	runs = [][]handle{nil}
	for _, k := range m.kids[h] {
		if m.live[k] {
			runs[len(runs)-1] = append(runs[len(runs)-1], k)
		} else {
			runs = append(runs, nil)
		}
	}
	return runs
}

// links returns the links of h to live nodes: parent, first, last, next, previous.
func (m *model) links(h handle) (to [5]handle) {
	set := func(link int, list []handle, i int) {
		if i >= 0 && i < len(list) && m.live[list[i]] {
			to[link] = list[i]
		}
	}
	kids := m.kids[h]
	set(1, kids, 0)
	set(2, kids, len(kids)-1)
	if parent := m.parent[h]; parent != 0 {
		if m.live[parent] {
			to[0] = parent
		}
		set(3, m.kids[parent], m.at(h)+1)
		set(4, m.kids[parent], m.at(h)-1)
	}
	return to
}

// seen returns the children that a loop reaches.
func (m *model) seen(h handle) []handle { return m.runs(h)[0] }

// remove is Remove of a live node, whose list has been cut.
func (m *model) remove(h handle) (n int) {
	runs := m.runs(h)
	reached := runs[0]
	if len(runs) > 1 {
		reached = slices.Concat(reached, runs[len(runs)-1])
	}
	for _, k := range reached {
		n += m.remove(k)
		m.cut(k)
	}
	delete(m.live, h)
	return n + 1
}

func (m *model) repair() {
	var moved []handle
	for h := range m.live {
		if p := m.parent[h]; p != 0 && !m.live[p] {
			delete(m.parent, h)
			moved = append(moved, h)
		}
		runs := m.runs(h)
		if len(runs) > 2 {
			slot := func(run []handle) uint32 {
				return slices.MinFunc(run, func(a, b handle) int { return cmp.Compare(a.Index(), b.Index()) }).Index()
			}
			inner := slices.DeleteFunc(slices.Clone(runs[1:len(runs)-1]), func(run []handle) bool { return len(run) == 0 })
			slices.SortFunc(inner, func(a, b []handle) int { return cmp.Compare(slot(a), slot(b)) })
			moved = append(moved, slices.Concat(inner...)...)
			runs = slices.Concat(runs[:1], inner, runs[len(runs)-1:])
		}
		m.kids[h] = slices.Concat(runs...)
	}
	for _, h := range moved {
		m.left[h] = true
	}
}

// machine runs operations on a forest and a model. A fuzzer or a generator feeds its
// choices through choose.
type machine struct {
	t      testing.TB
	p      *pool.Pool[node]
	f      *tree.Forest[node]
	m      model
	choose func(n int) int
	known  []handle
	done   map[string]int

	// reader is what some steps read by, if it is not nil: it is pinned, or in a phase.
	reader *tree.Reader[node]
	phase  bool

	room int             // for so many nodes
	gone map[uint32]bool // slots from which a node was removed behind the forest's back during a loop
}

// rooms are the pools of the model: one in which slots are seldom used again, and one in which they are at once.
var rooms = []int{30, 10}

// reads draws how to read: by the Forest, or by a Reader, which may have been pinned for long; and whether the links
// are a part of the value.
func (mc *machine) reads() reads {
	if tree.Inside(mc.f); mc.choose(4) == 0 {
		tree.Outside(mc.f, linksOf)
	}
	switch mc.choose(4) {
	case 0:
		return mc.f
	case 1:
		mc.unpin()
		r := mc.f.Pin()
		mc.reader, mc.phase = &r, false
		mc.done["pin"]++
	case 2:
		mc.unpin()
		r := mc.f.Phase()
		mc.reader, mc.phase = &r, true
		mc.done["phase"]++
	}
	if mc.reader == nil {
		return mc.f
	}
	return mc.reader
}

func (mc *machine) unpin() {
	if mc.reader != nil {
		mc.reader.Unpin()
		mc.reader = nil
	}
}

func newMachine(t testing.TB, which int, choose func(int) int) *machine {
	p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1, Capacity: rooms[which] + 2*which})
	f := tree.New(p, linksOf)
	foreign := pool.Must(&pool.Options[node]{Origin: 99, Shards: 1})
	mc := &machine{t: t, p: p, f: f, choose: choose, room: rooms[which], gone: map[uint32]bool{}, done: map[string]int{}}
	mc.known = append(mc.known, 0, add(t, foreign, 1), 1<<63|1<<32|5)
	mc.m = model{live: map[handle]bool{}, parent: map[handle]handle{}, kids: map[handle][]handle{}, left: map[handle]bool{}, closed: map[handle]bool{}}
	return mc
}

func (mc *machine) fatalf(format string, args ...any) {
	mc.t.Helper()
	mc.t.Fatalf("%s\n(model: live %v, children %v)", fmt.Sprintf(format, args...), mc.m.live, mc.m.kids)
}

// any chooses a node, usually a live one.
func (mc *machine) any() handle {
	h := mc.known[mc.choose(len(mc.known))]
	for range 3 {
		if mc.m.live[h] {
			break
		}
		h = mc.known[mc.choose(len(mc.known))]
	}
	return h
}

// answered checks that an operation returns the model's error, and that an error changes
// no link.
func (mc *machine) answered(what string, do func() error, want func() error) {
	mc.t.Helper()
	before := tree.Image(mc.f)
	got := do()
	mc.m.refused = errors.Is(got, tree.ErrBroken)
	wanted := want()
	if !errors.Is(got, wanted) {
		mc.fatalf("%s: %v, want %v", what, got, wanted)
	}
	name := "nil"
	if got != nil {
		name = got.Error()
		if after := tree.Image(mc.f); !maps.Equal(before, after) {
			mc.fatalf("%s: %v, and links changed: %v became %v", what, got, before, after)
		}
	}
	mc.done[what[:3]+" "+name]++
}

func (mc *machine) step() {
	switch mc.choose(24) {
	case 0, 1, 2:
		mc.loop(mc.any())
	case 3:
		top := mc.any()
		for _, h := range mc.known { // so lists become long
			mc.link("Append", top, h, mc.f.Append, func() error { return mc.m.insert(top, h, len(mc.m.kids[top])) })
		}
		mc.loop(top)
	default:
		mc.change(0)
	}
}

// change does something to the forest, often with the node at that a loop stands at.
func (mc *machine) change(at handle) {
	m, f := &mc.m, mc.f
	a, b := mc.any(), mc.any()
	if at != 0 && mc.choose(3) == 0 {
		a = at
	}
	try := func(verb string, do func(a, b handle) error, want func() error) { mc.link(verb, a, b, do, want) }
	switch mc.choose(17) {
	case 0, 1:
		mc.insert()
	case 2, 3, 4:
		try("Append", f.Append, func() error { return m.insert(a, b, len(m.kids[a])) })
	case 5, 6:
		try("Prepend", f.Prepend, func() error { return m.insert(a, b, 0) })
	case 7:
		try("After", f.InsertAfter, func() error { return m.beside(a, b, 1) })
	case 8:
		try("Before", f.InsertBefore, func() error { return m.beside(a, b, 0) })
	case 9, 10, 11:
		try("Move", f.Move, func() error { return m.move(b, a) })
	case 12:
		mc.detach(a)
	case 13:
		if mc.choose(2) == 0 {
			mc.remove(a)
		}
	case 16:
		b = a
		try("Leaf", func(a, _ handle) error { return f.RemoveLeaf(a) }, func() error {
			if kids := m.kids[a]; len(kids) > 0 {
				if m.live[kids[0]] || m.live[kids[len(kids)-1]] {
					return tree.ErrHasChildren
				}
				return tree.ErrBroken
			}
			m.cut(a)
			m.remove(a)
			return nil
		})
	case 14:
		if mc.choose(3) == 0 {
			mc.behind(a)
		}
	case 15:
		if mc.choose(3) == 0 {
			mc.repair()
		}
	}
}

// link checks a call with two nodes. want is called if both are live.
func (mc *machine) link(verb string, a, b handle, do func(a, b handle) error, want func() error) {
	mc.t.Helper()
	mc.answered(fmt.Sprintf("%s(%v, %v)", verb, a, b), func() error { return do(a, b) }, func() error {
		if !mc.m.live[a] || !mc.m.live[b] {
			return tree.ErrStale
		}
		return want()
	})
}

// behind removes a node behind the forest's back, and may put others into its slot.
func (mc *machine) behind(h handle) {
	if !mc.p.Remove(h) {
		return
	}
	delete(mc.m.live, h)
	mc.m.left[h], mc.m.hidden = true, true
	mc.done["behind"]++
	mc.gone[h.Index()] = true
	for range mc.choose(3) {
		mc.insert()
	}
}

func (mc *machine) remove(h handle) {
	want := 0
	if mc.m.live[h] {
		mc.m.cut(h)
		want = mc.m.remove(h)
	}
	if n := mc.f.Remove(h); n != want {
		mc.fatalf("Remove(%v): %d, want %d", h, n, want)
	}
	mc.done["Remove"]++
}

func (mc *machine) detach(h handle) {
	mc.answered(fmt.Sprintf("Detach(%v)", h), func() error { return mc.f.Detach(h) }, func() error {
		if !mc.m.live[h] {
			return tree.ErrStale
		}
		err := mc.m.loose(h)
		if err == nil {
			mc.m.cut(h)
		}
		return err
	})
}

// insert inserts a node, unless slots wait for a pin.
func (mc *machine) insert() {
	if len(mc.m.live) >= mc.room {
		return
	}
	h, err := mc.p.InsertFunc(func(h handle, n *node) { n.ID, n.Self = uint64(len(mc.known)), h })
	if errors.Is(err, pool.ErrStalled) {
		return
	}
	if err != nil {
		mc.fatalf("InsertFunc: %v", err)
	}
	mc.m.live[h] = true
	mc.known = append(mc.known, h)
	if mc.gone[h.Index()] {
		delete(mc.gone, h.Index())
		mc.done["reused"]++
	}
}

// repair checks the number of links that Repair returns; judge checks the lists after
// every step.
func (mc *machine) repair() {
	mc.m.repair()
	before := tree.Image(mc.f)
	n := mc.f.Repair()
	after := tree.Image(mc.f)
	if changed := differences(before, after); n != changed {
		mc.fatalf("Repair returned %d, but changed %d links", n, changed)
	}
	if again := mc.f.Repair(); again != 0 {
		mc.fatalf("a second Repair returned %d", again)
	}
	if n > 0 {
		mc.done["Repair"]++
	}
}

// judge compares everything that can be read with the model.
func (mc *machine) judge() {
	m, f, image := &mc.m, mc.reads(), tree.Image(mc.f)
	if tree.Changing(mc.f) {
		mc.fatalf("a change has not ended")
	}
	if mc.choose(4) == 0 {
		defer tree.Busy(mc.f)()
	}
	for _, h := range mc.known {
		if mc.p.Contains(h) != m.live[h] {
			mc.fatalf("%v lives is %v", h, !m.live[h])
		}
		if !m.live[h] {
			hs := handles(mc.t, f.Ancestors(h))
			for _, w := range allWalks {
				hs = append(hs, handles(mc.t, w.loop(f, h))...)
			}
			for _, nb := range neighbours {
				if to, ok := nb.find(f, h); ok || to != 0 {
					hs = append(hs, to)
				}
			}
			if len(hs) > 0 || f.Depth(h) != -1 {
				mc.fatalf("%v is not live and leads to %v, depth %d", h, hs, f.Depth(h))
			}
			continue
		}
		var up []handle
		for p := m.parent[h]; p != 0 && m.live[p]; p = m.parent[p] {
			up = append(up, p)
		}
		if got := handles(mc.t, f.Ancestors(h)); !slices.Equal(got, up) || f.Depth(h) != len(up) {
			mc.fatalf("ancestors of %v: %v, depth %d, want %v", h, got, f.Depth(h), up)
		}
		for i, nb := range neighbours {
			if to, ok := nb.find(f, h); to != m.links(h)[i] || ok != (to != 0) {
				mc.fatalf("%s of %v: %v %v, want %v", nb.name, h, to, ok, m.links(h)[i])
			}
		}
		for _, w := range allWalks {
			if got, want := handles(mc.t, w.loop(f, h)), w.order(m.seen, h); !slices.Equal(got, want) {
				mc.fatalf("%s of %v: %v, want %v", w.name, h, got, want)
			}
		}
		got, want := image[h], m.links(h)
		for i, to := range got {
			if !m.live[to] {
				got[i] = 0 // what it was before no longer matters
			}
		}
		if got != want {
			mc.fatalf("links of %v: %v, want %v", h, got, want)
		}
	}
}

func (mc *machine) run(more func() bool) {
	for more() {
		mc.step()
		mc.judge()
	}
	mc.repair()
	mc.judge()
	roots := handles(mc.t, mc.reads().Roots())
	for _, h := range roots {
		if mc.m.parent[h] != 0 {
			mc.fatalf("%v is yielded as a root", h)
		}
	}
	mc.unpin()
	assertForest(mc.t, mc.f, len(mc.m.live))
	mc.p, mc.f = readBack(mc.t, mc.p) // a snapshot keeps the trees, and can be changed
	mc.judge()
	mc.step()
	mc.judge()
}

func stream(t testing.TB, which int, choose func(n int) int, more func() bool) map[string]int {
	mc := newMachine(t, which, choose)
	mc.run(more)
	return mc.done
}

func TestOperationsMatchModel(t *testing.T) {
	must := []string{"Remove", "pin", "phase", "behind", "Repair", "loop", "loop, hidden", "loop, many leave", "loop, reused in a phase", "Aft " + tree.ErrNoParent.Error(), "Bef " + tree.ErrNoParent.Error(), "App " + tree.ErrHasParent.Error(),
		"Lea nil", "Lea " + tree.ErrHasChildren.Error(), "Lea " + tree.ErrBroken.Error()}
	for _, verb := range []string{"App ", "Pre ", "Aft ", "Bef ", "Mov ", "Det "} {
		must = append(must, verb+"nil", verb+tree.ErrStale.Error(), verb+tree.ErrBroken.Error())
		if verb != "Det " {
			must = append(must, verb+tree.ErrCycle.Error())
		}
	}
	if testkit.Watched {
		must = nil // so few calls do not have all that is rare
	}
	testkit.MatchModel(t, len(rooms), long(80), 300, stream, testkit.Once(), must...)
}

func FuzzOps(f *testing.F) { testkit.FuzzModel(f, len(rooms), 200, stream) }
