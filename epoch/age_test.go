package epoch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
)

// TestAgeOfAForgottenGuardGrows: it does without a call of Age, if others retire and scan, and
// while no other guard is pinned, so that the epoch stays.
func TestAgeOfAForgottenGuardGrows(t *testing.T) {
	d := epoch.New()
	require.Zero(t, d.Age(d.Scan()), "no guard")
	before := time.Now()
	g := d.Pin()
	for range 2 {
		d.Retire()
		d.Scan()
	}
	found := time.Now()
	for range 3 {
		time.Sleep(time.Millisecond)
		d.Scan()
		least := time.Since(found)
		age := d.Age(d.Scan())
		require.GreaterOrEqual(t, age, least)
		require.LessOrEqual(t, age, time.Since(before))
	}
	young := d.Pin()
	require.GreaterOrEqual(t, d.Age(d.Scan()), 3*time.Millisecond, "of the oldest")
	begin := time.Now()
	g.Unpin()
	require.LessOrEqual(t, d.Age(d.Scan()), time.Since(begin), "of the young one")
	young.Unpin()
	require.Zero(t, d.Age(d.Scan()))
}

// TestNoGuardIsOlderThanItsPin: however many goroutines pin, retire and scan meanwhile, and
// though guards of one epoch come and go.
func TestNoGuardIsOlderThanItsPin(t *testing.T) {
	d := epoch.New()
	testkit.Together(4, func(k int) {
		for i := range testkit.Long(20_000) {
			begin := time.Now()
			g := d.Pin()
			if i%64 == k {
				d.Retire()
			}
			if p := d.Scan(); i%16 == 0 {
				p.Oldest = g.Epoch()
				assert.LessOrEqual(t, d.Age(p), time.Since(begin))
			}
			g.Unpin()
		}
	})
}
