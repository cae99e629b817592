//go:build !race

package tree_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestPhaseGoesOnBehindAReusedSlot: a loop of a phase whose body removes the node that it was given behind
// the forest's back, puts others into its slot and links them, anywhere, goes on with the node's siblings.
func TestPhaseGoesOnBehindAReusedSlot(t *testing.T) {
	const n = 6
	for _, w := range allWalks {
		for gone := range n {
			for before := range 3 {
				p := pool.Must(&pool.Options[node]{Origin: 1, Shards: 1, Capacity: n + 4})
				f := tree.New(p, linksOf)
				top, hs := family(t, p, f, n)
				other := add(t, p, 9)
				r := f.Phase()
				var got []handle
				for h := range w.loop(&r, top) {
					if got = append(got, h); h != hs[gone] {
						continue
					}
					for range before { // new ones, which the loop passes over
						require.NoError(t, f.InsertAfter(h, add(t, p, 10)))
					}
					require.True(t, p.Remove(h), "it should be live")
					again, err := p.InsertFunc(func(h handle, v *node) { v.Self = h })
					for err == nil && again.Index() != h.Index() {
						again, err = p.InsertFunc(func(h handle, v *node) { v.Self = h })
					}
					require.NoError(t, err, "the slot should be used again")
					require.NoError(t, f.Append(other, again))
				}
				assert.Equal(t, hs, got, "%s: %d is removed, %d are put behind it", w.name, gone, before)
			}
		}
	}
}

// TestDeadNodeLeadsOn: a loop whose body removes a node behind the forest's back goes on where the links of that node
// lead, also if nothing else leads there any more.
func TestDeadNodeLeadsOn(t *testing.T) {
	for _, w := range allWalks {
		p, f := newForest(t)
		top, hs := family(t, p, f, 5)
		var got []handle
		for h := range w.loop(f, top) {
			if got = append(got, h); h == hs[1] {
				require.NoError(t, f.InsertAfter(h, add(t, p, 9)))
				require.NoError(t, f.Detach(hs[2]))
				require.Equal(t, 2, p.RemoveBatch([]handle{h, hs[4]}))
			}
		}
		assert.Equal(t, []handle{hs[0], hs[1], hs[3]}, got, w.name)
	}
}

// TestWalkGoesOnBehindOneThatIsRemovedAndTheNext: a loop whose body removes a node behind the forest's back,
// and those behind it in any other way, goes on with what stays.
func TestWalkGoesOnBehindOneThatIsRemovedAndTheNext(t *testing.T) {
	const n = 8
	away := map[string]func(f *tree.Forest[node], h handle){
		"Remove":     func(f *tree.Forest[node], h handle) { f.Remove(h) },
		"RemoveLeaf": func(f *tree.Forest[node], h handle) { require.NoError(t, f.RemoveLeaf(h)) },
	}
	for name, away := range away {
		for _, phase := range []bool{false, true} {
			for _, w := range allWalks {
				for gone := range n {
					for next := range n - gone - 1 { // so many leave behind it
						for _, first := range []bool{true, false} {
							what := fmt.Sprintf("%s, %s, phase %v: %d is removed, and %d behind it, before: %v", w.name, name, phase, gone, next, first)
							o := &pool.Options[node]{Origin: 1, Shards: 1}
							if phase {
								o.Capacity = n + 2 // so the one that the body inserts gets a slot of one that left
							}
							p := pool.Must(o)
							f := tree.New(p, linksOf)
							top, hs := family(t, p, f, n)
							other := add(t, p, 9)
							by := reads(f)
							if phase {
								r := f.Phase()
								by = &r
							}
							var got []handle
							for h := range w.loop(by, top) {
								if got = append(got, h); h != hs[gone] {
									continue
								}
								if !first {
									p.Remove(h)
								}
								for _, h := range hs[gone+1 : gone+1+next] {
									away(f, h)
								}
								if first {
									p.Remove(h)
								}
								require.NoError(t, f.Append(other, add(t, p, 10)))
							}
							assert.Equal(t, append(hs[:gone+1:gone+1], hs[gone+1+next:]...), got, what)
						}
					}
				}
			}
		}
	}
}

// TestWalkWhoseBodyRemovesInTurns: behind the forest's back and by it, the node that it is given or the
// next one.
func TestWalkWhoseBodyRemovesInTurns(t *testing.T) {
	const n = 300
	for _, w := range allWalks {
		for name, body := range map[string]func(p *pool.Pool[node], f *tree.Forest[node], h, next handle, i int) (skipped bool){
			"each": func(p *pool.Pool[node], f *tree.Forest[node], h, _ handle, i int) bool {
				if i%2 == 0 {
					p.Remove(h)
				} else {
					f.Remove(h)
				}
				return false
			},
			"and the next": func(p *pool.Pool[node], f *tree.Forest[node], h, next handle, _ int) bool {
				p.Remove(h)
				f.Remove(next)
				return true
			},
			"each, and others detached": func(p *pool.Pool[node], f *tree.Forest[node], h, _ handle, i int) bool {
				if i%3 == 0 {
					p.Remove(h)
				} else if err := f.Detach(h); err != nil { // beside a dead node
					f.Remove(h)
				}
				return false
			},
		} {
			p, f, cost := counted()
			top, hs := family(t, p, f, n)
			var got, want []handle
			looks := cost(func() {
				for h := range w.loop(f, top) {
					got = append(got, h)
					next := handle(0)
					if i := int(h.Index()); i < n {
						next = hs[i]
					}
					body(p, f, h, next, len(got))
				}
			})
			for i, h := range hs {
				if name != "and the next" || i%2 == 0 {
					want = append(want, h)
				}
			}
			assert.Equal(t, want, got, "%s, %s", w.name, name)
			assert.Less(t, looks, 40*n, "%s, %s", w.name, name)
		}
	}
}

// TestMoveClosesTheEndBehindItsNode: if the last child was removed behind the forest's back, Move of any other
// closes the gap, also of the one before it. It is refused if two are dead.
func TestMoveClosesTheEndBehindItsNode(t *testing.T) {
	for i := range 4 {
		p, f := newForest(t)
		top, hs := family(t, p, f, 5)
		p.Remove(hs[4])
		require.NoError(t, f.Move(top, hs[i]))
		want := append(append(append([]handle{}, hs[:i]...), hs[i+1:4]...), hs[i])
		assert.Equal(t, want, handles(t, f.Children(top)), "%d is moved", i)
		assert.False(t, tree.Changing(f))
		assert.Zero(t, f.Repair())
	}
	p, f := newForest(t)
	top, hs := family(t, p, f, 5)
	p.Remove(hs[4])
	p.Remove(hs[3])
	for _, h := range hs[:3] {
		require.ErrorIs(t, f.Move(top, h), tree.ErrBroken)
	}
	p, f = newForest(t)
	top, hs = family(t, p, f, 2)
	p.Remove(hs[1])
	require.NoError(t, f.Move(top, hs[0]), "the only one that lives")
	assert.False(t, tree.Changing(f))
	assert.Zero(t, f.Repair())
}

// TestScansAreMadeOnce: a parent whose child at an end is removed behind the forest's back again and again is
// scanned once, whatever else leaves, and however many such parents there are.
func TestScansAreMadeOnce(t *testing.T) {
	const n, parents = 500, 20
	for name, put := range map[string]func(f *tree.Forest[node], parent, last, h handle) error{
		"Append":  func(f *tree.Forest[node], parent, _, h handle) error { return f.Append(parent, h) },
		"Prepend": func(f *tree.Forest[node], parent, _, h handle) error { return f.Prepend(parent, h) },
		"Move":    func(f *tree.Forest[node], parent, _, h handle) error { return f.Move(parent, h) },
		"Move of the last, and Append": func(f *tree.Forest[node], parent, last, h handle) error {
			if _, ok := f.LastChild(parent); !ok { // it is dead
				require.NoError(t, f.Move(parent, last))
			}
			return f.Append(parent, h)
		},
	} {
		p, f, cost := counted()
		var tops []handle
		var hs [][]handle
		for range parents {
			top, kids := family(t, p, f, n)
			tops, hs = append(tops, top), append(hs, kids)
		}
		looks := cost(func() {
			for i := range n {
				for j, top := range tops {
					h, more, last := add(t, p, 1), add(t, p, 2), hs[j][n-1]
					require.NoError(t, put(f, top, last, h))
					require.NoError(t, put(f, top, last, more))
					if i%2 == 0 {
						f.Remove(more)
					} else {
						require.NoError(t, f.Detach(more))
					}
					require.True(t, p.Remove(h), "it should be live")
					known, kept := tree.Ends(f)
					require.LessOrEqual(t, known, 2*kept+16)
				}
			}
		})
		assert.Less(t, looks, parents*(4*n+100*n), name)
		for i, top := range tops {
			require.NoError(t, put(f, top, hs[i][n-1], add(t, p, 3)))
			require.Len(t, handles(t, f.Children(top)), len(hs[i])+1)
		}
		assert.Zero(t, f.Repair())
		for i, top := range tops { // their lists change once more
			require.True(t, p.Remove(top), "it should be live")
			f.Remove(hs[i][0])
		}
	}
}

// TestEndsOfDeadParentsAreForgotten: what a Forest remembers does not grow with the parents that have come and gone.
func TestEndsOfDeadParentsAreForgotten(t *testing.T) {
	p, f := newForest(t)
	for range 200 {
		top, kids := family(t, p, f, 3)
		p.Remove(kids[2])
		require.NoError(t, f.Append(top, add(t, p, 1)))
		known, _ := tree.Ends(f)
		require.Positive(t, known)
		require.LessOrEqual(t, known, 16)
		f.Remove(top)
	}
}

// TestEndsThatAreOutOfDate: what a Forest remembers of the ends of a list is no place for a node if the sibling there
// has left, or if another Forest has put a node between.
func TestEndsThatAreOutOfDate(t *testing.T) {
	remembered := func() (*pool.Pool[node], *tree.Forest[node], handle, handle, handle) {
		p, f := newForest(t)
		top, kids := family(t, p, f, 2)
		p.Remove(kids[1])
		h := add(t, p, 1)
		require.NoError(t, f.Append(top, h))
		return p, f, top, kids[0], h
	}
	p, f, top, first, last := remembered()
	p.Remove(last)
	f.Remove(first)
	h := add(t, p, 2)
	require.NoError(t, f.Append(top, h))
	assert.Equal(t, []handle{h}, handles(t, f.Children(top)))
	assert.Zero(t, f.Repair())

	p, f, top, first, last = remembered()
	between, h := add(t, p, 2), add(t, p, 3)
	require.NoError(t, tree.New(p, linksOf).InsertAfter(first, between))
	p.Remove(last)
	require.NoError(t, f.Append(top, h))
	assert.Equal(t, []handle{first, between, h}, handles(t, f.Children(top)))
	assert.Zero(t, f.Repair())
}
