package epoch_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

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
		d.Stamp()
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
				d.Stamp()
			}
			if p := d.Scan(); i%16 == 0 {
				p.Oldest = g.Epoch()
				assert.LessOrEqual(t, d.Age(p), time.Since(begin))
			}
			g.Unpin()
		}
	})
}

// TestAgeIsNeverTooHigh: another goroutine notes that an epoch has ended. An age that is computed
// meanwhile counts from no earlier note: it is at most the time since the guard was pinned.
func TestAgeIsNeverTooHigh(t *testing.T) {
	d := epoch.New()
	var done atomic.Bool
	testkit.Together(2, func(k int) {
		if k == 0 {
			for !done.Load() {
				d.Age(epoch.Pins{Oldest: d.Epoch()}) // notes each epoch that has ended
				runtime.Gosched()
			}
			return
		}
		defer done.Store(true)
		for range testkit.Long(4_000_000) {
			began := time.Now()
			g := d.Pin()
			d.Stamp()
			age := d.Age(epoch.Pins{Oldest: g.Epoch()})
			g.Unpin()
			if most := time.Since(began); age > most {
				assert.LessOrEqual(t, age, most)
				return
			}
		}
	})
}

// TestAgeIsNeverNegative: scans note the times of later guards while the age of an old one is
// computed.
func TestAgeIsNeverNegative(t *testing.T) {
	d := epoch.New()
	old := d.Pin()
	defer old.Unpin()
	d.Stamp()
	p := d.Scan()
	var done atomic.Bool
	testkit.Together(2, func(k int) {
		if k == 0 {
			for !done.Load() {
				g := d.Pin()
				d.Age(epoch.Pins{Oldest: g.Epoch()}) // each has an epoch of its own
				g.Unpin()
				runtime.Gosched()
			}
			return
		}
		defer done.Store(true)
		for range testkit.Long(8_000_000) {
			if age := d.Age(p); age < 0 {
				assert.GreaterOrEqual(t, age, time.Duration(0))
				return
			}
		}
	})
}
