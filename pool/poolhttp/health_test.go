//go:build !race

package poolhttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

func TestHealthTellsWhatToDo(t *testing.T) {
	for _, c := range []struct {
		st     pool.Stats
		colour string
		advice string
	}{
		{pool.Stats{MaxLimbo: 10, Limbo: 5, Pinned: 1, PinAge: time.Minute}, "", ""},
		{pool.Stats{MaxLimbo: 10, Limbo: 9}, "", ""}, // they wait for a batch, and nothing delays them
		{pool.Stats{MaxLimbo: 10, Limbo: 6, Held: 1}, "", ""},
		{pool.Stats{MaxLimbo: 10, Limbo: 6, Pinned: 1}, "", ""},
		{pool.Stats{MaxLimbo: 10, Limbo: 6, Held: 5}, "", ""},
		{pool.Stats{MaxLimbo: 10, Limbo: 6, Pinned: 1, PinAge: time.Second}, "amber", "6 removed slots wait, and with 10 insertions may be refused: unpin guards and release Refs sooner."},
		{pool.Stats{MaxLimbo: 10, Limbo: 6, Held: 6}, "amber", "6 removed slots wait, and with 10 insertions may be refused: unpin guards and release Refs sooner."},
		{pool.Stats{MaxLimbo: 10, Limbo: 6, Pinned: 1, PinAge: 90 * time.Second}, "amber", "A guard has been pinned for at least 1m30s, and no slot that was removed since is reused: unpin it, or pin anew where no pointer is in use."},
		{pool.Stats{PinAge: time.Hour, RefusedFull: 2}, "red", "Insertions were refused, 2 of late, since every slot is in use: remove values, raise Capacity, or wait with InsertWait."},
		{pool.Stats{RefusedStalled: 1000}, "red", "Insertions were refused, 1,000 of late, since removed slots wait for guards or Refs: unpin and release them, or raise the limit."},
		{pool.Stats{RefusedExhausted: 1}, "red", "Insertions were refused, 1 of late, since every slot has used up its generations: make a new pool."},
	} {
		now := sampled(noon.Add(time.Minute), c.st)
		require.Equal(t, health{c.colour, c.advice}, judge(c.st, history{sampled(noon, pool.Stats{}), now}), "%+v", c.st)
	}
}

// Red lasts for a minute, or to the next look after a longer time.
func TestRefusalsAreForgotten(t *testing.T) {
	var past history
	for i, c := range []struct {
		after   time.Duration
		refused int
		want    string
	}{
		{0, 5, ""}, // before the first look: nobody knows when
		{time.Second, 5, ""},
		{2 * time.Second, 6, "red"},
		{30 * time.Second, 6, "red"},
		{61 * time.Second, 6, "red"},
		{63 * time.Second, 6, ""},
		{200 * time.Second, 7, "red"},
		{270 * time.Second, 7, ""},
	} {
		st := pool.Stats{RefusedFull: c.refused}
		require.Equal(t, c.want, judge(st, past.add(sampled(noon.Add(c.after), st))).Colour, i)
	}
}
