package command_test

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

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
	for _, in := range b.Insertions() {
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

// TestErrorsAreThePools: errors of the pool are returned unchanged, without a call of
// init.
func TestErrorsAreThePools(t *testing.T) {
	for want, origin := range map[error]uint32{pool.ErrStalled: 1, pool.ErrExhausted: testkit.LastGeneration} {
		p := small(t, pool.Options[value]{Capacity: 1, Origin: origin})
		b := command.New(p)
		g := p.Pin()
		b.Remove(mustRecord(t, b, 1))
		requireApplied(t, 1, 1, b)
		if want != pool.ErrStalled {
			g.Unpin()
		}
		_, err := b.Insert(valueOf(2))
		require.ErrorIs(t, err, want)
		h, err := b.InsertFunc(func(handle, *value) { t.Error("init was called") })
		require.ErrorIs(t, err, want)
		require.Zero(t, h)
	}
}

func TestMisuseIsNamed(t *testing.T) {
	p := small(t, pool.Options[value]{})
	good := command.New(p)
	mustRecord(t, good, 1)
	live := mustInsert(t, p, 2)
	good.Remove(live)
	copied := new(buffer)
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(good).Elem()) // behind vet's back
	for text, b := range map[string]*buffer{
		"command: nil Buffer; make one with New":  nil,
		"command: zero Buffer; make one with New": new(buffer),
		"command: a Buffer was copied":            copied,
	} {
		for _, use := range []func(){
			func() { _, _ = b.Insert(value{}) },
			func() { _, _ = b.InsertFunc(func(handle, *value) {}) },
			func() { b.Remove(live) },
			func() { b.Len() },
			func() { b.Insertions() },
			func() { b.Removals() },
			func() { b.Discard() },
			func() { b.Apply() },
			func() { command.Apply(good, b) },
		} {
			testkit.RequirePanicText(t, use, text)
		}
	}
	testkit.RequirePanicText(t, func() { command.New[value](nil) }, "command: New of a nil Pool")
	testkit.RequirePanicText(t, func() { command.New(new(pool.Pool[value])) }, "pool: use of a zero Pool")
	requireApplied(t, 1, 1, good) // nothing was done before
	i, r := command.Apply[value]()
	require.Zero(t, i+r)
}

// TestResetMayRecordAndApply: what a Reset records during an Apply belongs to the next
// one.
func TestResetMayRecordAndApply(t *testing.T) {
	var b *buffer
	recorded, applied := 0, 0
	p := small(t, pool.Options[value]{Reset: func(v *value) {
		*v = value{}
		if recorded < 500 {
			recorded++
			h, err := b.InsertFunc(func(_ handle, v *value) { *v = valueOf(1) })
			assert.NoError(t, err)
			if recorded%2 == 0 {
				b.Remove(h)
			}
			if recorded%50 == 0 {
				i, _ := b.Apply()
				applied += i
			}
		}
	}})
	b = command.New(p)
	within(t, func() {
		for i := range uint64(300) {
			b.Remove(mustRecord(t, b, i))
		}
		requireApplied(t, 300, 300, b)
		for ins := 1; ins > 0; {
			ins, _ = b.Apply()
			applied += ins
		}
	})
	require.NotZero(t, recorded)
	require.Equal(t, recorded, applied)
	require.Equal(t, recorded-recorded/2, p.Len())
	recorded = 500
	requireNoneLost(t, p)
}

// TestApplyFuncMayRecordAndApply: what the functions record belongs to the next frame.
func TestApplyFuncMayRecordAndApply(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	old := mustInsert(t, p, 1)
	b.Remove(old)
	mustRecord(t, b, 2)
	var removed []handle
	onRemove := func(h handle, v value) {
		removed = append(removed, h)
		b.Remove(mustRecord(t, b, 3))
		requireApplied(t, 1, 1, b)
		mustRecord(t, b, 4)
	}
	within(t, func() { command.ApplyFunc(func(handle) {}, onRemove, b) })
	require.Equal(t, []handle{old}, removed)
	requireLen(t, b, 1, 0)
	require.Equal(t, 1, p.Len())
}

// failures are the ways in which user code fails.
var failures = map[string]func(){"panics": func() { panic("ouch") }, "exits": runtime.Goexit}

// TestPanicInResetLosesNoCommand: when a Reset panics all insertions are live, and the
// removals that were not made are still recorded, before those recorded meanwhile.
func TestPanicInResetLosesNoCommand(t *testing.T) {
	for name, fail := range failures {
		const meanwhile = handle(1 << 32) // never issued; removing it has no effect
		var a *buffer
		resets, broken := 0, true
		p := small(t, pool.Options[value]{Origin: 101, Reset: func(v *value) {
			resets++
			if *v = (value{}); broken && resets%7 == 0 {
				if resets == 7 {
					a.Remove(meanwhile)
				}
				fail()
			}
		}})
		q := small(t, pool.Options[value]{})
		a = command.New(p)
		b, c := command.New(q), command.New(p)
		for i := range uint64(400) {
			a.Remove(mustInsert(t, p, i))
		}
		late, theirs := mustInsert(t, p, 1000), mustInsert(t, q, 1001)
		b.Remove(theirs)
		c.Remove(late)
		inserted := mustRecord(t, c, 1002)
		panics := 0
		for before := 402; ; panics++ {
			returned := false
			v := apart(func() {
				command.Apply(a, b, c)
				returned = true
			})
			requireLive(t, p, inserted, 1002)
			if returned {
				break
			}
			require.Equal(t, name == "panics", v == "ouch")
			require.Less(t, p.Len(), before, "it made no progress")
			before = p.Len()
			wait := p.Len() - 2 // all but late and inserted
			if panics == 0 {
				hs := slices.Collect(a.Removals())
				require.Equal(t, meanwhile, hs[len(hs)-1], "what was recorded meanwhile comes last")
				wait++
			}
			requireLen(t, a, 0, wait)
			requireLen(t, b, 0, 1)
			requireLen(t, c, 0, 1)
			requireLive(t, q, theirs, 1001)
			requireLive(t, p, late, 1000)
		}
		require.NotZero(t, panics)
		require.Equal(t, 1, p.Len())
		require.Zero(t, q.Len())
		broken = false
		requireNoneLost(t, p)
	}
}

// TestPanicInDiscardLosesNoSlot: when a Reset panics, the insertions not given back are
// still recorded.
func TestPanicInDiscardLosesNoSlot(t *testing.T) {
	resets, broken := 0, true
	p := small(t, pool.Options[value]{Capacity: 300, Reset: func(v *value) {
		resets++
		if *v = (value{}); broken && resets%50 == 0 {
			panic("ouch")
		}
	}})
	b := command.New(p)
	for i := range uint64(300) {
		b.Remove(mustRecord(t, b, i+1))
	}
	panics := 0
	for {
		before, _ := b.Len()
		v := apart(func() { b.Discard() })
		if v == nil {
			break
		}
		require.Equal(t, "ouch", v)
		panics++
		left, removals := b.Len()
		require.Less(t, left, before)
		require.Zero(t, removals)
		require.Equal(t, left, p.Stats().Reserved)
		for _, v := range b.Insertions() {
			require.True(t, 1 <= v.number() && v.number() <= 300)
		}
	}
	require.NotZero(t, panics)
	require.Zero(t, p.Len())
	broken = false
	requireNoneLost(t, p)
}

// TestFailureInApplyFuncLosesNoCommand: if either function fails, the insertions are
// live, and the removals that were not made are recorded again, each in its Buffer.
func TestFailureInApplyFuncLosesNoCommand(t *testing.T) {
	for name, fail := range failures {
		p := small(t, pool.Options[value]{})
		a, b := command.New(p), command.New(p)
		var old, told []handle
		for id := range uint64(6) {
			old = append(old, mustInsert(t, p, id+1))
			[]*buffer{a, b}[id/3].Remove(old[id])
		}
		h := mustRecord(t, a, 100)
		apply := func(onInsert func(handle), onRemove func(handle, value)) {
			v := apart(func() { command.ApplyFunc(onInsert, onRemove, a, b) })
			require.Equal(t, name == "panics", v == "ouch")
		}
		apply(func(handle) { fail() }, nil)
		requireLive(t, p, h, 100)
		requireLen(t, a, 0, 3)
		requireLen(t, b, 0, 3)

		onRemove := func(h handle, v value) { told = append(told, h) }
		apply(nil, func(h handle, v value) {
			onRemove(h, v)
			if h == old[3] {
				b.Remove(h) // recorded meanwhile
				fail()
			}
		})
		require.Equal(t, old[:4], told)
		requireLen(t, a, 0, 0)
		require.Equal(t, []handle{old[4], old[5], old[3]}, slices.Collect(b.Removals()))
		_, removed := command.ApplyFunc(nil, onRemove, a, b)
		require.Equal(t, 2, removed)
		require.Equal(t, old, told)
		require.Equal(t, 1, p.Len())
		requireNoneLost(t, p)
	}
}
