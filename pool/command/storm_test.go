package command_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// TestStormAppliesOnce lets goroutines record, apply, discard and remove at once. Every
// command is done exactly once, and no slot is lost. The schedules judge each result; here
// the race detector looks on.
func TestStormAppliesOnce(t *testing.T) {
	for _, o := range []pool.Options[value]{{}, {Capacity: 24, Shards: 1}, {Capacity: 64, Shards: 2, Reuse: pool.FIFO}} {
		var recorded, inserted, removed, told, functions, called atomic.Int64
		p := pool.Must(&o)
		a, b := command.New(p), command.New(p)
		apply := func(buffers ...*buffer) {
			i, r := command.Apply(buffers...)
			inserted.Add(int64(i))
			removed.Add(int64(r))
		}
		tell := func(h handle, v value) {
			told.Add(1)
			if v.number() != 1 {
				t.Errorf("told of %v with value %d", h, v.number())
			}
		}
		testkit.Together(4, func(k int) {
			scrap := command.New(p)
			for i := range testkit.Long(10_000) {
				if h, err := a.Insert(valueOf(1)); err == nil {
					recorded.Add(1)
					if i%4 == 0 && p.Remove(h) { // another goroutine has applied it
						removed.Add(1)
					}
					b.Remove(h)
					b.Remove(h)
				}
				if h, err := scrap.Insert(valueOf(2)); err == nil { // the removal finds nothing
					a.Remove(h)
					scrap.Discard()
				}
				switch (i + 3*k) % 16 {
				case 0:
					apply(a, b)
				case 1:
					apply(b, a)
				case 2:
					i, r := command.ApplyFunc(tell, a, b)
					inserted.Add(int64(i))
					removed.Add(int64(r))
					told.Add(-int64(r))
				case 3:
					functions.Add(1)
					a.Do(func() { called.Add(1) })
				}
			}
		})
		apply(a, b)
		require.NotZero(t, removed.Load())
		require.Equal(t, recorded.Load(), inserted.Load(), "insertions recorded, and made")
		require.Equal(t, recorded.Load(), removed.Load(), "removals recorded, and made")
		require.Zero(t, told.Load(), "values told of, less those that ApplyFunc has counted")
		require.Equal(t, functions.Load(), called.Load(), "functions recorded, and called")
		requireNoneLost(t, p)
	}
}
