//go:build !race

package pool_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// counters are 64-bit atomics. On 32-bit platforms a stack has no place for them, so a variable
// of that type, or a zero that is assigned to one, is allocated.
type counters struct{ hits, misses atomic.Int64 }

// linked is counters with a pointer, so that reclaiming zeroes it.
type linked struct {
	counters
	_ *counters
}

// Building and reclaiming a value of 64-bit atomics allocates nothing, on 32 bits too.
func TestAlignedValueIsClearedInPlace(t *testing.T) {
	if testkit.Watched {
		t.Skip("records allocate")
	}
	for _, reuse := range testkit.Reuses {
		testAlignedValue[counters](t, reuse, func(v *counters) *counters { return v })
		testAlignedValue[linked](t, reuse, func(v *linked) *counters { return &v.counters })
	}
}

func testAlignedValue[T any](t *testing.T, reuse pool.Reuse, in func(*T) *counters) {
	p := pool.Must(&pool.Options[T]{Capacity: 64, Preallocate: true, Reuse: reuse})
	w := p.Worker()
	defer w.Close()
	clean := true
	init := func(_ pool.Handle[T], v *T) {
		c := in(v)
		clean = clean && c.hits.Load() == 0 && c.misses.Load() == 0
		c.hits.Store(1)
		c.misses.Store(2)
	}
	ok := func(h pool.Handle[T], err error) pool.Handle[T] {
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	name := fmt.Sprintf("%T, %s", *new(T), testkit.NameOf(reuse))
	require.Zero(t, testing.AllocsPerRun(500, func() {
		require.True(t, p.Remove(ok(p.InsertFunc(init))), "the value should be live")
		require.True(t, w.Remove(ok(w.InsertFunc(init))), "the value should be live")
		require.Equal(t, 1, p.RemoveBatch([]pool.Handle[T]{ok(p.InsertFunc(init))}))
	}), name)
	require.True(t, clean, "%s: InsertFunc found a value that is not zero", name)
}
