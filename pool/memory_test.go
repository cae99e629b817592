package pool_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// reserve is the most slots of 16 bytes that a shard has beyond what is live: two batches
// and a range of slots that were never used, what Workers may reach, and what it takes from
// new memory although others have slots.
const reserve = 4*64 + 32<<10/16

// Memory stays near what is live plus a bounded reserve.
func TestMemoryIsBounded(t *testing.T) {
	const live = 100
	for _, reuse := range reuses {
		for _, shards := range []int{1, 2, 8} {
			t.Run(fmt.Sprintf("%v shards=%d", reuse, shards), func(t *testing.T) {
				p := tiny(t, &pool.Options[int]{Shards: shards, Reuse: reuse})
				queue := make(chan pool.Handle[int], live)
				n := long(200_000)
				var g errgroup.Group
				var moved atomic.Int64
				g.Go(func() error {
					defer close(queue)
					for i := range n {
						h, err := p.Insert(i)
						if err != nil {
							return err
						}
						queue <- h
					}
					return nil
				})
				g.Go(func() error {
					for h := range queue {
						if !p.Remove(h) {
							return fmt.Errorf("lost %v", h)
						}
						moved.Inc()
					}
					return nil
				})
				require.NoError(t, g.Wait())
				require.EqualValues(t, n, moved.Load())
				st := requireReclaimed(t, p)
				require.LessOrEqualf(t, st.Allocated, live+2+pool.DefaultMinFree+shards*reserve, "%+v", st)
			})
		}
	}
}

// Phases of growth and emptiness reuse the same slots.
func TestMemoryDoesNotCreep(t *testing.T) {
	for _, reuse := range reuses {
		p := tiny(t, &pool.Options[int]{Shards: 2, Reuse: reuse})
		const most = 3000
		first := 0
		for round := range long(400) {
			hs := fill(t, p, most, number)
			w := p.Worker()
			for i, h := range hs {
				remove := p.Remove
				if i%2 == round%2 {
					remove = w.Remove
				}
				if !remove(h) {
					t.Fatalf("lost %v", h)
				}
			}
			w.Close()
			if round == 0 {
				first = p.Stats().Allocated
			}
		}
		require.LessOrEqual(t, p.Stats().Allocated, first+2*reserve)
	}
}

// A slot costs its value plus 8 bytes, rounded up to 8, plus at most an eighth.
func TestMemoryOfASlot(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector needs memory of its own")
	}
	testMemoryOfASlot[int](t, 16)
	testMemoryOfASlot[[2]uint64](t, 24)
	testMemoryOfASlot[[5]byte](t, 16)
	testMemoryOfASlot[struct{}](t, 8)
	testMemoryOfASlot[boxed](t, 48)
}

func testMemoryOfASlot[T any](t *testing.T, bytes uint64) {
	const n = 200_000
	before := testkit.Heap()
	p := pool.Must[T](nil)
	var v T
	for range n {
		if _, err := p.Insert(v); err != nil {
			t.Fatal(err)
		}
	}
	got := float64(testkit.Heap()-before) / n
	require.LessOrEqual(t, got, float64(bytes)*1.125, "bytes a slot of %T", v)
	require.Equal(t, n, p.Len())
}
