package tree_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestLongLists: a loop over a long list whose body takes away what it was
// given, in any way, meets all that were there, and no other.
func TestLongLists(t *testing.T) {
	for name, away := range map[string]func(p *pool.Pool[node], f *tree.Forest[node], h handle) error{
		"stays":  func(*pool.Pool[node], *tree.Forest[node], handle) error { return nil },
		"Detach": func(_ *pool.Pool[node], f *tree.Forest[node], h handle) error { return f.Detach(h) },
		"Remove": func(_ *pool.Pool[node], f *tree.Forest[node], h handle) error { f.Remove(h); return nil },
		"behind": func(p *pool.Pool[node], _ *tree.Forest[node], h handle) error { p.Remove(h); return nil },
		"behind, and Repair": func(p *pool.Pool[node], f *tree.Forest[node], h handle) error {
			if p.Remove(h); h.Index()%5 == 0 {
				f.Repair()
			}
			return nil
		},
		"to the end": func(_ *pool.Pool[node], f *tree.Forest[node], h handle) error {
			parent, _ := f.Parent(h)
			return f.Move(parent, h)
		},
		"some": func(_ *pool.Pool[node], f *tree.Forest[node], h handle) error {
			if h.Index() < 20 {
				return nil
			}
			return f.Detach(h)
		},
	} {
		for _, w := range allWalks {
			p, f := newForest(t)
			top, kids := family(t, p, f, 300)
			var got []handle
			for h := range w.loop(f, top) {
				got = append(got, h)
				require.NoError(t, away(p, f, h))
				require.LessOrEqual(t, len(got), len(kids))
			}
			assert.Equal(t, kids, got, "%s, %s", w.name, name)
		}
	}
}

// counted returns a forest, and a function that returns how often a call looks links up.
func counted() (*pool.Pool[node], *tree.Forest[node], func(do func()) int) {
	looks := 0
	p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1})
	f := tree.New(p, linksOf)
	tree.Outside(f, func(n *node) *tree.Links[node] { looks++; return &n.Links })
	return p, f, func(do func()) int {
		looks = 0
		do()
		return looks
	}
}

// TestLoopsPassOverNewNodesOnce counts how often a loop looks links up whose body puts nodes at the
// front of the list: the cost of a step does not grow with what the body has put there.
func TestLoopsPassOverNewNodesOnce(t *testing.T) {
	for name, body := range map[string]func(p *pool.Pool[node], f *tree.Forest[node], top, h handle){
		"Detach and Prepend": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) {
			require.NoError(t, f.Detach(h))
			require.NoError(t, f.Prepend(top, h))
		},
		"Remove, and Prepend another": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) {
			f.Remove(h)
			require.NoError(t, f.Prepend(top, add(t, p, 1)))
		},
		"the next one too": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) {
			for _, h := range []handle{h, next(f, h)} {
				if h != 0 {
					require.NoError(t, f.Detach(h))
					require.NoError(t, f.Prepend(top, h))
				}
			}
		},
		"the last one that was passed over, too": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) {
			for _, h := range []handle{h, prev(f, h)} {
				if h != 0 {
					require.NoError(t, f.Detach(h))
					require.NoError(t, f.Prepend(top, h))
				}
			}
		},
		"each before the next": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) {
			to := next(f, h)
			f.Remove(h)
			if to != 0 {
				require.NoError(t, f.InsertBefore(to, add(t, p, 1)))
			}
		},
	} {
		for _, w := range allWalks {
			const n = 2000
			p, f, cost := counted()
			top, _ := family(t, p, f, n)
			steps, body1 := 0, cost(func() { body(p, f, top, first(f, top)) })
			looks := cost(func() {
				for h := range w.loop(f, top) {
					steps++
					body(p, f, top, h)
				}
			})
			assert.GreaterOrEqual(t, steps, n/2-1, "%s, %s", w.name, name)
			assert.LessOrEqual(t, looks, (body1+20)*n, "%s, %s", w.name, name)
		}
	}
}

func first(f *tree.Forest[node], h handle) handle { to, _ := f.FirstChild(h); return to }
func next(f *tree.Forest[node], h handle) handle  { to, _ := f.Next(h); return to }
func prev(f *tree.Forest[node], h handle) handle  { to, _ := f.Prev(h); return to }

// TestLoopsCostWhatTheySee counts how often links are looked up.
func TestLoopsCostWhatTheySee(t *testing.T) {
	p, f, cost := counted()
	top, kids := family(t, p, f, 4000)
	for _, nb := range neighbours {
		for _, h := range []handle{top, kids[0], kids[2000], kids[3999]} {
			assert.LessOrEqual(t, cost(func() { nb.find(f, h) }), 2, nb.name)
		}
	}
	for _, w := range allWalks {
		for _, seen := range []int{1, 3, 100, 3999} {
			n := 0
			assert.LessOrEqual(t, cost(func() {
				for range w.loop(f, top) {
					if n++; n == seen {
						break
					}
				}
			}), 3*seen+20, "%s, left after %d", w.name, seen)
		}
	}
	assert.LessOrEqual(t, cost(func() {
		for h, ok := f.LastChild(top); ok; h, ok = f.Prev(h) {
		}
	}), 2*4001)
	more := add(t, p, 1)
	assert.LessOrEqual(t, cost(func() { require.NoError(t, f.InsertBefore(kids[2000], more)) }), 6)
}

// TestLinksAsText: what encoding/json writes it reads back, or it returns an error.
func TestLinksAsText(t *testing.T) {
	p, f := newForest(t)
	_, kids := family(t, p, f, 3)
	g := p.Pin()
	defer g.Unpin()
	v, _ := g.Pointer(kids[1])
	b, err := json.Marshal(v)
	require.NoError(t, err)
	require.Contains(t, string(b), `"Links":{"Words":"0@1 none none 3@1 1@1"}`)
	var again node
	require.NoError(t, json.Unmarshal(b, &again))
	text, err := again.Links.Words.MarshalText()
	require.NoError(t, err)
	require.Equal(t, "0@1 none none 3@1 1@1", string(text))
	for _, wrong := range []string{"", "none", "none none none none", "none none none none none none", "0@1 none none 3@1 2@2", "0@1  none none 3@1 1@1"} {
		require.Error(t, again.Links.Words.UnmarshalText([]byte(wrong)), wrong)
	}
	after, _ := again.Links.Words.MarshalText()
	require.Equal(t, text, after, "an error changes nothing")

	_, err = json.Marshal(map[string]any{"copied": map[int]node{1: {ID: 7}}})
	require.ErrorContains(t, err, "encode a pointer to the value")
}

// TestWalkOmitsWhatHasLeftItsPlace: a node that the loop has read ahead, and that is moved away
// before the loop comes to it, is not yielded.
func TestWalkOmitsWhatHasLeftItsPlace(t *testing.T) {
	p, f := newForest(t)
	top, hs := family(t, p, f, 5)
	other, _ := family(t, p, f, 1)
	var got []handle
	for h := range f.Children(top) {
		if got = append(got, h); len(got) == 1 {
			require.NoError(t, f.Move(other, hs[2]))
		}
	}
	assert.Equal(t, []handle{hs[0], hs[1], hs[3], hs[4]}, got)
}

// TestForestIsPrintedBesideChanges: without a race.
func TestForestIsPrintedBesideChanges(t *testing.T) {
	p, f := newForest(t)
	all := addN(t, p, 20)
	testkit.Together(2, func(k int) {
		for i := range 100 {
			if k == 0 {
				require.Contains(t, fmt.Sprintf("%v", f), "*tree.Forest[")
				continue
			}
			_ = f.Move(all[i*7%20], all[i%20])
		}
	})
	require.Contains(t, fmt.Sprint(f), "] of a *pool.Pool[")
	require.NotEmpty(t, fmt.Sprint(new(tree.Forest[node])))
}

// TestWalkGoesOnBehindWhatKeptItsPlace: a loop that has passed over a new node does not go on behind it
// once that node has moved again, here to the end of the list.
func TestWalkGoesOnBehindWhatKeptItsPlace(t *testing.T) {
	p, f := newForest(t)
	top, hs := family(t, p, f, 4)
	var got []handle
	for h := range f.Children(top) {
		got = append(got, h)
		if h == hs[3] {
			continue
		}
		require.NoError(t, f.Detach(h))
		require.NoError(t, f.Prepend(top, h))
		if h == hs[1] {
			require.NoError(t, f.Move(top, hs[0])) // passed over before
		}
	}
	assert.Equal(t, hs, got)
}

// TestWalkGoesOnBehindOneThatIsRemoved: a loop whose body removes a node behind the forest's back, and then
// changes another list, goes on with the node's siblings.
func TestWalkGoesOnBehindOneThatIsRemoved(t *testing.T) {
	const n = 5
	for gone := range n {
		p, f := newForest(t)
		top, hs := family(t, p, f, n)
		other := add(t, p, 9)
		var got []handle
		for h := range f.Children(top) {
			if got = append(got, h); h == hs[gone] {
				require.True(t, p.Remove(h), "it should be live")
				require.NoError(t, f.Append(other, add(t, p, 10)))
			}
		}
		assert.Equal(t, hs, got, "%d is removed", gone)
	}
}

// TestLinksThatAreReadHaveNoStamp: that of the Forest from which they come means nothing to another.
func TestLinksThatAreReadHaveNoStamp(t *testing.T) {
	p, f := newForest(t)
	_, kids := family(t, p, f, 2)
	g := p.Pin()
	defer g.Unpin()
	v, _ := g.Pointer(kids[1])
	links := &v.Links.Words
	binary, err := links.MarshalBinary()
	require.NoError(t, err)
	text, err := links.MarshalText()
	require.NoError(t, err)
	for name, read := range map[string]func() error{
		"binary": func() error { return links.UnmarshalBinary(binary) },
		"text":   func() error { return links.UnmarshalText(text) },
	} {
		tree.Stamp(f, kids[1], 99)
		require.NoError(t, read())
		require.Zero(t, tree.StampOf(f, kids[1]), name)
	}
}

// TestQuietWalksTakeNoSlowSteps: while nothing changes, a step does not ask where links are, as slow steps
// do. After a change one step is slow, and none after it.
func TestQuietWalksTakeNoSlowSteps(t *testing.T) {
	for _, w := range allWalks {
		p, f := newForest(t)
		top, kids := family(t, p, f, 100)
		one, other := add(t, p, 1), add(t, p, 2)
		looks, seen := 0, 0
		count := func(n *node) *tree.Links[node] { looks++; return &n.Links }
		for range w.loop(f, top) {
			switch seen++; seen {
			case 1, 51:
				tree.Outside(f, count)
			case 50:
				tree.Inside(f)
				require.NoError(t, f.Append(one, other))
			}
		}
		tree.Inside(f)
		assert.Len(t, kids, seen, w.name)
		assert.Zero(t, looks, w.name)
	}
}

// TestCyclesEndWalks: links that were read from a file may make a node its own descendant, with siblings that
// agree.
func TestCyclesEndWalks(t *testing.T) {
	p, f := newForest(t)
	top, kids := family(t, p, f, 1)
	for link, to := range map[int]handle{0: kids[0], 3: 0, 4: 0} {
		tree.Scramble(f, top, link, to)
	}
	for link, to := range map[int]handle{1: top, 2: top} {
		tree.Scramble(f, kids[0], link, to)
	}
	for _, w := range allWalks {
		var got []handle
		for h := range w.loop(f, top) {
			if got = append(got, h); len(got) > 9 {
				break
			}
		}
		assert.Equal(t, kids, got, w.name)
	}
	assert.LessOrEqual(t, f.Depth(top), 6)
	assert.LessOrEqual(t, len(handles(t, f.Ancestors(top))), 6)
}

// TestListsBelowForgetTheOneAbove: what a loop has passed over in a list is no place to go on in another, also
// if that takes its place on the path.
func TestListsBelowForgetTheOneAbove(t *testing.T) {
	p, f := newForest(t)
	top, kids := family(t, p, f, 2)
	below := addBelow(t, p, f, kids[1], 2)
	var got []handle
	for h := range f.Descendants(top) {
		got = append(got, h)
		if h == kids[0] || h == below[0] {
			parent, _ := f.Parent(h)
			require.NoError(t, f.Detach(h))
			require.NoError(t, f.Prepend(parent, h)) // the loop passes over it
		}
	}
	assert.Equal(t, append(kids, below...), got)
}

// TestDeadNodesHaveNoNeighbours: also where a change has disturbed the reader.
func TestDeadNodesHaveNoNeighbours(t *testing.T) {
	p, f := newForest(t)
	_, kids := family(t, p, f, 3)
	f.Remove(kids[1])
	defer tree.Busy(f)()
	for _, nb := range neighbours {
		_, ok := nb.find(f, kids[1])
		assert.False(t, ok, nb.name)
	}
}
