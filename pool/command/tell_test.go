package command_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

// told records the calls of ApplyFunc.
type told struct {
	inserted, removed []handle
	values            []uint64
}

func (o *told) onInsert(h handle) { o.inserted = append(o.inserted, h) }

func (o *told) onRemove(h handle, v value) {
	o.removed = append(o.removed, h)
	o.values = append(o.values, v.number())
}

// TestApplyFuncTellsWhatItDid: each insertion and each removal that took effect is
// reported once, in the stated order, with the value. A removal without effect is not
// reported.
func TestApplyFuncTellsWhatItDid(t *testing.T) {
	resets := 0
	p := small(t, pool.Options[value]{Reset: func(v *value) { resets++; v.reset() }})
	a, b := command.New(p), command.New(p)
	var first told
	before, gone := mustInsert(t, p, 1), mustInsert(t, p, 2)
	require.True(t, p.Remove(gone))
	one, two, three := mustRecord(t, b, 10), mustRecord(t, a, 20), mustRecord(t, b, 30)
	b.Remove(one)
	a.Remove(gone)
	a.Remove(before)
	b.Remove(before) // a second time
	b.Remove(0)
	inserted, removed := command.ApplyFunc(func(h handle) {
		first.onInsert(h)
		require.True(t, p.Contains(one) && p.Contains(two) && p.Contains(three), "all are live first")
		require.True(t, p.Contains(before), "no removal is made yet")
	}, func(h handle, v value) {
		require.False(t, p.Contains(h))
		first.onRemove(h, v)
	}, a, b)
	require.Equal(t, 3, inserted)
	require.Equal(t, 2, removed)
	require.Equal(t, told{[]handle{two, one, three}, []handle{before, one}, []uint64{1, 10}}, first)
	requireLive(t, p, two, 20)
	requireLive(t, p, three, 30)

	var second told
	a.Remove(two)
	command.ApplyFunc(nil, second.onRemove, a, b)
	require.Equal(t, told{nil, []handle{two}, []uint64{20}}, second)
	b.Remove(three)
	four := mustRecord(t, a, 40)
	inserted, removed = command.ApplyFunc(second.onInsert, nil, a, b)
	require.Equal(t, 1, inserted)
	require.Equal(t, 1, removed)
	require.Equal(t, []handle{four}, second.inserted)
	requireNoneLost(t, p)
	require.Equal(t, 3, resets, "a reported value was Reset, or another was not") // gone, three, four
}

// TestApplyFuncMayRecordAndApply: what the functions record belongs to the next frame.
func TestApplyFuncMayRecordAndApply(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	old := mustInsert(t, p, 1)
	b.Remove(old)
	mustRecord(t, b, 2)
	var o told
	onRemove := func(h handle, v value) {
		o.onRemove(h, v)
		if v.number() == 1 {
			b.Remove(mustRecord(t, b, 3))
			requireApplied(t, 1, 1, b)
		}
		mustRecord(t, b, 4)
	}
	within(t, func() { command.ApplyFunc(o.onInsert, onRemove, b) })
	require.Equal(t, []handle{old}, o.removed)
	requireLen(t, b, 1, 0)
	require.Equal(t, 1, p.Len())
}

// TestFailureInApplyFuncLosesNoCommand: if either function fails, the insertions are
// live, and the removals that were not made are recorded again, each in its Buffer.
func TestFailureInApplyFuncLosesNoCommand(t *testing.T) {
	fail := map[bool]func(){false: func() { panic("ouch") }, true: runtime.Goexit}
	for _, exit := range []bool{false, true} {
		p := small(t, pool.Options[value]{})
		a, b := command.New(p), command.New(p)
		var old []handle
		for id := range uint64(6) {
			old = append(old, mustInsert(t, p, id+1))
			[]*command.Buffer[value]{a, b}[id/3].Remove(old[id])
		}
		h := mustRecord(t, a, 100)
		apply := func(onInsert func(handle), onRemove func(handle, value)) {
			v := apart(func() { command.ApplyFunc(onInsert, onRemove, a, b) })
			if !exit {
				require.Equal(t, "ouch", v)
			}
		}
		apply(func(handle) { fail[exit]() }, nil)
		requireLive(t, p, h, 100)
		requireLen(t, a, 0, 3)
		requireLen(t, b, 0, 3)

		var o told
		apply(nil, func(h handle, v value) {
			o.onRemove(h, v)
			if h == old[3] {
				b.Remove(h) // recorded meanwhile
				fail[exit]()
			}
		})
		require.Equal(t, old[:4], o.removed)
		require.Equal(t, []uint64{1, 2, 3, 4}, o.values)
		requireLen(t, a, 0, 0)
		require.Equal(t, []handle{old[4], old[5], old[3]}, slices.Collect(b.Removals()))
		_, removed := command.ApplyFunc(nil, o.onRemove, a, b)
		require.Equal(t, 2, removed)
		require.Equal(t, old, o.removed)
		require.Equal(t, 1, p.Len())
		requireNoneLost(t, p)
	}
}

// TestFramesTellEachRemovalOnce: two frames that remove the same values report each of
// them once.
func TestFramesTellEachRemovalOnce(t *testing.T) {
	p := small(t, pool.Options[value]{Shards: 2})
	n := uint64(long(2000))
	a, b := command.New(p), command.New(p)
	for id := range n {
		h := mustInsert(t, p, id+1)
		a.Remove(h)
		b.Remove(h)
	}
	tells := [2]told{}
	done := make(chan int)
	for i, of := range []*command.Buffer[value]{a, b} {
		go func() {
			_, removed := command.ApplyFunc(nil, tells[i].onRemove, of)
			done <- removed
		}()
	}
	require.EqualValues(t, n, <-done+<-done)
	all := append(tells[0].values, tells[1].values...)
	slices.Sort(all)
	require.Len(t, all, int(n))
	for i, id := range all {
		require.EqualValues(t, i+1, id)
	}
	requireNoneLost(t, p)
}
