package tree_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// together runs f on each of n goroutines until during returns, and waits for them.
func together(n int, f func(k int, stop *atomic.Bool), during func()) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for k := range n {
		wg.Add(1)
		go func() { defer wg.Done(); f(k, &stop) }()
	}
	during()
	stop.Store(true)
	wg.Wait()
}

// TestReadersBesideWriters walks over a tree whose pillars keep their places while other
// nodes come, go and move among them. The walks must see the pillars in order, nothing
// twice, no other node's value, and nothing that was never below. They must see every
// pillar if there is one other node, so that no two leave together. With many, some are
// removed behind the forest's back.
func TestReadersBesideWriters(t *testing.T) {
	t.Run("one", func(t *testing.T) { testReadersBesideWriters(t, 1, 1) })
	t.Run("many", func(t *testing.T) { testReadersBesideWriters(t, 2, 200) })
}

func testReadersBesideWriters(t *testing.T, writers, most int) {
	const wide, outside = 6, 1 << 62 // outside is the id of nodes that are never below top
	seed := testkit.Seed(t)
	p, f := newForest(t)
	// The top has pillars as children, and so has each of these.
	top, pillars := family(t, p, f, wide)
	for _, h := range slices.Clone(pillars) {
		pillars = append(pillars, addBelow(t, p, f, h, wide)...)
	}
	under, isPillar := map[handle][]handle{}, map[handle]bool{}
	for _, h := range append(pillars, top) {
		under[h] = handles(t, f.Children(h))
		isPillar[h] = h != top
	}
	var walks, loose, removed, inserted atomic.Int64
	read := func(rnd *rand.Rand) {
		w, at := allWalks[rnd.IntN(len(allWalks))], top
		if rnd.IntN(3) == 0 {
			at = pillars[rnd.IntN(wide)]
		}
		var want, got []handle
		seen := map[handle]bool{}
		want = w.order(func(h handle) []handle { return under[h] }, at)
		for h, v := range w.loop(f, at) {
			if v.Self != h || seen[h] || v.ID >= outside {
				t.Errorf("%v is yielded with the value of %v, before: %v", h, v.Self, seen[h])
			}
			if seen[h] = true; isPillar[h] {
				got = append(got, h)
			} else {
				loose.Add(1)
			}
			if len(seen)%16 == 0 {
				runtime.Gosched()
			}
		}
		rest := want
		for _, h := range got {
			i := slices.Index(rest, h)
			if rest = rest[i+1:]; i < 0 {
				t.Errorf("%s yields %v out of order: %v", w.name, h, got)
			}
		}
		if most == 1 && len(got) != len(want) {
			t.Errorf("%s yields %d pillars of %d", w.name, len(got), len(want))
		}
		if up := handles(t, f.Ancestors(pillars[wide])); len(up) != 2 || up[1] != top || f.Depth(pillars[wide]) != 2 {
			t.Errorf("ancestors %v", up)
		}
		walks.Add(1)
	}
	write := func(rnd *rand.Rand, mine []handle) []handle {
		parent := pillars[rnd.IntN(len(pillars))]
		if len(mine) == 0 || len(mine) < most && rnd.IntN(4) == 0 {
			h := add(t, p, 0)
			inserted.Add(1)
			_ = f.Append(parent, h) // fails beside a dead node
			return append(mine, h)
		}
		switch h := mine[rnd.IntN(len(mine))]; rnd.IntN(8) {
		case 0, 1, 2:
			_ = f.Move(h, append(mine, parent, parent)[rnd.IntN(len(mine)+2)]) // may fall into a cycle
		case 3:
			_ = f.Detach(h)
			_ = f.Prepend(parent, h)
		case 4:
			_ = f.InsertAfter(parent, h)
		case 5:
			if away := add(t, p, outside); f.Append(away, add(t, p, outside)) == nil {
				f.Remove(away)
			}
		case 6:
			removed.Add(int64(f.Remove(h)))
		case 7:
			if most > 1 && rnd.IntN(10) == 0 {
				if p.Remove(h) { // behind the forest's back
					removed.Add(1)
				}
				runtime.Gosched()
				f.Repair()
			}
		}
		return slices.DeleteFunc(mine, func(h handle) bool { return !p.Contains(h) })
	}
	together(2+writers, func(k int, stop *atomic.Bool) {
		rnd := rand.New(rand.NewPCG(seed, uint64(k)))
		var mine []handle
		for !stop.Load() {
			if k < 2 {
				read(rnd)
			} else {
				mine = write(rnd, mine)
			}
		}
	}, func() {
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end) || walks.Load() < 50; {
			time.Sleep(time.Millisecond)
		}
	})
	if n := f.Repair(); n > 0 && most == 1 {
		t.Errorf("%d links are wrong", n)
	}
	require.Zero(t, f.Repair())
	n := 0
	for h := range f.Roots() {
		n += 1 + len(handles(t, f.Descendants(h)))
	}
	require.Equal(t, p.Len(), n)
	require.EqualValues(t, 1+len(pillars)+int(inserted.Load()-removed.Load()), n, "each removal counts once")
	t.Logf("%d walks, which met %d loose nodes", walks.Load(), loose.Load())
	assert.Positive(t, loose.Load())
}

// TestWalksEndWhateverTheWriterDoes: the worst writer for a walk moves whatever was just
// yielded to the end of the list, or inserts a new node right before the walk, for ever.
func TestWalksEndWhateverTheWriterDoes(t *testing.T) {
	type pair struct {
		p *pool.Pool[node]
		f *tree.Forest[node]
	}
	for name, do := range map[string]func(x pair, top, h handle) error{
		"moves it to the end": func(x pair, top, h handle) error { return x.f.Move(h, top) },
		"appends":             func(x pair, top, h handle) error { return x.f.Append(top, add(t, x.p, 1)) },
		"inserts behind":      func(x pair, top, h handle) error { return x.f.InsertAfter(h, add(t, x.p, 1)) },
		"inserts below":       func(x pair, top, h handle) error { return x.f.Append(h, add(t, x.p, 1)) },
		"moves it below the next": func(x pair, top, h handle) error {
			if next, ok := x.f.Next(h); ok {
				return x.f.Move(h, next)
			}
			return nil
		},
		"detaches and prepends": func(x pair, top, h handle) error {
			return errors.Join(x.f.Detach(h), x.f.Prepend(top, h))
		},
		"detaches it":             func(x pair, top, h handle) error { return x.f.Detach(h) },
		"removes it and its like": func(x pair, top, h handle) error { x.f.Remove(h); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range allWalks {
				p, f := newForest(t)
				top, kids := family(t, p, f, 100)
				want := w.order(childrenOf(top, kids), top)
				var got []handle
				for h := range w.loop(f, top) {
					got = append(got, h)
					require.LessOrEqual(t, len(got), 100)
					require.NoError(t, do(pair{p, f}, top, h))
				}
				if name == "moves it below the next" && w.name != "Children" && w.name != "ChildrenBackward" {
					continue // many have gone before they are reached
				}
				assert.Equal(t, want, got, w.name)
			}
		})
	}
}
