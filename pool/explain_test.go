package pool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// handle makes one that a pool need not have issued.
func handle(index, generation uint64) pool.Handle[int] {
	return pool.Handle[int](generation<<32 | index)
}

// requireExplained requires that Explain's first line is h and the text.
func requireExplained(t *testing.T, p *pool.Pool[int], h pool.Handle[int], format string, args ...any) {
	t.Helper()
	require.Equal(t, h.String()+" "+fmt.Sprintf(format, args...), testkit.FirstLine(p.Explain(h)))
}

// Explain has a text for every handle, whatever state its slot is in.
func TestExplainTellsEveryState(t *testing.T) {
	const origin = 101
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[int]{Shards: 1, Reuse: reuse, Origin: origin, Capacity: 2})
		slots := p.Stats().Allocated // under FIFO, before anything was inserted
		for _, beyond := range []uint64{uint64(slots), 900} {
			requireExplained(t, p, handle(beyond, origin), "was never issued by this pool, which has memory for %d slots", slots)
		}

		hs := testkit.Fill(t, p, 2, testkit.Number)
		h := hs[0]
		i := uint64(h.Index())
		requireExplained(t, p, h, "is live")
		requireExplained(t, p, 0, "is the zero Handle, which names nothing")
		requireExplained(t, p, handle(i, origin+1), "is malformed: generations are odd, and end at %d", uint32(testkit.LastGeneration))
		requireExplained(t, p, handle(i, 1<<32-1), "is malformed: generations are odd, and end at %d", uint32(testkit.LastGeneration))
		requireExplained(t, p, handle(i, origin-2), "was never issued by this pool: the generations of its slot begin at %d", origin)
		requireExplained(t, p, handle(i, origin+2), "was never issued by this pool: its slot has come to generation %d", origin)

		require.True(t, p.Remove(h), "the value should be live")
		requireExplained(t, p, h, "is stale: removed or cancelled. Its slot is vacant")
		requireExplained(t, p, handle(i, origin+2), "is not live: it is the next handle of its slot, issued at most to a Reservation or a constructor")
		requireExplained(t, p, handle(i, origin+4), "was never issued by this pool: its slot has come to generation %d", origin+1)

		// Until the slot comes round again.
		again := pool.Handle[int](0)
		for again = testkit.MustInsert(t, p, 1); again.Index() != h.Index(); again = testkit.MustInsert(t, p, 1) {
			require.True(t, p.Remove(again), "the value should be live")
		}
		requireExplained(t, p, h, "is stale: removed or cancelled. Its slot was reused and is live as %v", again)
		require.Equal(t, 2, p.Clear())
	}
}

// A value that was removed and that a Ref or a guard keeps.
func TestExplainTellsWhatKeepsASlot(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: 101, Capacity: 2})
	h := testkit.Fill(t, p, 2, testkit.Number)[0]
	first, second := mustHold(t, p, h), mustHold(t, p, h)
	requireExplained(t, p, h, "is live")
	require.True(t, p.Remove(h), "the value should be live")
	requireExplained(t, p, h, "is stale: removed or cancelled. Its slot is kept by 2 Refs")
	first.Release()
	requireExplained(t, p, h, "is stale: removed or cancelled. Its slot is kept by 1 Ref")
	second.Release()
	g := p.Pin()
	requireExplained(t, p, h, "is stale: removed or cancelled. Its slot is vacant, or waits for guards; pinned now: 1")
	g.Unpin()
	requireExplained(t, p, h, "is stale: removed or cancelled. Its slot is vacant")
}

// Slots that were never used, that are being filled, that are exhausted, or that have no memory.
func TestExplainKnowsOtherSlots(t *testing.T) {
	const next, stale = "is not live: it is the next handle of its slot, issued at most to a Reservation or a constructor", "is stale: removed or cancelled. Its slot "
	p := tiny(t, &pool.Options[int]{Shards: 1, Origin: 101, Capacity: 4, Preallocate: true})
	for i := range uint64(4) {
		requireExplained(t, p, handle(i, 101), next)
		requireExplained(t, p, handle(i, 103), "was never issued by this pool: its slot has come to generation 100")
		requireExplained(t, p, handle(i, 99), "was never issued by this pool: the generations of its slot begin at 101")
	}
	r := mustReserve(t, p)
	requireExplained(t, p, r.Handle(), next)
	r.Cancel()
	requireExplained(t, p, r.Handle(), stale+"is vacant")
	_, err := p.InsertFunc(func(h pool.Handle[int], _ *int) { requireExplained(t, p, h, next) })
	require.NoError(t, err)

	p = tiny(t, &pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration, Capacity: 1})
	last := testkit.MustInsert(t, p, 1)
	requireExplained(t, p, last, "is live")
	require.True(t, p.Remove(last), "the value should be live")
	for range 2 { // waiting, and exhausted
		requireExplained(t, p, last, stale+"has used up its generations and is never reused")
		testkit.RequireReclaimed(t, p)
	}

	for _, origin := range []uint32{1, 0} { // with 0, each slot has an origin of its own
		p = pool.Must(&pool.Options[int]{Origin: origin, Shards: 1})
		hs := testkit.Fill(t, p, 4096, testkit.Number)
		p.RemoveBatch(hs)
		require.Positive(t, p.Trim())
		for _, h := range hs {
			requireExplained(t, p, h, stale+"has no memory now, since Trim gave it back")
			requireExplained(t, p, h+2<<32, stale+"has no memory now, since Trim gave it back")
			requireExplained(t, p, h+4<<32, "was never issued by this pool: its slot has come to generation %d", h.Generation()+3)
		}
	}
}

// TestExplainOpenCountsWhatWasDropped, beside what is open.
func TestExplainOpenCountsWhatWasDropped(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 1})
	r := mustHold(t, p, testkit.MustInsert(t, p, 1))
	testkit.Apart(func() {
		for range 2 {
			mustReserve(t, p)
			_, err := p.Worker().Insert(1)
			assert.NoError(t, err)
		}
	})
	testkit.Eventually(t, func() bool { st := p.Stats(); return st.Reserved+st.Workers == 0 }, "all that was dropped")
	require.Equal(t, "1 Ref open", testkit.FirstLine(p.ExplainOpen()))
	require.Contains(t, p.ExplainOpen(), "\n4 dropped and left to the garbage collector")
	r.Release()
	require.Equal(t, "4 dropped and left to the garbage collector", testkit.FirstLine(p.ExplainOpen()))
}

// While the words change, Explain describes one state that was there.
func TestExplainWhileSlotsChange(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Shards: 2})
	var shown atomic.Uint64
	testkit.Together(2, func(k int) {
		for i := range testkit.Long(10_000) {
			if h := pool.Handle[int](shown.Load()); k == 0 && h != 0 {
				text := testkit.FirstLine(p.Explain(h))
				assert.Regexp(t, "^"+h.String()+" is (live|stale)", text)
				p.ExplainOpen()
			} else if k == 1 {
				h := testkit.MustInsert(t, p, i)
				shown.Store(uint64(h))
				p.Remove(h)
				assert.True(t, strings.HasPrefix(p.Explain(h), h.String()+" is stale"), "Explain should call the handle stale")
			}
		}
	})
}
