package tree_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// TestReadersBesideWriters walks over a tree whose pillars keep their places while other
// nodes come, go and move among them, some of them behind the forest's back. The walks see
// the pillars in order, nothing twice and no other node's value. The race detector sees the
// rest; all promises of walks are judged under all schedules.
func TestReadersBesideWriters(t *testing.T) {
	const wide = 6
	seed := testkit.Seed(t)
	p, f := newForest(t)
	// The top has pillars as children, and so has each of these.
	top, pillars := family(t, p, f, wide)
	for _, h := range slices.Clone(pillars) {
		pillars = append(pillars, addBelow(t, p, f, h, wide)...)
	}
	under := map[handle][]handle{}
	for _, h := range append(pillars, top) {
		under[h] = handles(t, f.Children(h))
	}
	var loose, removed, inserted atomic.Int64
	read := func(rnd *rand.Rand) {
		w := allWalks[rnd.IntN(len(allWalks))]
		rest := w.order(func(h handle) []handle { return under[h] }, top)
		seen := map[handle]bool{}
		for h, v := range w.loop(f, top) {
			if v.Self != h || seen[h] {
				t.Errorf("%v is yielded with the value of %v, before: %v", h, v.Self, seen[h])
			}
			seen[h] = true
			if _, pillar := under[h]; !pillar {
				loose.Add(1)
				continue
			}
			i := slices.Index(rest, h)
			if rest = rest[i+1:]; i < 0 {
				t.Errorf("%s yields %v out of order", w.name, h)
			}
		}
		if up := handles(t, f.Ancestors(pillars[wide])); len(up) != 2 || up[1] != top || f.Depth(pillars[wide]) != 2 {
			t.Errorf("ancestors %v", up)
		}
	}
	write := func(rnd *rand.Rand, mine []handle) []handle {
		parent := pillars[rnd.IntN(len(pillars))]
		if len(mine) == 0 || len(mine) < 50 && rnd.IntN(4) == 0 {
			h := add(t, p, 0)
			inserted.Add(1)
			_ = f.Append(parent, h) // fails beside a dead node
			return append(mine, h)
		}
		switch h := mine[rnd.IntN(len(mine))]; rnd.IntN(6) {
		case 0, 1:
			_ = f.Move(h, append(mine, parent, parent)[rnd.IntN(len(mine)+2)]) // may fall into a cycle
		case 2:
			_ = f.Detach(h)
			_ = f.Prepend(parent, h)
		case 3:
			_ = f.InsertAfter(parent, h)
		case 4:
			removed.Add(int64(f.Remove(h)))
		case 5:
			if rnd.IntN(10) == 0 && p.Remove(h) { // behind the forest's back
				removed.Add(1)
				runtime.Gosched()
				f.Repair()
			}
		}
		return slices.DeleteFunc(mine, func(h handle) bool { return !p.Contains(h) })
	}
	testkit.Together(4, func(k int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(k)))
		var mine []handle
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			if k < 2 {
				read(rnd)
			} else {
				mine = write(rnd, mine)
			}
		}
	})
	f.Repair()
	require.Zero(t, f.Repair())
	n := 0
	for h := range f.Roots() {
		n += 1 + len(handles(t, f.Descendants(h)))
	}
	require.Equal(t, p.Len(), n)
	require.EqualValues(t, 1+len(pillars)+int(inserted.Load()-removed.Load()), n, "each removal counts once")
	assert.Positive(t, loose.Load())
}

// TestWalksEndWhateverTheWriterDoes: the worst writer for a walk moves whatever was just
// yielded to the end of the list, or inserts a new node right before the walk, and never stops. A
// loop that removes each node that it is given visits all the others, even if the node that
// follows came there after the walk began.
func TestWalksEndWhateverTheWriterDoes(t *testing.T) {
	type writer func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error
	for name, do := range map[string]writer{
		"moves it to the end": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) error { return f.Move(h, top) },
		"appends": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			return f.Append(top, add(t, p, 1))
		},
		"inserts below": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error { return f.Append(h, add(t, p, 1)) },
		"detaches and prepends": func(_ *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			return errors.Join(f.Detach(h), f.Prepend(top, h))
		},
		"inserts beside, and removes it": func(p *pool.Pool[node], f *tree.Forest[node], top, h handle) error {
			var err error
			if next, ok := f.Next(h); ok {
				err = f.InsertAfter(next, add(t, p, 1))
			}
			if prev, ok := f.Prev(h); ok {
				err = errors.Join(err, f.InsertBefore(prev, add(t, p, 1)))
			}
			f.Remove(h)
			return err
		},
	} {
		for _, w := range allWalks {
			p, f := newForest(t)
			top, kids := family(t, p, f, 100)
			want := w.order(func(h handle) []handle { return map[handle][]handle{top: kids}[h] }, top)
			var got []handle
			for h := range w.loop(f, top) {
				got = append(got, h)
				require.LessOrEqual(t, len(got), 100)
				require.NoError(t, do(p, f, top, h))
			}
			assert.Equal(t, want, got, "%s: %s", w.name, name)
		}
	}
}
