//go:build !race

package command_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// TestEventsOfAFrame: a frame calls OnInsert of each insertion in order, and then OnRemove of each removal in
// order, each once, also where some of them panic or exit. Then the frame stops, and the next Apply goes on. A
// value whose OnInsert failed never lives. Events may record.
func TestEventsOfAFrame(t *testing.T) {
	for seed := range uint64(200) {
		choose := rand.New(rand.NewPCG(seed, 0)).IntN
		type event struct {
			insert bool
			id     uint64
		}
		var want, got []event
		var a, b *buffer
		live := map[handle]uint64{}
		failed := map[handle]bool{}
		late := 0
		fail := func(insert bool, h handle, v *value) {
			got = append(got, event{insert, v.number()})
			if insert {
				live[h] = v.number()
			} else {
				require.Contains(t, live, h, "seed %d", seed)
				delete(live, h)
			}
			switch choose(8) {
			case 0: // recorded for the next frame
				late++
				b.Do(func() { late-- })
			case 1, 2:
				if insert {
					failed[h] = true
					delete(live, h)
				}
				if choose(2) == 0 {
					panic("meant")
				}
				runtime.Goexit()
			}
		}
		p := pool.Must(&pool.Options[value]{Shards: 1, Capacity: 64 * choose(2),
			OnInsert: func(h handle, v *value) { fail(true, h, v) }, OnRemove: func(h handle, v *value) { fail(false, h, v) }})
		a, b = command.New(p), command.New(p)
		apply := func() (int, int) { return command.Apply(a, b) }
		told := 0
		if seed%2 == 0 {
			apply = func() (int, int) { return command.ApplyFunc(func(handle, value) { told++ }, a, b) }
		}
		var inserted []handle
		var removals [2][]int // of each buffer: which insertions
		for i := range uint64(10) {
			r := a
			if i >= 5 {
				r = b
			}
			h := mustRecord(t, r, i+1)
			inserted = append(inserted, h)
			want = append(want, event{true, i + 1})
			if choose(2) == 0 {
				k := choose(2)
				[]*buffer{a, b}[k].Remove(h)
				removals[k] = append(removals[k], int(i))
			}
		}
		called := 0
		b.Do(func() { // its place is behind the removals
			called++
			for i, h := range inserted {
				removed := slices.Contains(slices.Concat(removals[:]...), i)
				require.Equal(t, !failed[h] && !removed, p.Contains(h), "seed %d: %v when the function is called", seed, h)
			}
		})
		for a.Len()+b.Len() > 0 {
			testkit.Apart(func() { apply() })
		}
		require.Equal(t, 1, called, "seed %d", seed)
		require.Zero(t, late, "seed %d: functions that events recorded", seed)
		for _, i := range slices.Concat(removals[:]...) {
			if !failed[inserted[i]] {
				want = append(want, event{false, uint64(i + 1)})
			}
		}
		require.Equal(t, want, got, "seed %d", seed)
		if seed%2 == 0 {
			require.Equal(t, len(want)-len(inserted), told, "seed %d: values of which ApplyFunc told", seed)
		}
		require.Equal(t, len(live), p.Len(), "seed %d", seed)
		for h, id := range live {
			v, ok := p.Get(h)
			require.True(t, ok, "seed %d: %v", seed, h)
			require.Equal(t, id, v.number(), "seed %d", seed)
		}
		for p.Len() > 0 {
			testkit.Apart(func() { p.Clear() })
		}
		require.Empty(t, live, "seed %d", seed)
		testkit.RequireReclaimed(t, p)
	}
}
