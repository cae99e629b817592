//go:build !race

package tree_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestReaderPinsOnce: all that a Reader does is under one pin, which holds what it gave.
func TestReaderPinsOnce(t *testing.T) {
	p, f := newForest(t)
	top, kids := family(t, p, f, 3)
	r := f.Pin()
	assert.Equal(t, 1, p.Stats().Pinned)
	for h, n := range r.Children(top) {
		assert.Equal(t, 1, p.Stats().Pinned)
		f.Remove(h)
		add(t, p, 99)
		assert.Equal(t, h, n.Self, "%v is held", h)
	}
	for _, w := range allWalks {
		handles(t, w.loop(&r, top))
	}
	assert.Equal(t, -1, r.Depth(kids[0]))
	assert.Equal(t, 1, p.Stats().Pinned)
	r.Unpin()
	assert.Zero(t, p.Stats().Pinned)
}

// TestPhaseNeitherPinsNorHolds: in a phase no removal waits for the Reader, and its loops keep their
// promise although the body removes what they stand on, and inserts into the same slots.
func TestPhaseNeitherPinsNorHolds(t *testing.T) {
	for _, w := range allWalks {
		p, f := newForest(t)
		top, kids := family(t, p, f, 40)
		r := f.Phase()
		var got []handle
		for h := range w.loop(&r, top) {
			assert.Zero(t, p.Stats().Pinned)
			got = append(got, h)
			switch h.Index() % 3 {
			case 0:
				f.Remove(h)
				_ = f.Prepend(top, add(t, p, 1)) // fails beside a dead node
			case 1:
				p.Remove(h) // behind the forest's back
				add(t, p, 1)
			}
		}
		assert.Equal(t, kids, got, w.name)
		r.Unpin()
	}
}

// TestRootsOfReaders: a Reader finds the roots that its Forest has, pinned or in a phase.
func TestRootsOfReaders(t *testing.T) {
	p, f := newForest(t)
	family(t, p, f, 3)
	family(t, p, f, 0)
	want := maps.Collect(f.Roots())
	require.Len(t, want, 2)
	pinned := f.Pin()
	require.Equal(t, want, maps.Collect(pinned.Roots()))
	pinned.Unpin()
	phase := f.Phase()
	require.Equal(t, want, maps.Collect(phase.Roots()))
	phase.Unpin()
}

// TestReaderMisusePanics: a Reader that is not pinned panics in every verb, and in loops made before.
func TestReaderMisusePanics(t *testing.T) {
	p, f := newForest(t)
	h := add(t, p, 1)
	pinned, phase := f.Pin(), f.Phase()
	loop := pinned.Children(h)
	pinned.Unpin()
	phase.Unpin()
	var zero tree.Reader[node]
	for _, r := range []*tree.Reader[node]{&zero, &pinned, &phase} {
		must := func(do func()) {
			t.Helper()
			assert.PanicsWithValue(t, tree.ErrTexts.Unpinned, do)
		}
		must(r.Unpin)
		must(func() { r.Depth(h) })
		for _, nb := range neighbours {
			must(func() { nb.find(r, h) })
		}
		for _, w := range allWalks {
			must(func() { handles(t, w.loop(r, h)) })
		}
		must(func() { handles(t, r.Ancestors(h)) })
		must(func() { handles(t, r.Roots()) })
		must(func() { handles(t, loop) })
	}
	var none tree.Forest[node]
	assert.PanicsWithValue(t, tree.ErrTexts.Zero, func() { none.Pin() })
	assert.PanicsWithValue(t, tree.ErrTexts.Zero, func() { none.Phase() })
}

// TestReaderAllocatesNothing: neither pinned nor in a phase.
func TestReaderAllocatesNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("pools allocate records")
	}
	p, f := newForest(t)
	top, kids := family(t, p, f, 20)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		pinned, phase := f.Pin(), f.Phase()
		for _, r := range []*tree.Reader[node]{&pinned, &phase} {
			for range r.Children(top) {
			}
			for range r.Descendants(top) {
			}
			for range r.PostOrder(top) {
			}
			for range r.Ancestors(kids[3]) {
			}
			for range r.Roots() {
			}
			r.Depth(kids[0])
			r.Parent(kids[0])
			r.Next(kids[0])
		}
		pinned.Unpin()
	}))
}

// far is a value whose links lie elsewhere, as those of a Pool[*T] do.
type far = *farNode

type farNode struct {
	links tree.Links[far]
	n     int
}

// TestLinksOutsideTheValue: the function that finds links is called for each value, if it leads out of
// the value.
func TestLinksOutsideTheValue(t *testing.T) {
	p := pool.Must(&pool.Options[far]{Origin: 1, Shards: 1})
	f := tree.New(p, func(v *far) *tree.Links[far] { return &(*v).links })
	insert := func(n int) pool.Handle[far] {
		h, err := p.Insert(&farNode{n: n})
		require.NoError(t, err)
		return h
	}
	top := insert(0)
	for n := range 50 {
		require.NoError(t, f.Append(top, insert(n+1)))
	}
	sum := 0
	for h, v := range f.Children(top) {
		sum += (*v).n
		up, ok := f.Parent(h)
		require.True(t, ok, "each child should have a parent")
		require.Equal(t, top, up)
		f.Remove(h)
	}
	assert.Equal(t, 50*51/2, sum)
	assert.Equal(t, 1, f.Remove(top))
}

// TestLinksOfAnotherForestInTheValue: a forest whose links lie elsewhere follows no others that the value has.
func TestLinksOfAnotherForestInTheValue(t *testing.T) {
	type both struct {
		inside  tree.Links[both]
		outside *tree.Links[both]
	}
	p := pool.Must[both](nil)
	inside := tree.New(p, func(v *both) *tree.Links[both] { return &v.inside })
	outside := tree.New(p, func(v *both) *tree.Links[both] { return v.outside })
	hs := testkit.Fill(t, p, 4, func(int) both { return both{outside: new(tree.Links[both])} })
	for i, f := range []*tree.Forest[both]{inside, outside} {
		require.NoError(t, f.Append(hs[0], hs[1]))
		require.NoError(t, f.Append(hs[0], hs[2+i]))
	}
	for f, want := range map[*tree.Forest[both]]pool.Handle[both]{inside: hs[2], outside: hs[3]} {
		var got []pool.Handle[both]
		for h := range f.Children(hs[0]) {
			got = append(got, h)
		}
		require.Equal(t, []pool.Handle[both]{hs[1], want}, got)
	}
}

// TestLinksOfSmallValues: a value that is smaller than its links has them elsewhere, also if they lie behind it.
func TestLinksOfSmallValues(t *testing.T) {
	var links [3]tree.Links[int]
	p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
	f := tree.New(p, func(v *int) *tree.Links[int] { return &links[*v] })
	var hs []pool.Handle[int]
	for i := range links {
		h, err := p.Insert(i)
		require.NoError(t, err)
		hs = append(hs, h)
	}
	require.NoError(t, f.Append(hs[0], hs[1]))
	require.NoError(t, f.Append(hs[0], hs[2]))
	next, ok := f.Next(hs[1])
	require.True(t, ok)
	require.Equal(t, hs[2], next)
}

// TestLinksInTheValueAreFoundOnce: New asks where they are, and nobody asks again, also if they are all of the value.
func TestLinksInTheValueAreFoundOnce(t *testing.T) {
	type all struct{ Links tree.Links[all] }
	calls := 0
	p := pool.Must(&pool.Options[all]{Origin: 1, Shards: 1})
	f := tree.New(p, func(v *all) *tree.Links[all] { calls++; return &v.Links })
	one, err := p.InsertFunc(func(pool.Handle[all], *all) {})
	require.NoError(t, err)
	other, err := p.InsertFunc(func(pool.Handle[all], *all) {})
	require.NoError(t, err)
	require.NoError(t, f.Append(one, other))
	require.Equal(t, 1, calls)
}
