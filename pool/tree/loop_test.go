package tree_test

import (
	"slices"

	"coatcheck/pool/tree"
)

// loop walks over the children or descendants of a node with a body that changes the
// forest, and judges what the walk yields by what the head of the package promises.
func (mc *machine) loop() {
	top := mc.any()
	if !mc.m.live[top] {
		return
	}
	deep := mc.choose(3) > 0
	list := func() []handle {
		if deep {
			return mc.m.below(top)
		}
		return slices.Clone(mc.m.runs(top)[0])
	}
	before, walk := list(), mc.f.Children(top)
	if deep {
		walk = mc.f.Descendants(top)
	}
	gone := map[handle]bool{} // from its place, itself or by an ancestor
	behind := false
	leave := func(h handle) {
		gone[h] = true
		for _, k := range mc.m.below(h) {
			gone[k] = true
		}
	}
	often := 1 + mc.choose(4)
	var yielded []handle
	for h, n := range walk {
		if n.Self != h || !mc.m.live[h] {
			mc.fatalf("%v is yielded and not live, or another's", h)
		}
		yielded = append(yielded, h)
		for range mc.choose(often) {
			a, b := mc.any(), mc.any()
			if mc.choose(3) == 0 {
				a = h
			}
			var err error
			switch mc.choose(8) {
			case 0, 1:
				below := mc.m.below(a)
				if err = mc.f.Detach(a); err == nil && mc.m.parent[a] != 0 {
					leave(a)
					mc.m.cut(a)
				}
				_ = below
			case 2, 3, 4:
				stays := mc.m.parent[a] == b && mc.m.at(a) == len(mc.m.kids[b])-1
				was := mc.m.below(a)
				if err = mc.f.Move(a, b); err == nil {
					if err := mc.m.move(a, b); err != nil {
						mc.fatalf("Move(%v, %v) in a loop: want %v", a, b, err)
					}
					if !stays {
						leave(a)
						for _, k := range was {
							gone[k] = true
						}
					}
				}
			case 5:
				if mc.m.live[a] && a != top {
					leave(a)
					mc.m.cut(a)
					want := mc.m.remove(a)
					if n := mc.f.Remove(a); n != want {
						mc.fatalf("Remove(%v) in a loop: %d, want %d", a, n, want)
					}
				}
			case 6:
				if mc.choose(4) == 0 && mc.p.Remove(a) {
					delete(mc.m.live, a)
					behind = true
				}
			case 7:
				if mc.m.live[a] && mc.m.live[b] && mc.f.Append(a, b) == nil {
					if err := mc.m.insert(a, b, len(mc.m.kids[a])); err != nil {
						mc.fatalf("Append(%v, %v) in a loop: want %v", a, b, err)
					}
					gone[b] = true // if it was there before, it was detached
				}
			}
		}
	}
	mc.done["loop"]++
	if len(gone) > 0 {
		mc.done["loop, disturbed"]++
	}
	at := -1
	for _, h := range yielded {
		next := slices.Index(before, h)
		if next <= at {
			mc.fatalf("a walk below %v yields %v out of order or twice: %v, before it began %v", top, h, yielded, before)
		}
		at = next
	}
	if behind {
		return // what stays may be hidden
	}
	// The one way to end early: all that were yielded last have gone.
	if n := len(yielded); n > tree.Trailed && !slices.ContainsFunc(yielded[n-tree.Trailed:], func(h handle) bool { return !gone[h] }) {
		mc.done["loop, ended early"]++
		return
	}
	for _, h := range before {
		if !gone[h] && !slices.Contains(yielded, h) {
			mc.fatalf("a walk below %v misses %v, which stays: %v, before it began %v, gone %v", top, h, yielded, before, gone)
		}
	}
}
