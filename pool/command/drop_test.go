package command_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

func TestDroppedBufferLosesNoSlot(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := pool.Must(&pool.Options[value]{Capacity: 50, Reuse: reuse, Shards: 1})
		live := testkit.MustInsert(t, p, valueOf(1))
		for range 5 {
			testkit.Apart(func() {
				b := command.New(p)
				for i := range uint64(20) { // a frame, so that there are lists to reuse
					b.Remove(mustRecord(t, b, i))
				}
				requireApplied(t, 20, 20, b)
				testkit.RequireReclaimed(t, p)
				for i := range uint64(49) {
					mustRecord(t, b, i)
				}
				b.Remove(live)
			})
			testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "%+v", p.Stats())
		}
		require.Equal(t, 1, p.Len())
		v, _ := p.Get(live)
		require.EqualValues(t, 1, v.number())
		requireNoneLost(t, p)
	}
}

// TestSettledInsertionsAreNotKept: between frames a Buffer keeps memory for the commands of
// the largest, and nothing that was recorded.
func TestSettledInsertionsAreNotKept(t *testing.T) {
	const n = 2000
	p := pool.Must(&pool.Options[value]{Shards: 1})
	for name, settle := range map[string]func(a, b *buffer){
		"Apply":   func(a, b *buffer) { requireApplied(t, 2*n, n, a, b) },
		"Discard": func(a, b *buffer) { a.Discard(); b.Discard() },
	} {
		a, b := command.New(p), command.New(p)
		for range 3 {
			for i := range uint64(n) {
				a.Remove(mustRecord(t, a, i))
				mustRecord(t, b, i)
			}
			first := command.FirstInsertion(a)
			settle(a, b)
			runtime.GC()
			runtime.GC()
			require.Nil(t, first.Value(), "%s: a settled Reservation is kept", name)
			require.LessOrEqual(t, command.Room(a), 4*n, "%s: one list of each kind is enough", name)
			command.Apply(a, b)
		}
	}
}

// TestDoneBeforeAPanicIsNotKept: where an Apply ends early, the Buffer keeps what is not done, and not the insertions and
// functions before it.
func TestDoneBeforeAPanicIsNotKept(t *testing.T) {
	const n, panics = 200, 150
	fails := true
	var b *buffer
	var inserted uint64
	p := pool.Must(&pool.Options[value]{Shards: 1, OnInsert: func(_ handle, v *value) {
		if inserted = v.id; fails && v.id == panics {
			mustRecord(t, b, n)
			panic("OnInsert")
		}
	}})
	b = command.New(p)
	for i := range uint64(n) {
		mustRecord(t, b, i)
	}
	insertion := command.FirstInsertion(b)
	require.PanicsWithValue(t, "OnInsert", func() { b.Apply() })
	collect := func() { runtime.GC(); runtime.GC() }
	collect()
	require.Nil(t, insertion.Value(), "a Reservation that was committed is kept")
	fails = false
	kept := weakFunction(b)
	b.Do(func() { panic("Do") })
	b.Do(func() {})
	require.PanicsWithValue(t, "Do", func() { b.Apply() })
	collect()
	require.Nil(t, kept.Value(), "a function that was called is kept")
	b.Apply()
	require.Equal(t, n, p.Len())
	require.EqualValues(t, n, inserted, "what was recorded meanwhile comes last")
}

// weakFunction records a function, and returns what that refers to.
func weakFunction(b *buffer) weak.Pointer[[64]byte] {
	v := new([64]byte)
	b.Do(func() { v[0]++ })
	return weak.Make(v)
}

func TestSteadyFrameAllocatesWhatReserveDoes(t *testing.T) {
	if testkit.Watched || testing.CoverMode() != "" {
		t.Skip("the race detector and coverage allocate")
	}
	const (
		n = 630
		// most is for ten blocks of reservations, eight objects each, and for blocks that
		// a collection ends early.
		lists = 2 // of Apply
		most  = 8*(10+2) + lists
	)
	p := pool.Must(&pool.Options[value]{Shards: 1})
	a, b := command.New(p), command.New(p)
	v := valueOf(1)
	init := func(_ handle, in *value) { *in = v }
	tell, function := func(handle, value) {}, func() {}
	next := func() {
		for range n {
			a.Remove(1)
		}
	}
	old := make([]handle, 0, n)
	for name, run := range map[string]struct {
		frame func()
		most  float64
	}{
		"insertions": {func() {
			for _, h := range old {
				b.Remove(h)
			}
			old = old[:0]
			for range n / 2 {
				h, _ := a.Insert(v)
				k, _ := b.InsertFunc(init)
				old = append(old, h, k)
			}
			command.Apply(a, b)
		}, most},
		"ApplyFunc": {func() {
			for range n {
				h, _ := p.Insert(v)
				a.Remove(h)
				a.Do(function)
			}
			for range a.Insertions() {
				runtime.KeepAlive(a)
			}
			command.ApplyFunc(tell, a)
		}, lists},
		"Discard": {func() {
			for range n {
				_, _ = a.Insert(v)
				a.Remove(1)
			}
			a.Discard()
		}, most},
		"recorded meanwhile": {func() {
			a.Do(next)
			a.Apply()
		}, lists},
		"removals": {func() {
			for range n {
				h, _ := p.Insert(v)
				a.Remove(h)
			}
			for range a.Removals() {
				runtime.KeepAlive(a)
			}
			a.Apply()
		}, lists},
	} {
		for range 100 {
			run.frame()
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(200, run.frame), run.most, name)
	}
}

// TestIdleApplyIsALoadForEach: an Apply of buffers that have nothing to do makes no list and locks nothing,
// however many commands they have had.
func TestIdleApplyIsALoadForEach(t *testing.T) {
	p := pool.Must(&pool.Options[value]{Capacity: 8, Shards: 1})
	a, b := command.New(p), command.New(p)
	idle := func(when string) {
		t.Helper()
		require.Zero(t, testing.AllocsPerRun(10, func() { command.Apply(a, b) }), "lists of an Apply %s", when)
	}
	idle("of new buffers")
	h := mustRecord(t, a, 1)
	requireApplied(t, 1, 0, a, b)
	idle("after an insertion")
	b.Remove(h)
	requireApplied(t, 0, 1, a, b)
	idle("after a removal")
	called := false
	a.Do(func() { called = true })
	requireApplied(t, 0, 0, a, b)
	require.True(t, called, "a function alone is a command")
	idle("after a function")
	mustRecord(t, a, 2)
	require.Equal(t, 1, a.Discard())
	idle("after a Discard")
}
