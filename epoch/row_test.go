package epoch_test

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
)

// processors makes Go use n processors for the rest of the test.
func processors(t *testing.T, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// TestCellsAreMadeWhenPinned: a Domain has no cells before the first Pin, and then four,
// however many processors there are.
func TestCellsAreMadeWhenPinned(t *testing.T) {
	for _, n := range []int{1, 2, 64} {
		for _, pin := range pins {
			processors(t, n)
			d := epoch.New()
			assert.Zero(t, d.Bytes())
			assert.Zero(t, d.Scanned())
			assert.LessOrEqual(t, unsafe.Sizeof(*d), uintptr(128))
			g := pin(d)
			assert.Equal(t, []int{epoch.Least}, d.Rows())
			assert.Equal(t, epoch.Least, d.Scanned())
			assert.LessOrEqual(t, d.Bytes(), int64(600))
			g.Unpin()
			for range 1000 { // one goroutine whose pins are nested
				outer := d.Pin()
				inner, deep := d.Pin(), d.PinTransient()
				d.Stamp()
				deep.Unpin()
				inner.Unpin()
				outer.Unpin()
			}
			assert.Equal(t, []int{epoch.Least}, d.Rows())
		}
	}
}

// TestProvidedCellsDoNotGrow: with guards to provide for, all rows are made from the start.
func TestProvidedCellsDoNotGrow(t *testing.T) {
	processors(t, 64)
	d := new(epoch.Domain)
	d.Init(1)
	require.Equal(t, []int{256}, d.Rows())
	require.True(t, d.FastPathHasNewestRow(), "pins should try the provided cells first")
	for range 10 * epoch.Meetings {
		d.MeetOnce()
	}
	require.Equal(t, []int{256}, d.Rows())
}

// TestRowsGrowWhereGuardsMeet: up to four cells a processor. Scans visit the rows before until their
// guards have gone, and then no longer.
func TestRowsGrowWhereGuardsMeet(t *testing.T) {
	processors(t, 64)
	d := epoch.New()
	var open []epoch.Guard // one in each row
	rows := []int{4}
	for _, n := range []int{32, 256} {
		open = append(open, d.Pin())
		for len(d.Rows()) == len(rows) {
			d.MeetOnce()
		}
		rows = append([]int{n}, rows...)
		require.Equal(t, rows, d.Rows())
		require.True(t, d.FastPathHasNewestRow(), "pins should try the newest row first")
	}
	for range 10 * epoch.Meetings {
		d.MeetOnce()
	}
	require.Equal(t, rows, d.Rows(), "no longer than for all processors")
	require.Equal(t, 292, d.Scanned())
	open = append(open, d.Pin())
	stamp := d.Stamp()
	for i := range open {
		p := d.Scan()
		require.Equal(t, len(open)-i, p.Count)
		require.False(t, d.Expired(stamp), "a guard should delay the stamp")
		open[i].Unpin()
	}
	require.True(t, d.Expired(stamp), "the stamp should have passed")
	require.Equal(t, []int{256}, d.Rows())
	require.Equal(t, 256, d.Scanned())
	require.Equal(t, 0, d.Scan().Count)
}

// TestRowThatWasClosedInPartGoes: a scan that a pin has stopped leaves some cells closed. A later one closes the others,
// and drops the row.
func TestRowThatWasClosedInPartGoes(t *testing.T) {
	processors(t, 64)
	for closed := range epoch.Least + 1 {
		d := epoch.New()
		g := d.Pin()
		for len(d.Rows()) == 1 {
			d.MeetOnce()
		}
		g.Unpin()
		d.CloseOlder(closed)
		d.Scan()
		require.Len(t, d.Rows(), 1, "%d cells were closed before", closed)
	}
}

// TestRowWithAGuardIsNotClosed, in whichever cell that is: the guard may have been pinned since the scan looked.
func TestRowWithAGuardIsNotClosed(t *testing.T) {
	for k := range epoch.Least {
		d := epoch.New()
		open := guards(d, epoch.Least)
		for i := range open {
			if i != k {
				open[i].Unpin()
			}
		}
		require.False(t, d.CloseNewest())
		require.True(t, open[k].Pinned())
		open[k].Unpin()
		require.True(t, d.CloseNewest())
	}
}

// TestSeldomMeetingsDoNotGrow: meetings that lie far apart cost nobody time.
func TestSeldomMeetingsDoNotGrow(t *testing.T) {
	d := epoch.New()
	g := d.Pin()
	g.Unpin()
	d.SetMet(time.Hour)
	for range epoch.Meetings {
		d.MeetOnce()
	}
	require.Equal(t, []int{epoch.Least}, d.Rows())
	for len(d.Rows()) == 1 {
		d.MeetOnce()
	}
}

// TestPinsThatMeetGetMoreCells: two of five goroutines have one cell of four. If they pin in a loop,
// they soon have a longer row.
func TestPinsThatMeetGetMoreCells(t *testing.T) {
	if min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) == 1 || testkit.Race {
		t.Skip("pins seldom meet on one processor, or while the race detector has most of the time")
	}
	d := epoch.New()
	first := d.Pin()
	first.Unpin()
	testkit.Together(epoch.Least+1, func(int) {
		for d.Rows()[0] == epoch.Least {
			d.SetMet(0) // however seldom they meet on a busy machine
			for range 1000 {
				g := d.Pin()
				g.Unpin()
			}
		}
	})
	require.Zero(t, d.Scan().Count)
	require.Len(t, d.Rows(), 1)
}

// TestPinsThatMeetInAFullRowGetMoreCells: of each row one cell is left, which is the home of some goroutine. It mostly
// finds that taken, has a block's cell, and then finds that another goroutine has come and gone.
func TestPinsThatMeetInAFullRowGetMoreCells(t *testing.T) {
	if min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) == 1 || testkit.Race {
		t.Skip("pins seldom meet on one processor, or while the race detector has most of the time")
	}
	var domains [epoch.Least]*epoch.Domain // one for each cell that is left
	for k := range domains {
		domains[k] = epoch.New()
		guards(domains[k], epoch.Least)[k].Unpin()
	}
	var grown atomic.Bool
	testkit.Together(4, func(int) {
		for !grown.Load() {
			for _, d := range domains {
				d.SetMet(0) // however seldom they meet on a busy machine
				for range 1000 {
					g := d.Pin()
					g.Unpin()
				}
				if d.Rows()[0] > epoch.Least {
					grown.Store(true)
				}
			}
			runtime.Gosched()
		}
	})
}
