package tree_test

import (
	"iter"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// boxed is a node with a pointer, so that the collector has work in its pool.
type boxed struct {
	Box   *int
	Links tree.Links[boxed]
}

// replayed is a program with a forest, on a pool that replays.
type replayed struct {
	*testkit.Replayed[boxed]
	f     *tree.Forest[boxed]
	known []pool.Handle[boxed] // live or stale
}

// playForest draws what a program with a forest does. If it runs again, it now and then goes on in a
// copy, as after a rollback.
func playForest(play *testkit.Play) {
	r := &replayed{Replayed: testkit.NewReplayed(play, 100, 500, func(n *boxed) { *n = boxed{} }, 4)}
	r.plant()
	for range 200 {
		r.step(1 + play.IntN(1<<play.IntN(7)))
		r.Between()
	}
	r.Unpin()
	r.walk(r.f.Roots(), 1000)
}

// plant makes the forest.
func (r *replayed) plant() {
	r.f = tree.New(r.Pool, func(n *boxed) *tree.Links[boxed] { return &n.Links })
}

// save goes on in a copy of the pool, if the program runs again.
func (r *replayed) save() {
	if r.Restore() {
		r.plant()
	}
}

// any draws a handle, mostly a live one.
func (r *replayed) any() pool.Handle[boxed] {
	for range 3 {
		if len(r.known) == 0 {
			break
		}
		i := r.IntN(len(r.known))
		if h := r.known[i]; r.Pool.Contains(h) || r.IntN(4) == 0 {
			return h
		}
		r.known[i] = r.known[len(r.known)-1]
		r.known = r.known[:len(r.known)-1]
	}
	return 0
}

func (r *replayed) insert() pool.Handle[boxed] {
	h, err := r.Pool.Insert(boxed{Box: new(int)})
	if r.Issued(h, err) {
		r.known = append(r.known, h)
	}
	return h
}

// walk notes the order of a loop, which ends after at most so many steps. Some bodies change the
// forest.
func (r *replayed) walk(loop iter.Seq2[pool.Handle[boxed], *boxed], most int) {
	changes := r.IntN(3) == 0
	for h := range loop {
		r.Note(h)
		if changes && r.IntN(8) == 0 {
			r.change()
		}
		if most--; most == 0 {
			return
		}
	}
}

// change makes one change.
func (r *replayed) change() {
	f, h, to := r.f, r.any(), r.any()
	if r.IntN(4) == 0 {
		h = r.insert()
	}
	switch r.IntN(9) {
	case 8:
		r.Note(f.RemoveLeaf(h))
	case 0, 1:
		r.Note(f.Append(to, h))
	case 2:
		r.Note(f.Prepend(to, h))
	case 3:
		r.Note(f.InsertAfter(to, h))
	case 4:
		r.Note(f.InsertBefore(to, h))
	case 5:
		r.Note(f.Move(to, h))
	case 6:
		r.Note(f.Detach(h))
	case 7:
		r.Note(f.Remove(h))
	}
}

func (r *replayed) step(n int) {
	f, h := r.f, r.any()
	switch r.IntN(13) {
	case 0, 1, 2: // a family
		for range n {
			k := r.insert()
			r.Note(f.Append(h, k))
			if r.IntN(4) == 0 {
				h = k
			}
		}
	case 3:
		for range n {
			r.change()
		}
	case 4:
		r.Note(f.Remove(h))
	case 5: // behind the forest's back
		r.Note(r.Pool.Remove(h), r.Pool.Remove(r.any()))
	case 6:
		r.Note(f.Repair())
	case 7:
		first, _ := f.FirstChild(h)
		last, _ := f.LastChild(h)
		next, _ := f.Next(h)
		prev, _ := f.Prev(h)
		parent, _ := f.Parent(h)
		r.Note(first, last, next, prev, parent, f.Depth(h))
	case 8:
		r.walk(f.Children(h), n)
		r.walk(f.Ancestors(h), n)
	case 9:
		r.walk(f.Descendants(h), n)
		r.walk(f.PostOrder(h), n)
	case 10:
		r.walk(f.Roots(), n)
	case 11:
		r.PinOrTrim()
	case 12:
		r.save()
	}
}

// One goroutine that changes and walks a forest gets the same handles, in the same order, from each
// run of a program, and in a copy of the pool as in the pool.
func TestReplayWalksTheSame(t *testing.T) {
	testkit.RequireReplays(t, testkit.LongAlone(80), 300, playForest)
}
