package main

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// until has the subjects of r work, for ever longer until enough holds of each: beside
// other programs the first 100 ms may be too short for anything to happen.
func until(t *testing.T, r run, s spoiler, enough func(f *figures) bool) []figures {
	for each := 100 * time.Millisecond; ; each *= 4 {
		all, err := r.measure(context.Background(), each, s)
		require.NoError(t, err)
		require.Len(t, all, 3)
		if !slices.ContainsFunc(all, func(f figures) bool { return !enough(&f) }) {
			return all
		}
		require.Lessf(t, each, 10*time.Second, "too little happens: %+v", all)
	}
}

func TestRefusalsAreTrue(t *testing.T) {
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			until(t, r, nil, func(f *figures) bool {
				t.Logf("%s: %d insertions, %d refused", f.subject, f.took[insert].TotalCount(), f.refused)
				require.Zerof(t, f.false, "%s: %+v", f.subject, f.example)
				worked := true
				for _, o := range []int{insert, look, remove} {
					worked = worked && f.took[o].TotalCount() > 0
				}
				return worked && (!r.contended() || f.refused > 0) // or nothing was judged
			})
		})
	}
}

// Subjects that refuse now and then are reported, whatever the run.
func TestFalseRefusalsAreReported(t *testing.T) {
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			var n atomic.Int64
			until(t, r, func(insert func() (uint64, error)) (uint64, error) {
				if n.Add(1)%7 == 0 {
					return 0, pool.ErrFull
				}
				return insert()
			}, func(f *figures) bool {
				t.Logf("%s: %d of %d insertions were refused, %d falsely", f.subject, f.refused, f.took[insert].TotalCount(), f.false)
				return f.false > 0
			})
		})
	}
}

func TestRule(t *testing.T) {
	// Two were live from 20 to 30 and from 40 to 40.
	tenures := []span{{10, 30}, {20, 40}, {40, 50}, {60, 70}}
	for _, c := range []struct {
		from, to time.Duration
		err      error
		guards   int
		false    bool
	}{
		{0, 19, pool.ErrFull, 0, true},
		{0, 20, pool.ErrFull, 0, false},
		{25, 26, pool.ErrFull, 0, false},
		{30, 35, pool.ErrFull, 0, false},
		{31, 39, pool.ErrFull, 0, true},
		{31, 39, pool.ErrFull, 1, true},
		{31, 40, pool.ErrFull, 0, false},
		{41, 99, pool.ErrFull, 0, true},
		{0, 99, pool.ErrStalled, 0, true},
		{31, 39, pool.ErrStalled, 1, false},
		{0, 99, pool.ErrExhausted, 1, true},
	} {
		r := run{capacity: 2, guards: c.guards}
		found := r.falsely(tenures, []refusal{{span{c.from, c.to}, c.err}})
		require.Equal(t, c.false, len(found) > 0, "%+v", c)
	}
}
