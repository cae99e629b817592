//go:build !race

package dense_test

import (
	"bytes"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestTrimGivesThePeakBack measures what is left of a peak.
func TestTrimGivesThePeakBack(t *testing.T) {
	const n, stay = 1 << 17, 1 << 10
	type value [64]byte
	const each = unsafe.Sizeof(value{}) + 16
	for _, c := range []struct {
		name  string
		lives func(i int) bool
		most  uintptr // bytes
	}{
		{"the oldest stay", func(i int) bool { return i < stay }, stay * each},
		{"some of all ages stay", func(i int) bool { return i%(n/stay) == 0 }, stay*each + n*12},
		{"none stays", func(int) bool { return false }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			empty := testkit.Heap()
			s := dense.Must[value](nil)
			s.OnMove(func(pool.Handle[value], int, int) {}) // its notes are a part of the peak
			for range n {
				create(t, s, value{})
			}
			s.Refresh()
			for i, h := range s.Handles() {
				if !c.lives(i) {
					s.Kill(h)
				}
			}
			s.Refresh()
			peak := testkit.Heap()
			require.Greater(t, peak-empty, int64(n*each))
			freed := s.Trim()
			left := testkit.Heap() - empty
			t.Logf("%.1f%% of the peak is left: %d bytes for %d values", 100*float64(left)/float64(peak-empty), left, s.Len())
			require.InDelta(t, peak-empty-left, freed, float64(peak-empty)/50, "what Trim says that it has freed")
			require.LessOrEqual(t, left, int64(c.most+c.most/20+32<<10))
			require.Zero(t, s.Trim())
			require.NoError(t, dense.Check(s))
			runtime.KeepAlive(s)
		})
	}
}

// TestTrimRevivesNoHandle: slots that were given up begin behind all generations that they had.
func TestTrimRevivesNoHandle(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	past := map[handle]bool{}
	for round := range 5 {
		for i := range 20 {
			h := create(t, s, i)
			require.False(t, past[h], "%v was issued again, in round %d", h, round)
			past[h] = true
			if i%5 == 4 {
				s.Refresh()
				s.Kill(h)
			}
		}
		s.Clear()
		require.NoError(t, dense.Check(s))
		require.Positive(t, s.Trim())
		require.NoError(t, dense.Check(s))
		require.Zero(t, s.Allocated())
		for h := range past {
			require.False(t, s.Alive(h), "the value should be gone")
		}
	}
	require.Equal(t, "0@21", create(t, s, 0).String(), "two lives of the hottest slot in each round")
}

// TestTrimInAPhase: what was created and killed stays so, and slots that wait keep their order.
func TestTrimInAPhase(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	hs := fill(t, s, 10)
	for _, i := range []int{2, 4, 9} { // 9 waits before 4, and 4 before 2
		s.Kill(hs[i])
		s.Refresh()
	}
	s.Kill(hs[0])
	require.Equal(t, "9@3", create(t, s, 0).String())
	s.Trim()
	require.NoError(t, dense.Check(s))
	require.Equal(t, dense.Dead, s.State(hs[0]))
	require.Equal(t, "4@3", create(t, s, 0).String())
	s.Refresh()
	s.Kill(s.Handles()[6])
	s.Refresh()
	s.Trim()
	require.NoError(t, dense.Check(s))
	require.Equal(t, "[1@1 3@1 5@1 6@1 7@1 8@1 4@3]", text(s))
	first := &s.Values()[0]
	require.Zero(t, s.Trim())
	require.Same(t, first, &s.Values()[0], "nothing is to be freed")
	for _, want := range []string{"0@3", "2@3", "9@5", "10@5"} {
		require.Equal(t, want, create(t, s, 0).String())
	}
}

// TestTrimKeepsExhaustedSlots: their indexes are not issued again.
func TestTrimKeepsExhaustedSlots(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: testkit.LastGeneration})
	s.Grow(10)
	fill(t, s, 10)
	s.Clear()
	require.Zero(t, s.Allocated(), "there is memory for values, and not for slots")
	assert.Positive(t, s.Trim())
	require.NoError(t, dense.Check(s))
	require.EqualValues(t, 10, create(t, s, 0).Index())

	s = tiny(t, &dense.Options[int]{Origin: testkit.LastGeneration})
	s.Kill(fill(t, s, 10)[9]) // right above all that stay
	s.Refresh()
	s.Trim()
	require.NoError(t, dense.Check(s))
	require.EqualValues(t, 10, create(t, s, 0).Index())

	s = tiny(t, &dense.Options[int]{Origin: testkit.LastGeneration - 2})
	hs := fill(t, s, 10)
	for _, h := range append(hs[6:], hs[5], hs[5]+2<<32) { // 5 ends, and those above it wait
		if h.Generation() == testkit.LastGeneration {
			require.Equal(t, h, create(t, s, 0))
		}
		s.Kill(h)
		s.Refresh()
	}
	s.Trim()
	require.NoError(t, dense.Check(s))
	require.Equal(t, "6@"+strconv.FormatUint(testkit.LastGeneration, 10), create(t, s, 0).String())
}

// TestTrimKeepsWornSlots: new slots begin behind all lives of one that Trim frees. So it keeps a slot that has come
// further than every slot can.
func TestTrimKeepsWornSlots(t *testing.T) {
	const next = 3<<30 + 1
	b := dense.Snapshot([]int{}, []uint64{0, 1 << 32, next << 32}) // slots begin below 1<<31, and this one is to issue next
	s, err := dense.ReadFrom[int](bytes.NewReader(b), nil)
	require.NoError(t, err)
	s.Trim()
	require.NoError(t, dense.Check(s))
	h := create(t, s, 0)
	require.Zero(t, h.Index())
	require.Greater(t, h.Generation(), uint32(next))
	for range 100 {
		require.Less(t, create(t, s, 0).Generation(), uint32(1<<31+1<<24), "the first slot, and a jump")
	}
	require.NoError(t, dense.Check(s))
}
