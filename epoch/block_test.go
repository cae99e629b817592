package epoch_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/internal/hint"
)

// TestScanCostsWhatIsPinned unpins guards in random order: a scan costs what is pinned, not
// what was once pinned.
func TestScanCostsWhatIsPinned(t *testing.T) {
	const n = 10_000
	r := rand.New(rand.NewPCG(1, 2))
	d := epoch.New()
	require.Zero(t, d.Scanned(), "there are no cells before the first pin")
	const first = epoch.Least
	for range 3 {
		guards := make([]epoch.Guard, n)
		for i := range guards {
			guards[i] = d.Pin()
		}
		stamp := d.Stamp()
		require.False(t, d.Expired(stamp), "a guard should delay the stamp")
		require.GreaterOrEqual(t, d.Scanned(), n)
		r.Shuffle(n, func(i, k int) { guards[i], guards[k] = guards[k], guards[i] })
		for i := n - 1; i >= 0; i-- {
			guards[i].Unpin()
			if i%1000 == 0 || i < 50 {
				require.Equal(t, i == 0, d.Expired(stamp))
				require.LessOrEqual(t, d.Scanned(), first+i*epoch.Group)
				require.Equal(t, i, d.Scan().Count)
			}
		}
		require.Equal(t, first, d.Scanned())
	}
}

// TestGroupsThatAreNotCountedYetCostNothing: a scan may clear a mark before the pin that has raised it counts it.
func TestGroupsThatAreNotCountedYetCostNothing(t *testing.T) {
	d := new(epoch.Domain)
	d.Init(1000)
	before := d.Scanned()
	d.UncountGroups(1)
	require.Equal(t, before, d.Scanned())
}

// TestProvidedCellsAreEnough pins as many guards as were asked for, by one goroutine and by
// many, while some stay pinned and others come and go. A scan does not visit cells that were
// never used.
func TestProvidedCellsAreEnough(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 100, 256, 1000} {
		d := new(epoch.Domain)
		d.Init(n)
		require.Equal(t, []int{d.Scanned()}, d.Rows())
		bytes := d.Bytes()
		var guards []epoch.Guard
		for range n {
			guards = append(guards, d.Pin())
		}
		for i := range guards[n/2:] {
			guards[n/2+i].Unpin()
		}
		var wg sync.WaitGroup
		for range n - n/2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 100 {
					g := d.Pin()
					g.Unpin()
				}
			}()
		}
		testkit.Within(t, wg.Wait)
		some := guards[n/2:]
		for i := range some {
			some[i] = d.Pin()
		}
		for i := range 20_000 { // a queue of guards, so that each pin finds another cell
			some[i%len(some)].Unpin()
			some[i%len(some)] = d.Pin()
		}
		require.Equal(t, bytes, d.Bytes(), "with %d guards", n)
	}
}

// TestNeighboursTryOtherCells requires that the cells that one goroutine tries with one salt
// are not those of its neighbour with another.
func TestNeighboursTryOtherCells(t *testing.T) {
	seen := map[uint32]bool{}
	for goroutine := range uint32(64) {
		for salt := range uint32(64) {
			h := epoch.Mix(goroutine*hint.Spread, salt)
			require.False(t, seen[h], "goroutine %d, salt %d", goroutine, salt)
			seen[h] = true
		}
	}
}

// TestBlocksAtLeastDouble bounds the number of blocks and their memory.
func TestBlocksAtLeastDouble(t *testing.T) {
	const n = 5000
	d := epoch.New()
	before := d.Bytes()
	for range n {
		d.Pin()
	}
	cells, groups := d.Blocks()
	for i, c := range cells {
		require.Zero(t, c&(c-1), "a power of two")
		if i > 0 {
			require.GreaterOrEqual(t, cells[i-1], 2*c)
		}
		require.LessOrEqual(t, groups[i], c/epoch.Group)
	}
	require.Less(t, d.Bytes()-before, int64(n*128*5))
}

// TestBlocksHaveAMarkForEachGroup, of cells or of marks, and one above all.
func TestBlocksHaveAMarkForEachGroup(t *testing.T) {
	const fan = epoch.Group
	for _, want := range [][]int{{1}, {fan, 1}, {fan * fan, fan, 1}} {
		require.Equal(t, want, epoch.Marks(want[0]*fan), "%d cells", want[0]*fan)
	}
	require.Equal(t, []int{1}, epoch.Marks(1))
}

// TestPinSetsTheMarksAbove one that another pin has set, which may be preempted before it sets those.
func TestPinSetsTheMarksAbove(t *testing.T) {
	for level, above := 0, true; above; level++ {
		n := 8*runtime.GOMAXPROCS(0) + 1000 // more than the row has
		d := new(epoch.Domain)
		d.Init(n)
		above = d.SetMarks(level)
		require.True(t, above || level > 0, "there are several levels")
		for range n {
			d.Pin()
		}
		require.Equal(t, n, d.Scan().Count, "level %d", level)
	}
}

// TestBlockBytesCountAllMarks: beside its cells and the marks of all levels, each block takes the same.
func TestBlockBytesCountAllMarks(t *testing.T) {
	const fan, cell, mark = epoch.Group, 128, 8
	beside := map[int64]bool{}
	for _, n := range []int{fan, fan * fan, fan * fan * fan} {
		bytes := epoch.BlockBytes(n) - int64(n*cell)
		for _, marks := range epoch.Marks(n) {
			bytes -= int64(unsafe.Sizeof([]int(nil))) + int64(marks*mark)
		}
		beside[bytes] = true
	}
	require.Len(t, beside, 1)
}

// TestBytesCountAllCells, those of older rows and blocks too.
func TestBytesCountAllCells(t *testing.T) {
	processors(t, 64)
	d := epoch.New()
	guards(d, 1)
	row := d.Bytes()
	for len(d.Rows()) == 1 {
		d.MeetOnce() // a guard keeps the first row
	}
	require.GreaterOrEqual(t, d.Bytes(), row+int64(d.Rows()[0]*128))
	want := d.Bytes()
	guards(d, 1000)
	cells, _ := d.Blocks()
	require.Greater(t, len(cells), 1)
	for _, n := range cells {
		want += epoch.BlockBytes(n)
	}
	require.Equal(t, want, d.Bytes())
}

// TestTracedGuardsFindPreallocatedCells, on any number of processors. On many, a row has the cells of all
// guards, and a domain whose pins are traced has no row.
func TestTracedGuardsFindPreallocatedCells(t *testing.T) {
	const n = 256
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 16, 32, 33, 64, 128} {
		runtime.GOMAXPROCS(processors)
		var d epoch.Domain
		d.Init(n)
		wrapped := 0
		d.Trace(&epoch.Tracer{Pinned: func(epoch.Guard) {}, Wrapped: func(epoch.Guard) { wrapped++ }})
		before := d.Bytes()
		guards(&d, n)
		require.Equal(t, before, d.Bytes(), "with %d processors", processors)
		require.Zero(t, wrapped, "no cell had a pin before, which a tracer would have to forget")
	}
}
