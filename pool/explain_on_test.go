//go:build coatcheck_debug && !interleave

package pool_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/storm"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/internal/trace"
)

// creator and ender are the functions that stacks must name.
func creator(f func() pool.Handle[int]) pool.Handle[int] { return f() }
func ender(f func())                                     { f() }

// paragraphs splits an explanation into its head line and the story of each
// event, which begins at the left margin.
func paragraphs(text string) (parts []string) {
	for line := range strings.Lines(text) {
		if line[0] == '\t' {
			parts[len(parts)-1] += line
		} else {
			parts = append(parts, line)
		}
	}
	return parts
}

// requireStory requires that a story begins with what was done, and goes on with
// the verb that did it and the function that called the verb.
func requireStory(t *testing.T, story, did, verb, who string) {
	t.Helper()
	require.Truef(t, strings.HasPrefix(story, did+" at "), "want %q: %s", did, story)
	if verb == "" {
		require.Contains(t, story, "by the garbage collector")
		return
	}
	calls := strings.Split(story, "\n\t")
	require.Contains(t, calls[1], "(*")
	require.Contains(t, calls[1], "[...])."+verb)
	require.Contains(t, story, "coatcheck/pool_test."+who+"\n")
	require.Contains(t, story, "explain_on_test.go:")
	require.LessOrEqual(t, strings.Count(story, "coatcheck/pool."), 1, "one call inside the pool: %s", story)
}

// Explain names who inserted a value and who removed it, by whichever verbs.
func TestExplainNamesInserterAndRemover(t *testing.T) {
	removes := removers[int]()
	delete(removes, "Ptr.Remove") // it is Remove of its pool
	// Here the compiler names the loop after this function.
	removes["Drain"] = func(p *pool.Pool[int], _ *pool.Worker[int], _ []pool.Handle[int]) {
		for range p.Drain() {
		}
	}
	for _, opts := range []*pool.Options[int]{
		{},
		{Reuse: pool.FIFO},                   // Workers go past their bags
		{Origin: testkit.LastGeneration},     // so does a slot's last life
		{Reset: func(*int) {}, Capacity: 20}, // and a Take under Reset
		{Capacity: 1000, Preallocate: true, Shards: 1}, // Workers with few slots
	} {
		p := tiny(t, opts)
		w := p.Worker()
		for range 100 { // until the Worker has slots ready, where it keeps any
			h, err := w.Insert(1)
			require.NoError(t, err)
			w.Remove(h)
		}
		for inserts, insert := range inserters[int]() {
			did := "inserted"
			if inserts == "Commit" {
				did = "committed"
			}
			for removes, remove := range removes {
				h := creator(func() pool.Handle[int] {
					h, err := insert(p, w, 1)
					require.NoError(t, err)
					return h
				})
				parts := paragraphs(p.Explain(h))
				require.Len(t, parts, 2)
				require.Equal(t, h.String()+" is live\n", parts[0])
				requireStory(t, parts[1]+"\n", did, strings.TrimPrefix(inserts, "Worker."), "creator")

				ender(func() { remove(p, w, []pool.Handle[int]{h}) })
				parts = paragraphs(p.Explain(h))
				require.Len(t, parts, 3)
				require.Contains(t, parts[0], "is stale")
				requireStory(t, parts[1], did, strings.TrimPrefix(inserts, "Worker."), "creator")
				requireStory(t, parts[2]+"\n", "removed", strings.TrimPrefix(removes, "Worker."), "ender")
			}
		}
		w.Close()
		if opts.Origin == 0 {
			testkit.RequireReclaimed(t, p)
		}
	}
}

// A removal that does nothing leaves no record: the record of the one that succeeded stays, and
// MustGet tells it.
func TestExplainNamesTheOneRemover(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
	h := testkit.MustInsert(t, p, 1)
	ender(func() { p.Remove(h) })
	before := paragraphs(p.Explain(h))[2]
	w := p.Worker()
	p.Remove(h)
	p.Take(h)
	p.RemoveBatch([]pool.Handle[int]{h})
	p.Clear()
	w.Remove(h)
	w.Take(h)
	w.Close()
	after := paragraphs(p.Explain(h))
	require.Len(t, after, 3)
	requireStory(t, after[2], "removed", "Remove", "ender")
	when := func(story string) string { at, _, _ := strings.Cut(story, " ("); return at }
	require.Equal(t, when(before), when(after[2]))
	testkit.RequirePanicText(t, func() { p.MustGet(h) }, "pool: MustGet: handle "+h.String()+" is not live", "is stale", "\nremoved at ",
		"coatcheck/pool.(*Pool[...]).Remove\n", "coatcheck/pool_test.ender\n")
}

// Lives that never began have records too.
func TestExplainTellsCancelledLives(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
	var r *pool.Reservation[int]
	h := creator(func() pool.Handle[int] { r, _ = p.Reserve(); return r.Handle() })
	requireStory(t, paragraphs(p.Explain(h))[1], "reserved", "Reserve", "creator")
	ender(r.Cancel)
	parts := paragraphs(p.Explain(h))
	requireStory(t, parts[1], "reserved", "Reserve", "creator")
	requireStory(t, parts[2]+"\n", "cancelled", "Cancel", "ender")

	ender(func() {
		testkit.Apart(func() { _, _ = p.InsertFunc(func(k pool.Handle[int], _ *int) { h = k; panic("no") }) })
	})
	parts = paragraphs(p.Explain(h))
	require.Len(t, parts, 2)
	require.Contains(t, parts[1], "given up, because the constructor or OnInsert failed, at ")
	require.Contains(t, parts[1], "InsertFunc")

	testkit.Apart(func() { r, _ := p.Reserve(); h = r.Handle() })
	testkit.Eventually(t, func() bool { return p.Stats().Dropped == 1 }, "dropped")
	testkit.Eventually(t, func() bool { return len(paragraphs(p.Explain(h))) == 3 }, "recorded")
	requireStory(t, paragraphs(p.Explain(h))[2], "dropped, and given back", "", "")
	story := "1 dropped and left to the garbage collector\n\t" + h.String() + ", reserved at "
	testkit.Eventually(t, func() bool { return strings.HasPrefix(p.ExplainOpen(), story) }, "told")
}

// The last lives of a slot are on record, and only those.
func TestExplainRemembersTheLastLives(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Capacity: 1})
	hs := make([]pool.Handle[int], 3*trace.Kept)
	for i := range hs {
		hs[i] = testkit.MustInsert(t, p, i)
		require.True(t, p.Remove(hs[i]), "the value should be live")
	}
	for i, h := range hs {
		parts := paragraphs(p.Explain(h))
		if i < len(hs)-trace.Kept {
			require.Len(t, parts, 2)
			require.Equal(t, "its removal is not on record: only the last 4 lives of each slot are", parts[1])
		} else {
			require.Len(t, parts, 3)
		}
	}
}

func TestGuardMisuseTellsWhoUnpinned(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
	g := p.Pin()
	var copied pool.Guard[int]
	copyGuard(&copied, &g)
	ender(func() { g.Unpin() })
	for _, f := range []func(){g.Unpin, copied.Unpin, func() { g.Pointer(1) }} {
		testkit.RequirePanicText(t, f, "pool: ", "not pinned", "\npinned at ", "TestGuardMisuseTellsWhoUnpinned\n",
			"\nunpinned at ", "coatcheck/pool_test.ender\n")
	}
}

// Many goroutines make and read records at once.
func TestRecordsInAStorm(t *testing.T) {
	set := storm.Setup{Options: storm.Options{Shards: 2, Origin: 1}, Hands: 4, Workers: 2}
	w := storm.Raise(t, set, storm.Plains, nil)
	w.Crew(set, (*storm.Actor[storm.Plain]).Step)
	p := w.Pool.(*pool.Pool[storm.Plain])
	w.Hands(1, func(a *storm.Actor[storm.Plain]) {
		p.ExplainOpen()
		h := pool.Handle[storm.Plain](a.Uint64N(16) | (2*a.Uint64N(64)+1)<<32)
		if text := p.Explain(h); !strings.HasPrefix(text, h.String()+" ") {
			a.Failf("%v: %s", h, text)
		}
	})
	w.Run(storm.Least{storm.Inserted: 2000, storm.Removed: 2000})
	w.Finish()
	// What the storm dropped may be told of. Nothing is open.
	testkit.Eventually(t, func() bool {
		open := p.ExplainOpen()
		return open == "" || strings.Contains(testkit.FirstLine(open), " dropped and left to the garbage collector")
	}, "open: %s", p.ExplainOpen())
}

// A write through a pointer that was kept beyond its guard is noticed when the slot is claimed
// again, by whichever verb, and told with the value's story.
func TestWriteAfterUnpinIsTold(t *testing.T) {
	testWriteAfterUnpin(t, 7)
	testWriteAfterUnpin(t, new(int))
}

func testWriteAfterUnpin[T any](t *testing.T, wrong T) {
	for name, insert := range inserters[T]() {
		for _, reuse := range testkit.Reuses {
			for _, byWorker := range []bool{false, true} {
				p := pool.Must(&pool.Options[T]{Capacity: 128, Shards: 1, Reuse: reuse})
				w := p.Worker()
				hs := testkit.Fill(t, p, 128, func(int) T { var zero T; return zero })
				g := p.Pin()
				v, ok := g.Pointer(hs[70])
				require.True(t, ok, "the value should be live")
				for _, h := range hs {
					remove := p.Remove
					if byWorker {
						remove = w.Remove
					}
					require.True(t, remove(h), "the value should be live")
				}
				g.Unpin()
				if byWorker {
					w.Flush()
				}
				require.NoError(t, p.Synchronize(t.Context()))
				*v = wrong
				full := false
				testkit.RequirePanicText(t, func() {
					for !full {
						_, err := insert(p, w, wrong)
						full = err != nil
					}
				}, "pool: a value was written to after its slot was reclaimed", "it was the value of "+hs[70].String(), "\nremoved at ")
				require.False(t, full, name)
				for err := error(nil); err == nil; { // the others are as they were
					_, err = insert(p, w, wrong)
				}
				require.GreaterOrEqual(t, p.Len(), 127)
			}
		}
	}
}

// A pointer of Pool.Pointer that is used after the removal reads what no program writes, and a write
// through it is noticed when the slot is claimed again: in a pool with an Origin at once.
func TestPointerUsedAfterRemovalIsTold(t *testing.T) {
	p := pool.Must(&pool.Options[uint64]{Shards: 1, Origin: 1})
	h := testkit.MustInsert(t, p, 7)
	v, ok := p.Pointer(h)
	require.True(t, ok, "the value should be live")
	require.True(t, p.Remove(h), "the value should be live")
	require.NoError(t, p.Synchronize(t.Context()))
	require.Equal(t, uint64(0xDBDB_DBDB_DBDB_DBDB), *v)
	*v = 8
	testkit.RequirePanicText(t, func() { _, _ = p.Insert(9) },
		"pool: a value was written to after its slot was reclaimed", "it was the value of "+h.String(), "\nremoved at ")
}

// Two goroutines that use one Worker at once are told of each other. One may use it again in
// its own calls.
func TestWorkerTellsItsTwoUsers(t *testing.T) {
	p := pool.Must[int](nil)
	w := p.Worker()
	_, err := w.InsertFunc(func(pool.Handle[int], *int) {
		h, err := w.Insert(1)
		require.NoError(t, err)
		require.True(t, w.Remove(h), "the value should be live")
		for _, f := range []func(){func() { _, _ = w.Insert(1) }, func() { w.Remove(h) }, func() { w.Take(h) }, w.Flush, w.Close} {
			testkit.RequirePanicText(t, f, "pool: two goroutines use a Worker at once\nused at ",
				"InsertFunc\n", "TestWorkerTellsItsTwoUsers\n", "testkit.Apart")
		}
	})
	require.NoError(t, err)
	w.Close()
}

// Guards and Refs that are dropped are counted and named, and stay open.
func TestDroppedGuardsAndRefsAreNamed(t *testing.T) {
	p := pool.Must[int](nil)
	h := testkit.MustInsert(t, p, 1)
	creator(func() pool.Handle[int] {
		testkit.Apart(func() {
			p.Pin()
			p.Hold(h)
			g := p.Pin()
			g.Unpin()
			r, _ := p.Hold(h)
			r.Release()
			p.View(h, func(*int) {})
		})
		return 0
	})
	testkit.Eventually(t, func() bool { return p.Stats().Dropped == 2 }, "dropped")
	st := p.Stats()
	require.Equal(t, 1, st.Pinned)
	require.Equal(t, 1, st.Held)
	text := p.ExplainOpen()
	require.Contains(t, text, "2 dropped and left to the garbage collector\n\tpinned at ")
	require.Contains(t, text, "\n\t"+h.String()+", held at ")
	require.Equal(t, 2, strings.Count(text, "testkit.Apart"))
	runtime.GC()
	require.Equal(t, 2, p.Stats().Dropped)
}
