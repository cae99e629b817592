package command_test

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

func TestInsertIsNotLiveBeforeApply(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	h := mustRecord(t, b, 7)
	require.False(t, p.Contains(h))
	_, ok := p.Get(h)
	require.False(t, ok)
	for k := range p.All() {
		require.Failf(t, "a loop meets", "%v", k)
	}
	st := p.Stats()
	require.Equal(t, 1, st.Reserved)
	require.Equal(t, 0, st.Live)
	requireLen(t, b, 1, 0)

	requireApplied(t, 1, 0, b)
	requireLive(t, p, h, 7)
	requireLen(t, b, 0, 0)
	requireApplied(t, 0, 0, b)
	requireNoneLost(t, p)
}

func TestRemoveWaitsForApply(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	h := mustInsert(t, p, 1)
	b.Remove(h)
	requireLive(t, p, h, 1)
	requireLen(t, b, 0, 1)
	requireApplied(t, 0, 1, b)
	require.False(t, p.Contains(h))
	requireApplied(t, 0, 0, b)
	requireNoneLost(t, p)
}

// TestFrameRemovesWhatItInserts, in whichever buffer and order the two were recorded and
// given.
func TestFrameRemovesWhatItInserts(t *testing.T) {
	for _, swap := range []bool{false, true} {
		p := small(t, pool.Options[value]{})
		a, b := command.New(p), command.New(p)
		gone := mustRecord(t, a, 1)
		b.Remove(gone)
		stays := mustRecord(t, a, 2)
		own := mustRecord(t, a, 3)
		a.Remove(own)
		buffers := []*command.Buffer[value]{a, b}
		if swap {
			slices.Reverse(buffers)
		}
		requireApplied(t, 3, 2, buffers...)
		require.False(t, p.Contains(gone))
		require.False(t, p.Contains(own))
		requireLive(t, p, stays, 2)
		requireNoneLost(t, p)
	}
}

func TestRemovalThatTookNoEffectCountsNothing(t *testing.T) {
	p := small(t, pool.Options[value]{})
	other := small(t, pool.Options[value]{Origin: 1001})
	a, b := command.New(p), command.New(p)
	twice, faster, stale := mustInsert(t, p, 1), mustInsert(t, p, 2), mustInsert(t, p, 3)
	require.True(t, p.Remove(stale))
	again := mustInsert(t, p, 4) // perhaps in stale's slot

	a.Remove(twice)
	a.Remove(twice)
	b.Remove(twice)
	a.Remove(faster)
	require.True(t, p.Remove(faster))
	a.Remove(stale)
	a.Remove(0)
	a.Remove(^pool.Handle[value](0))
	a.Remove(mustInsert(t, other, 5))
	requireLen(t, a, 0, 7)
	requireApplied(t, 0, 1, a, b)
	requireLive(t, p, again, 4)
	requireApplied(t, 0, 0, a, b)
	requireNoneLost(t, p)
}

// TestRemovalOfAnotherFramesInsertion: a removal whose insertion is in another buffer has
// no effect, and is not kept.
func TestRemovalOfAnotherFramesInsertion(t *testing.T) {
	p := small(t, pool.Options[value]{})
	a, b := command.New(p), command.New(p)
	h := mustRecord(t, a, 1)
	b.Remove(h)
	requireApplied(t, 0, 0, b)
	requireApplied(t, 1, 0, a)
	requireLive(t, p, h, 1)
	requireApplied(t, 0, 0, a, b)
}

func TestFullPoolRecordsNothing(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 3})
	b := command.New(p)
	h := mustInsert(t, p, 1)
	mustRecord(t, b, 2)
	mustRecord(t, b, 3)
	for range 3 {
		k, err := b.Insert(valueOf(4))
		require.ErrorIs(t, err, pool.ErrFull)
		require.Zero(t, k)
		k, err = b.InsertFunc(func(pool.Handle[value], *value) { t.Error("init was called") })
		require.ErrorIs(t, err, pool.ErrFull)
		require.Zero(t, k)
	}
	requireLen(t, b, 2, 0)
	b.Remove(h)
	requireApplied(t, 2, 1, b)
	mustRecord(t, b, 4)
	requireApplied(t, 1, 0, b)
	requireNoneLost(t, p)
}

func TestStalledPoolSaysSo(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 1})
	b := command.New(p)
	h := mustInsert(t, p, 1)
	g := p.Pin()
	b.Remove(h)
	requireApplied(t, 0, 1, b)
	_, err := b.Insert(valueOf(2))
	require.ErrorIs(t, err, pool.ErrStalled)
	g.Unpin()
	h = mustRecord(t, b, 3)
	requireApplied(t, 1, 0, b)
	requireLive(t, p, h, 3)
}

// TestInsertedValueIsTheSlots: the value is in its slot when it is recorded. It is not
// copied later, and its source may change.
func TestInsertedValueIsTheSlots(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	v := valueOf(1)
	h, err := b.Insert(v)
	require.NoError(t, err)
	v.id = 99
	var at *value
	for k, in := range b.Insertions() {
		require.Equal(t, h, k)
		at = in
	}
	require.EqualValues(t, 1, at.number())
	at.id, at.twice, *at.box = 5, 10, 5
	requireApplied(t, 1, 0, b)
	requireLive(t, p, h, 5)
	g := p.Pin()
	defer g.Unpin()
	live, ok := g.Get(h)
	require.True(t, ok)
	require.Same(t, at, live)
}

func TestInsertFuncBuildsInPlace(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	for i := range uint64(200) {
		var shown pool.Handle[value]
		var inner pool.Handle[value]
		h, err := b.InsertFunc(func(h pool.Handle[value], v *value) {
			require.Zero(t, v.number(), "the slot of %v is not blank", h)
			require.False(t, p.Contains(h))
			requireLen(t, b, 0, 0)
			inner = mustRecord(t, b, 1000+i) // recorded first
			*v, shown = valueOf(i+1), h
		})
		require.NoError(t, err)
		require.Equal(t, shown, h)
		require.False(t, p.Contains(h))
		requireLen(t, b, 2, 0)
		var order []pool.Handle[value]
		for k := range b.Insertions() {
			order = append(order, k)
		}
		require.Equal(t, []pool.Handle[value]{inner, h}, order)
		b.Remove(h)
		b.Remove(inner)
		requireApplied(t, 2, 2, b)
	}
	requireNoneLost(t, p)
}

func TestInitThatFailsRecordsNothing(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 4})
	b := command.New(p)
	for i := range 100 {
		var shown pool.Handle[value]
		panicked := apart(func() {
			_, _ = b.InsertFunc(func(h pool.Handle[value], v *value) {
				*v, shown = valueOf(1), h
				if i%2 == 0 {
					panic("ouch")
				}
				runtime.Goexit()
			})
		})
		if i%2 == 0 {
			require.Equal(t, "ouch", panicked)
		}
		require.NotZero(t, shown)
		requireLen(t, b, 0, 0)
		requireApplied(t, 0, 0, b)
		require.False(t, p.Contains(shown))
	}
	requireNoneLost(t, p)
}

func TestDiscardGivesEverythingBack(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 10})
	b := command.New(p)
	live := mustInsert(t, p, 1)
	for range 30 {
		var hs []pool.Handle[value]
		for i := range uint64(9) {
			hs = append(hs, mustRecord(t, b, i+2))
		}
		_, err := b.Insert(valueOf(1))
		require.ErrorIs(t, err, pool.ErrFull)
		b.Remove(live)
		b.Remove(hs[0])
		require.Equal(t, 11, b.Discard())
		require.Zero(t, b.Discard())
		requireLen(t, b, 0, 0)
		requireApplied(t, 0, 0, b)
		for _, h := range hs {
			require.False(t, p.Contains(h), "%v was discarded", h)
		}
		requireLive(t, p, live, 1)
		require.Zero(t, p.Stats().Reserved)
	}
	requireNoneLost(t, p)
}

func TestDiscardedValuesAreReset(t *testing.T) {
	resets := map[uint64]int{}
	p := small(t, pool.Options[value]{Reset: func(v *value) { resets[v.number()]++; v.reset() }})
	b := command.New(p)
	for i := range uint64(100) {
		mustRecord(t, b, i+1)
	}
	require.Equal(t, 100, b.Discard())
	requireReclaimed(t, p)
	require.Len(t, resets, 100)
	for id, n := range resets {
		require.Equalf(t, 1, n, "resets of %d", id)
	}
}

func TestPendingCommandsAreShown(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	var hs []pool.Handle[value]
	for i := range uint64(5) {
		hs = append(hs, mustRecord(t, b, i))
		b.Remove(hs[i])
		b.Remove(hs[i/2])
	}
	var ins, outs []pool.Handle[value]
	for h, v := range b.Insertions() {
		require.EqualValues(t, len(ins), v.number())
		ins = append(ins, h)
		if len(ins) == 3 { // is visited as well
			hs = append(hs, mustRecord(t, b, 5))
		}
	}
	for h := range b.Removals() {
		outs = append(outs, h)
	}
	require.Equal(t, hs, ins)
	require.Equal(t, []pool.Handle[value]{hs[0], hs[0], hs[1], hs[0], hs[2], hs[1], hs[3], hs[1], hs[4], hs[2]}, outs)
	for range b.Insertions() {
		break
	}
	for range b.Removals() {
		break
	}
	requireApplied(t, 6, 5, b)
	for range b.Insertions() {
		t.Error("an insertion that was applied")
	}
	for range b.Removals() {
		t.Error("a removal that was applied")
	}
}

func TestMisuseIsNamed(t *testing.T) {
	p := small(t, pool.Options[value]{})
	good := command.New(p)
	h := mustRecord(t, good, 1)
	live := mustInsert(t, p, 2)
	good.Remove(live)
	copied := new(command.Buffer[value])
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(good).Elem()) // behind vet's back
	for text, b := range map[string]*command.Buffer[value]{
		"command: nil Buffer; make one with New":  nil,
		"command: zero Buffer; make one with New": new(command.Buffer[value]),
		"command: a Buffer was copied":            copied,
	} {
		for verb, use := range map[string]func(){
			"Insert":       func() { _, _ = b.Insert(value{}) },
			"InsertFunc":   func() { _, _ = b.InsertFunc(func(pool.Handle[value], *value) {}) },
			"Remove":       func() { b.Remove(live) },
			"Len":          func() { b.Len() },
			"Insertions":   func() { b.Insertions() },
			"Removals":     func() { b.Removals() },
			"Discard":      func() { b.Discard() },
			"Buffer.Apply": func() { b.Apply() },
			"Apply":        func() { command.Apply(good, b) },
		} {
			t.Run(verb, func(t *testing.T) { requirePanicText(t, use, text) })
		}
	}
	requireLen(t, good, 1, 1) // nothing was done
	require.False(t, p.Contains(h))
	requirePanicText(t, func() { command.New[value](nil) }, "command: New of a nil Pool")
	requirePanicText(t, func() { command.New(new(pool.Pool[value])) }, "pool: use of a zero Pool")
	requireApplied(t, 1, 1, good)
	i, r := command.Apply[value]()
	assert.Zero(t, i+r)
}

// TestExhaustedPoolSaysSo: errors of the pool are returned unchanged.
func TestExhaustedPoolSaysSo(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 1, Origin: lastGeneration})
	b := command.New(p)
	mustRecord(t, b, 1)
	require.Equal(t, 1, b.Discard())
	_, err := b.Insert(valueOf(2))
	require.True(t, errors.Is(err, pool.ErrExhausted), "%v", err)
	requireReclaimed(t, p)
}
