package tree_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestReadersBesideAWriter walks over a tree whose pillars keep their places while other
// nodes come, go and move among them. The walks must see the pillars in order, nothing
// twice, no other node's value, and nothing that was never below. If no two loose nodes
// are neighbours they must see every pillar. With many, some are removed behind the
// forest's back.
func TestReadersBesideAWriter(t *testing.T) {
	for name, most := range map[string]int{"few": 12, "many": 500} {
		t.Run(name, func(t *testing.T) { testReadersBesideAWriter(t, most) })
	}
}

func testReadersBesideAWriter(t *testing.T, most int) {
	rnd := newRand(t)
	p, f := newForest(t)
	// The top has pillars as children, and so has each of these.
	top := add(t, p, 0)
	var order, inner []handle
	id := uint64(0)
	pillar := func(parent handle) handle {
		id++
		h := add(t, p, id)
		require.NoError(t, f.Append(parent, h))
		order = append(order, h)
		return h
	}
	for range 6 {
		h := pillar(top)
		inner = append(inner, h)
		for range 6 {
			pillar(h)
		}
	}
	pillars := len(order)
	backward := reversed(order)
	const outside = 1 << 62 // ids of nodes that are never below top
	away := add(t, p, outside)

	var walks, loose atomic.Int64
	together(3, func(k int, stop *atomic.Bool) {
		for n := 0; !stop.Load(); n++ {
			walk, want := f.Descendants(top), order
			if n%3 == k%3 {
				at := inner[n%len(inner)]
				i := slices.Index(order, at)
				walk, want = f.Children(at), order[i+1:i+7]
			}
			if n%3 == 2 { // backwards
				walk, want = f.DescendantsBackward(top), backward
			}
			met, pillarsMet := 0, 0
			seen := map[handle]bool{}
			for h, v := range walk {
				switch {
				case v.Self != h:
					t.Errorf("%v is yielded with the value of %v", h, v.Self)
				case seen[h]:
					t.Errorf("%v is yielded twice", h)
				case v.ID >= outside:
					t.Errorf("%v was never below the top", h)
				case v.ID <= uint64(pillars):
					at := slices.Index(want[met:], h)
					if at < 0 {
						t.Errorf("pillar %v comes out of order, after %d of them", h, met)
						return
					}
					met += at + 1
					pillarsMet++
				default:
					loose.Add(1)
				}
				seen[h] = true
				if len(seen)%16 == 0 {
					runtime.Gosched()
				}
			}
			if most <= 12 && pillarsMet != len(want) {
				t.Errorf("%d pillars of %d", pillarsMet, len(want))
			}
			if d := f.Depth(order[1]); d != 2 {
				t.Errorf("depth %d, want 2", d)
			}
			if up := handles(t, f.Ancestors(order[1])); len(up) != 2 || up[1] != top {
				t.Errorf("ancestors %v", up)
			}
			walks.Add(1)
		}
	}, func() {
		var there []handle
		kids := append([]handle{top}, order...)
		room := func(parent handle) bool {
			if most > 12 {
				return true
			}
			for _, v := range f.Children(parent) {
				if v.ID > uint64(pillars) {
					return false
				}
			}
			return true
		}
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end) || walks.Load() < 50; {
			for range 100 {
				switch parent := kids[rnd.IntN(len(kids))]; rnd.IntN(9) {
				case 0, 1:
					if len(there) < most && room(parent) {
						id++
						h := add(t, p, id)
						require.NoError(t, f.Append(parent, h))
						there = append(there, h)
					}
				case 2, 3, 4:
					if len(there) > 0 { // may fall into a cycle
						if to := append(kids, there...)[rnd.IntN(len(kids)+len(there))]; room(to) {
							_ = f.Move(there[rnd.IntN(len(there))], to)
						}
					}
				case 5:
					if len(there) > 0 && room(parent) {
						h := there[rnd.IntN(len(there))]
						require.NoError(t, f.Detach(h))
						require.NoError(t, f.Prepend(parent, h))
					}
				case 6:
					if len(there) > most/2 {
						n := f.Remove(there[rnd.IntN(len(there))])
						before := len(there)
						there = slices.DeleteFunc(there, func(h handle) bool { return !p.Contains(h) })
						require.Equal(t, before-n, len(there))
					}
				case 7:
					h := add(t, p, outside)
					require.NoError(t, f.Append(away, h))
					if rnd.IntN(20) == 0 {
						f.Remove(away)
						away = add(t, p, outside)
					}
				case 8:
					if most > 12 && len(there) > most/2 && rnd.IntN(10) == 0 {
						i := rnd.IntN(len(there))
						require.True(t, p.Remove(there[i]))
						there = slices.Delete(there, i, i+1)
						runtime.Gosched()
						f.Repair()
					}
				}
			}
			runtime.Gosched()
		}
	})
	require.Zero(t, f.Repair())
	t.Logf("%d walks, which met %d loose nodes", walks.Load(), loose.Load())
	assert.Positive(t, loose.Load())
}

// TestRemovalsBehindTheBackBesideEverything removes nodes behind the forest's back beside
// walks and changes: nothing hangs or panics, no walk breaks its promise, and Repair
// repairs the forest.
func TestRemovalsBehindTheBackBesideEverything(t *testing.T) {
	rnd := newRand(t)
	p, f := newForest(t)
	top := add(t, p, 0)
	hs := [64]atomic.Uint64{}
	for i := range hs {
		hs[i].Store(uint64(top))
	}
	var walks, behind, byForest, inserted atomic.Int64
	seeds := [3]uint64{rnd.Uint64(), rnd.Uint64(), rnd.Uint64()}
	together(3, func(k int, stop *atomic.Bool) {
		rnd := rand.New(rand.NewPCG(seeds[k], 1))
		for n := 0; !stop.Load(); n++ {
			switch h := handle(hs[rnd.IntN(len(hs))].Load()); k {
			case 0:
				if h != top && p.Remove(h) {
					behind.Add(1)
				}
				if n%4 == 0 {
					time.Sleep(time.Microsecond)
				}
			default:
				seen := map[handle]bool{}
				for h, v := range allWalks[n%len(allWalks)].loop(f, top) {
					if v.Self != h || seen[h] {
						t.Errorf("%v is yielded twice, or with the value of %v", h, v.Self)
					}
					seen[h] = true
				}
				handles(t, f.Ancestors(h))
				f.Depth(h)
				walks.Add(1)
			}
		}
	}, func() {
		for end := time.Now().Add(time.Duration(500) * time.Millisecond); time.Now().Before(end) || walks.Load() < 20; {
			for range 50 {
				i := rnd.IntN(len(hs))
				a, b := handle(hs[i].Load()), handle(hs[rnd.IntN(len(hs))].Load())
				switch rnd.IntN(6) {
				case 0, 1:
					h := add(t, p, 1)
					inserted.Add(1)
					if f.Append(b, h) != nil {
						_ = f.Append(top, h)
					}
					hs[i].Store(uint64(h))
				case 2, 3:
					if a != top {
						_ = f.Move(a, b)
					}
				case 4:
					if a != top {
						byForest.Add(int64(f.Remove(a)))
					}
				case 5:
					f.Repair()
				}
			}
		}
	})
	require.Equal(t, int(inserted.Load()+1-behind.Load()-byForest.Load()), p.Len(), "removed %d and %d times", behind.Load(), byForest.Load())
	f.Repair()
	require.Zero(t, f.Repair())
	n := 0
	for h := range f.Roots() {
		n += 1 + len(handles(t, f.Descendants(h)))
	}
	require.Equal(t, p.Len(), n)
	t.Logf("%d walks, %d removals behind the back, %d values removed by the forest", walks.Load(), behind.Load(), byForest.Load())
	assert.Positive(t, behind.Load())
	assert.Positive(t, byForest.Load())
}

// TestWalksEndWhateverTheWriterDoes: the worst writer for a walk moves whatever was just
// yielded to the end of the list, or inserts a new node right before the walk, for ever.
func TestWalksEndWhateverTheWriterDoes(t *testing.T) {
	for name, do := range map[string]func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error{
		"moves it to the end": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) error { return f.Move(h, top) },
		"appends": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			return f.Append(top, add(t, p, 1))
		},
		"inserts behind": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			return f.InsertAfter(h, add(t, p, 1))
		},
		"inserts below": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error { return f.Append(h, add(t, p, 1)) },
		"moves it below the next": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			if next, ok := f.Next(h); ok {
				return f.Move(h, next)
			}
			return nil
		},
		"detaches and prepends": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			if err := f.Detach(h); err != nil {
				return err
			}
			return f.Prepend(top, h)
		},
		"detaches it": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) error { return f.Detach(h) },
		"removes it and its like": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			f.Remove(h)
			return nil
		},
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
					require.NoError(t, do(p, f, top, h))
				}
				if name == "moves it below the next" && w.name != "Children" && w.name != "ChildrenBackward" {
					continue // many have gone before they are reached
				}
				assert.Equal(t, want, got, w.name)
			}
		})
	}
}

// TestWalksEndBesideABusyWriter is the same with writers on other goroutines.
func TestWalksEndBesideABusyWriter(t *testing.T) {
	p, f := newForest(t)
	top, kids := family(t, p, f, 50)
	deep := addN(t, p, 50)
	for i, h := range deep {
		if i > 0 {
			require.NoError(t, f.Append(deep[i-1], h))
		}
	}
	together(1, func(_ int, stop *atomic.Bool) {
		for i := 0; !stop.Load(); i++ {
			_ = f.Move(kids[i%50], top)
			_ = f.Move(deep[0], kids[i%49])
		}
	}, func() {
		for range long(500) {
			for _, walk := range []func(handle) int{
				func(h handle) int { return len(handles(t, f.Children(h))) },
				func(h handle) int { return len(handles(t, f.Descendants(h))) },
				func(h handle) int { return len(handles(t, f.PostOrder(h))) },
				func(h handle) int { return len(handles(t, f.ChildrenBackward(h))) },
				func(h handle) int { return len(handles(t, f.Ancestors(h))) },
			} {
				require.LessOrEqual(t, walk(top), 100)
				require.LessOrEqual(t, walk(deep[49]), 52)
			}
			require.Contains(t, []int{49, 51}, f.Depth(deep[49])) // never a mixture
		}
	})
	require.Zero(t, f.Repair())
}

// TestWritersTakeTurns: changes from several goroutines exclude each other.
func TestWritersTakeTurns(t *testing.T) {
	p, f := newForest(t)
	top, _ := family(t, p, f, 8)
	var inserted, removed atomic.Int64
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var mine []handle
			for i := range long(3000) {
				h, err := p.InsertFunc(func(h handle, n *node) { n.Self = h })
				if err != nil {
					t.Error(err)
					return
				}
				inserted.Add(1)
				parent := top
				if i%3 == 0 && len(mine) > 0 {
					parent = mine[len(mine)-1]
				}
				if err := f.Append(parent, h); err != nil {
					t.Errorf("Append: %v", err)
				}
				mine = append(mine, h)
				if len(mine) > 20 {
					if err := f.Move(mine[(i+k)%20], top); err != nil {
						t.Errorf("Move: %v", err)
					}
					removed.Add(int64(f.Remove(mine[3])))
					mine = slices.DeleteFunc(mine, func(h handle) bool { return !p.Contains(h) })
				}
			}
		}()
	}
	wg.Wait()
	require.Zero(t, f.Repair())
	assert.Equal(t, int(8+inserted.Load()-removed.Load()), len(handles(t, f.Descendants(top))))
	assert.Equal(t, p.Len()-1, len(handles(t, f.Descendants(top))))
}
