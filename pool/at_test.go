//go:build !race

package pool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// At finds what is live in a slot: not what was removed, is under construction or waits, nor slots that
// there are not, or that Trim has given up.
func TestAtFindsWhatIsLive(t *testing.T) {
	for _, o := range []pool.Options[int]{{}, {Capacity: 3000, Reuse: pool.FIFO}} {
		o.Shards = 1
		p := pool.Must(&o)
		requireAt := func(index uint32, want pool.Handle[int]) {
			t.Helper()
			h, ok := p.At(index)
			require.Equal(t, want, h)
			require.Equal(t, want != 0, ok)
		}
		requireAt(0, 0)
		requireAt(1<<32-1, 0)
		r, err := p.Reserve()
		require.NoError(t, err)
		requireAt(r.Handle().Index(), 0)
		h := r.Commit()
		requireAt(h.Index(), h)
		ref := mustHold(t, p, h)
		p.Remove(h)
		requireAt(h.Index(), 0)
		ref.Release()

		hs := testkit.Fill(t, p, 3000, testkit.Number)
		for _, h := range hs {
			requireAt(h.Index(), h)
		}
		p.Clear()
		require.NoError(t, p.Synchronize(t.Context()))
		require.Positive(t, p.Trim())
		for _, h := range hs {
			requireAt(h.Index(), 0)
		}
		testkit.RequirePanicText(t, func() { new(pool.Pool[int]).At(0) }, "zero Pool")
	}
}

// Each index lies below the Capacity, and so many more as slots are exhausted.
func TestIndexesOfAPoolWithACapacity(t *testing.T) {
	const capacity, lives = 8, 5
	for _, reuse := range testkit.Reuses {
		for _, shards := range []int{1, 2} {
			p := tiny(t, &pool.Options[int]{Capacity: capacity, Shards: shards, Reuse: reuse, Origin: testkit.LastGeneration - 2*(lives-1)})
			w := p.Worker()
			for n := range 40 * capacity * lives {
				insert := p.Insert
				if n%2 == 1 {
					insert = w.Insert
				}
				h, err := insert(n)
				require.NoError(t, err)
				found, _ := p.At(h.Index())
				require.Equal(t, h, found)
				exhausted := p.Stats().Exhausted
				require.Less(t, int(h.Index()), capacity+exhausted, "of %v, n = %d", h, n)
				if n < capacity*lives/2 && reuse == pool.FIFO && shards == 1 {
					require.Zero(t, exhausted)
				}
				p.Remove(h)
			}
			w.Close()
			require.Greater(t, p.Stats().Exhausted, capacity)
		}
	}
}

// A client of a message broker names its messages by identifiers of 16 bits, none of them 0.
func ExamplePool_At() {
	messages := pool.Must(&pool.Options[string]{Capacity: 1<<16 - 1})
	h, err := messages.Insert("hello")
	if err != nil {
		return
	}
	id := uint16(h.Index() + 1) // below Capacity until a slot is exhausted: see Stats.Worn

	// The broker has got message id.
	if h, ok := messages.At(uint32(id) - 1); ok {
		fmt.Println(messages.Take(h))
	}
	_, ok := messages.At(uint32(id) - 1)
	fmt.Println(ok)
	// Output:
	// hello true
	// false
}
