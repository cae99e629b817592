//go:build interleave

package explore_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
)

// Documentation says how many locked instructions an operation costs on amd64, where release
// stores are none. One more is easily added, and hardly shows in a benchmark. Now and then an
// operation does more: it seals, reclaims or takes slots. So the cheapest of some counts.
func TestInterleaveLockedInstructionsOfAnOperation(t *testing.T) {
	CopyWithoutPin(true)
	locked := regexp.MustCompile(`(?m)^ *\d+ A +(Store|Add|Swap|CAS|And|Or|Lock|Unlock) `)
	lifo, fifo := Must[val](nil), Must(&Options[val]{Reuse: FIFO})
	w := lifo.Worker()
	var h Handle[val]
	var ok bool
	for _, op := range []struct {
		name          string
		before, count func()
		want          int
	}{
		{"Insert", func() { lifo.Remove(h) }, func() { h, _ = lifo.Insert(val{}) }, 1},
		{"Get", func() {}, func() { _, ok = lifo.Get(h) }, 0},
		{"Contains", func() {}, func() { ok = lifo.Contains(h) }, 0},
		{"Remove", func() { h, _ = lifo.Insert(val{}) }, func() { ok = lifo.Remove(h) }, 2},
		{"Pin and Unpin", func() {}, func() { g := lifo.Pin(); g.Unpin() }, 1},
		{"Insert, FIFO", func() { fifo.Remove(h) }, func() { h, _ = fifo.Insert(val{}) }, 1},
		{"Remove, FIFO", func() { h, _ = fifo.Insert(val{}) }, func() { ok = fifo.Remove(h) }, 2},
		{"Insert, Worker", func() { w.Remove(h) }, func() { h, _ = w.Insert(val{}) }, 0},
		{"Remove, Worker", func() { h, _ = w.Insert(val{}) }, func() { ok = w.Remove(h) }, 1},
	} {
		least := 99
		for range 32 {
			op.before()
			ok = true
			record, err := interleave.Replay(func(r *interleave.Run) { r.Go("A", 0, func(*interleave.Thread) { op.count() }) }, nil)
			require.NoError(t, err)
			require.True(t, ok, op.name)
			least = min(least, len(locked.FindAllString(record, -1)))
		}
		assert.Equal(t, op.want, least, op.name)
	}
}
