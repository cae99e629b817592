package epoch_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
)

// pins are the two kinds of pin.
var pins = []func(*epoch.Domain) epoch.Guard{(*epoch.Domain).Pin, (*epoch.Domain).PinTransient}

// TestPinHoldsItsStamps: a guard delays the stamps of what was retired under it, and no
// others. Both kinds of guard do, also if there are more than the first cells.
func TestPinHoldsItsStamps(t *testing.T) {
	for _, pin := range pins {
		for _, others := range []int{0, 500} {
			d := epoch.New()
			guards := make([]epoch.Guard, others)
			for i := range guards {
				guards[i] = pin(d)
			}
			before := d.Stamp()
			for i := range guards {
				require.False(t, d.Expired(before), "%d guards are pinned", others-i)
				guards[i].Unpin()
			}
			g := pin(d)
			after := d.Stamp()
			require.Greater(t, after, before)
			for range 10 {
				d.Stamp()
				assert.True(t, d.Expired(before), "retired before the pin")
				assert.False(t, d.Expired(after), "retired under the pin")
			}
			last := d.Stamp()
			g.Unpin()
			assert.True(t, d.Expired(after), "the stamp should have passed")
			assert.True(t, d.Expired(last), "the stamp should have passed")
		}
	}
}

// TestStampsShareAnEpoch: stamps do not advance the epoch, and a Pin advances it once for all
// of them, so that goroutines do not contend for it. NextEpoch is the epoch of that Pin.
func TestStampsShareAnEpoch(t *testing.T) {
	d := epoch.New()
	for e := range uint64(10) {
		require.Equal(t, e, d.NextEpoch(), "nothing was stamped since")
		for range 10 {
			require.Equal(t, e, d.Stamp())
			require.Equal(t, e+1, d.NextEpoch())
		}
		require.Equal(t, e, d.Epoch())
		for range 3 {
			g := pins[e%2](d)
			require.Equal(t, e+1, d.Epoch())
			require.Equal(t, e+1, d.Scan().Oldest)
			g.Unpin()
		}
	}
}

// TestLatestIsTheGreatestStamp that was taken, whether or not a Pin has moved the epoch on since.
func TestLatestIsTheGreatestStamp(t *testing.T) {
	d := epoch.New()
	for range 3 {
		stamp := d.Stamp()
		require.Equal(t, stamp, d.Latest())
		g := d.Pin()
		require.Greater(t, g.Epoch(), stamp)
		require.Equal(t, stamp, d.Latest(), "nothing was stamped in the new epoch")
		g.Unpin()
	}
}

// TestEndEpochPartsStamps: after EndEpoch stamps are greater, with guards or without. It moves the epoch
// on once, like a Pin.
func TestEndEpochPartsStamps(t *testing.T) {
	d := epoch.New()
	for e := range uint64(10) {
		if e%2 > 0 {
			require.Equal(t, e, d.Stamp())
		}
		d.EndEpoch()
		require.Equal(t, e+1, d.Epoch())
		g := d.Pin()
		require.Equal(t, e+1, d.Scan().Oldest, "the pin found an epoch without a stamp")
		g.Unpin()
	}
	d.SetEpoch(epoch.Limit)
	d.EndEpoch()
	require.Equal(t, uint64(epoch.Limit), d.Stamp())
}

// TestPassedNeedsNoEpochWithoutGuards: without guards a grace period is over although the
// epoch stays the same.
func TestPassedNeedsNoEpochWithoutGuards(t *testing.T) {
	d := epoch.New()
	for range 3 {
		require.True(t, d.Expired(d.Stamp()), "the stamp should have passed")
		require.Zero(t, d.Epoch())
		requirePins(t, 0, epoch.NoPin, d.Scan())
	}
}

// TestBriefPinsFindCells has more guards of both kinds than there are first cells. A scan
// tells the oldest of all from the oldest of Pin's.
func TestBriefPinsFindCells(t *testing.T) {
	const n = 300
	d := epoch.New()
	var guards [2][]epoch.Guard // of Pin, and transient
	for i := range uint64(n) {
		for kind := range 2 {
			guards[kind] = append(guards[kind], pins[kind](d))
			require.Equal(t, 2*i+uint64(kind), d.Stamp())
		}
	}
	for i := range uint64(n) {
		requirePins(t, 2*n-2*int(i), 2*i, d.Scan())
		guards[0][i].Unpin()
		p := d.Scan()
		require.Equal(t, 2*i+1, p.Oldest, "a transient one")
		if i < n-1 {
			require.Equal(t, 2*i+2, p.OldestGuard)
		} else {
			require.EqualValues(t, uint64(epoch.NoPin), p.OldestGuard, "only a transient one is left")
		}
		guards[1][i].Unpin()
	}
	require.EqualValues(t, uint64(epoch.NoPin), d.Scan().Oldest)
}

func TestUnpinPanicsIfNotPinned(t *testing.T) {
	const text = "epoch: Unpin of a guard that is not pinned (unpinned before, or through a copy?)"
	d := epoch.New()
	g := d.Pin()
	theCopy := g
	g.Unpin()
	assert.PanicsWithValue(t, text, g.Unpin, "a second time")
	assert.PanicsWithValue(t, text, theCopy.Unpin, "through a copy")
	assert.False(t, theCopy.Release(), "Release does not panic")
	assert.PanicsWithValue(t, text, new(epoch.Guard).Unpin, "the zero Guard")
	assert.Zero(t, d.Scan().Count)
}

func TestZeroDomainPanics(t *testing.T) {
	const text = "epoch: Pin of a zero Domain (or Pool); make one with New"
	assert.PanicsWithValue(t, text, func() { new(epoch.Domain).Pin() })
	assert.PanicsWithValue(t, text, func() { new(epoch.Domain).PinTransient() })
}

// TestEpochStopsAtItsLimit requires that the last epoch stays, and that nothing wraps. What is
// retired in it waits for all guards, also for those that are pinned later.
func TestEpochStopsAtItsLimit(t *testing.T) {
	d := epoch.New()
	d.SetEpoch(epoch.Limit - 2)
	for _, want := range []uint64{epoch.Limit - 2, epoch.Limit - 1} {
		g := d.Pin()
		require.Equal(t, want, d.Stamp())
		require.Equal(t, want+1, d.NextEpoch())
		require.False(t, d.Expired(want), "a guard should delay the stamp")
		g.Unpin()
		require.True(t, d.Expired(want), "the stamp should have passed")
	}
	for range 3 {
		g := d.Pin()
		require.EqualValues(t, uint64(epoch.Limit), d.Stamp())
		later := d.Pin()
		g.Unpin()
		require.EqualValues(t, uint64(epoch.Limit), d.Epoch())
		require.EqualValues(t, uint64(epoch.Limit), d.NextEpoch())
		requirePins(t, 1, epoch.Limit, d.Scan())
		require.Zero(t, d.Age(d.Scan()))
		require.Zero(t, d.Age(d.Scan()), "guards of the last epoch cannot be told apart")
		require.False(t, d.Expired(epoch.Limit), "there is no later epoch")
		require.True(t, d.Expired(epoch.Limit-1), "the stamp should have passed")
		require.ErrorIs(t, d.Synchronize(testkit.Done()), context.Canceled)
		later.Unpin()
		require.True(t, d.Expired(epoch.Limit), "no guard is pinned")
		require.NoError(t, d.Synchronize(context.Background()))
	}
}

// TestCellsWord checks the arithmetic of a cell's word at its limits.
func TestCellsWord(t *testing.T) {
	for _, kind := range []uint64{epoch.Active, epoch.Active | epoch.Transient} {
		for _, e := range []uint64{0, 1, 77, epoch.Limit - 1, epoch.Limit} {
			idle, seen := uint64(0), map[uint64]bool{}
			for range 1 << 14 {
				w := epoch.Claimed(idle, e, kind)
				require.True(t, epoch.IsActive(w), "the cell should be active")
				require.Equal(t, kind&epoch.Transient != 0, epoch.IsBrief(w))
				require.Equal(t, e, epoch.EpochOf(w))
				require.False(t, seen[w], "pin %d has the word of an earlier one", len(seen))
				seen[w] = true
				idle = epoch.Released(w)
				require.False(t, epoch.IsActive(idle), "an idle cell should not be active")
				require.False(t, epoch.IsBrief(idle), "an idle cell should not be brief")
			}
			w := epoch.Claimed(idle, e, kind)
			require.True(t, seen[w], "the sequence begins anew")
			require.Equal(t, e, epoch.EpochOf(w), "and carries nothing into the epoch")
		}
	}
}

func TestSynchronizeEndsWithItsContext(t *testing.T) {
	d := epoch.New()
	require.NoError(t, d.Synchronize(testkit.Done()), "there is nothing to wait for")
	g := d.Pin()
	defer g.Unpin()
	require.ErrorIs(t, d.Synchronize(testkit.Done()), context.Canceled)
}

// TestSynchronizeDoesNotWaitForLaterGuards keeps a later guard pinned. NextEpoch tells when
// Synchronize has taken its stamp.
func TestSynchronizeDoesNotWaitForLaterGuards(t *testing.T) {
	d := epoch.New()
	early := d.Pin()
	result := make(chan error)
	go func() { result <- d.Synchronize(context.Background()) }()
	testkit.Until(t, func() bool { return d.NextEpoch() > d.Epoch() }) // it has begun
	later := d.Pin()
	early.Unpin()
	require.NoError(t, testkit.Soon(t, result), "it does not wait for a guard that was pinned after the call")
	later.Unpin()
}

func TestWaitEndsWithItsContext(t *testing.T) {
	calls := 0
	require.NoError(t, epoch.Wait(context.Background(), func() bool { calls++; return calls > 30 }))
	require.Equal(t, 31, calls, "it asks again after pauses")
	require.ErrorIs(t, epoch.Wait(testkit.Done(), func() bool { return false }), context.Canceled)
	require.NoError(t, epoch.Wait(testkit.Done(), func() bool { return true }), "it asks once in any case")
}

// TestCopyNeverReleases draws pins of both kinds, more than there are cells, and tries every
// copy.
func TestCopyNeverReleases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		d := epoch.New()
		var full, transient, gone []epoch.Guard
		for range 300 {
			switch r.IntN(5) {
			case 0, 1:
				full = append(full, d.Pin())
			case 2:
				transient = append(transient, d.PinTransient())
			case 3:
				if len(full) > 0 {
					i := r.IntN(len(full))
					gone = append(gone, full[i])
					full[i].Unpin()
					full = append(full[:i], full[i+1:]...)
				}
			case 4:
				for i := range transient {
					transient[i].Unpin()
				}
				transient = transient[:0]
			}
			for i := range gone {
				theCopy := gone[i]
				require.False(t, theCopy.Release(), "a copy should release nothing")
			}
			require.Equal(t, len(full)+len(transient), d.Scan().Count, "a copy has ended another pin")
		}
	}
}

// requirePins requires that a scan found so many guards, all of Pin, the oldest with that epoch.
func requirePins(t *testing.T, count int, oldest uint64, got epoch.Pins) {
	t.Helper()
	require.Equal(t, []any{count, oldest, oldest, count > 0}, []any{got.Count, got.Oldest, got.OldestGuard, got.Stands()})
}

// TestPinsStandAsLongAsTheOldestGuard: other guards, and later pins in its cell, make no difference.
func TestPinsStandAsLongAsTheOldestGuard(t *testing.T) {
	d := epoch.New()
	nobody := d.Scan()
	require.False(t, nobody.Stands(), "no guard should stand where none was found")
	old := d.Pin()
	d.Stamp()
	young := d.Pin()
	pins := d.Scan()
	require.Equal(t, 2, pins.Count)
	require.Zero(t, pins.Oldest)
	young.Unpin()
	require.True(t, pins.Stands(), "the guard should still stand")
	old.Unpin()
	require.False(t, pins.Stands(), "the guard should have gone")
	for range 2 * d.Scanned() { // in all cells, the old guard's too
		again := d.Pin()
		defer again.Unpin()
	}
	require.False(t, pins.Stands(), "the guard should have gone")
}

// A traced Domain tells of each Pin and of no PinTransient, has as many cells as guards need, and
// scans find them as they do those of others.
func TestTracedPinsAreFound(t *testing.T) {
	const guards = 1000
	var told []epoch.Guard
	d := new(epoch.Domain)
	d.Init(0)
	d.Trace(&epoch.Tracer{Pinned: func(g epoch.Guard) { told = append(told, g) }, Wrapped: func(epoch.Guard) {}})
	b := d.PinTransient()
	require.Empty(t, told)
	require.Equal(t, 1, d.Scan().Count)
	b.Unpin()
	open := make([]epoch.Guard, guards)
	for i := range open {
		open[i] = d.Pin()
	}
	require.Equal(t, open, told)
	require.Equal(t, guards, d.Scan().Count)
	require.False(t, d.Expired(d.Stamp()), "a guard should delay the stamp")
	for i := range open {
		require.True(t, told[i].Pinned(), "the guard should be pinned")
		open[i].Unpin()
		require.False(t, told[i].Pinned(), "the guard should not be pinned")
	}
	require.Zero(t, d.Scan().Count)
	require.True(t, d.Expired(d.Stamp()), "the stamp should have passed")
	require.False(t, epoch.Guard{}.Pinned(), "a zero Guard should not be pinned")
}

// Before a word of a cell comes again, a Tracer is told to forget the cell's older guards, also if the
// pins between are of PinTransient, or if there were cells before the tracer.
func TestTracersForgetBeforeWordsComeAgain(t *testing.T) {
	for n := range 2 {
		told := map[epoch.Guard]bool{}
		d := new(epoch.Domain)
		d.Init(n)
		d.Trace(&epoch.Tracer{
			Pinned: func(g epoch.Guard) {
				require.False(t, told[g], "a guard that was told of before")
				told[g] = true
			},
			Wrapped: func(g epoch.Guard) {
				for old := range told {
					if old.Beside(g) {
						require.True(t, old == g || !old.Pinned(), "a guard that is pinned")
						delete(told, old)
					}
				}
			},
		})
		for i := range 100_000 {
			if i%3 == 0 {
				g := d.PinTransient()
				g.Unpin()
				continue
			}
			g := d.Pin()
			g.Unpin()
		}
		for g := range told {
			require.False(t, g.Pinned(), "the guard should not be pinned")
		}
	}
}
