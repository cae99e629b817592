package shard_test

import (
	"math/rand/v2"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// next takes a slot as a Worker does.
func next(m *shard.Magazine) (*slots.Hook, uint64, error) {
	if m.HasNext() {
		slot, h := m.Next()
		return slot, h, nil
	}
	return m.Claim()
}

// takeValue is what Worker.Take does.
func takeValue(m *shard.Magazine, h uint64) (v uint64, ok bool) {
	if s := m.Taker(h); s != nil {
		k, seen := s.Unlink(h)
		if k != nil {
			v = *slots.ValueOf[uint64](k)
			s.Retire(k, h, seen)
		}
		return v, k != nil
	}
	if m.Remove(h) {
		return *slots.ValueOf[uint64](m.Last()), true
	}
	return 0, false
}

// TestMagazineKeepsNoSlotWithoutALife uses up all lives by one magazine. A slot whose last life it
// has ended goes to limbo, and is counted.
func TestMagazineKeepsNoSlotWithoutALife(t *testing.T) {
	const total, lives = 300, 2
	for _, stampPerSlot := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: total, stampPerSlot: stampPerSlot, first: slots.LastGeneration - 2*(lives-1)})
		m := r.arena.NewMagazine()
		for range total * lives {
			slot, h, err := next(m)
			require.NoError(t, err)
			live(slot, h, 1)
			require.True(t, m.Remove(h), "the value should be live")
			require.False(t, m.Remove(h), "the value should be gone")
		}
		_, _, err := next(m)
		require.ErrorIs(t, err, shard.ErrExhausted)
		require.ErrorContains(t, err, "pool: full: every slot has used up its generations; slots: ")
		require.Zero(t, m.Kept())
	}
}

// watch is a guard and a value that its holder sees.
type watch struct {
	guard epoch.Guard
	slot  *slots.Hook
	value uint64
}

// errReset is what some Resets panic with.
const errReset = "this Reset fails"

// TestMagazineLosesNoSlot uses a magazine in long runs of one operation, under guards of many
// epochs. No handle is issued twice, no value changes under a guard, and no slot is lost.
func TestMagazineLosesNoSlot(t *testing.T) {
	for _, c := range []struct {
		name string
		setup[uint64]
	}{
		{"stamps of seals", setup[uint64]{}},
		{"stamps of removals", setup[uint64]{stampPerSlot: true}},
		{"an OnRemove", setup[uint64]{stampPerSlot: true, events: shard.Events{OnRemove: func(*slots.Hook, uint64) {}}}},
		{"failing Resets", setup[uint64]{stampPerSlot: true, reset: func(*uint64) {}}},
		{"cleaned", setup[uint64]{zero: true}},
	} {
		whole := t.Run(c.name, func(t *testing.T) {
			for seed := range testkit.LongAlone(uint64(240)) {
				testMagazine(t, c.setup, seed)
			}
		})
		if !whole {
			return // or a slot that is lost or doubled may crash the next
		}
	}
}

func testMagazine(t *testing.T, set setup[uint64], seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	if set.reset != nil {
		set.reset = func(*uint64) {
			if rnd.IntN(40) == 0 {
				panic(errReset)
			}
		}
	}
	set.slots = 300
	r := newRig(t, set)
	m := r.arena.NewMagazine()
	survives := func(f func()) {
		defer func() {
			if v := recover(); v != nil && v != errReset {
				t.Fatalf("seed %d: %v", seed, v)
			}
		}()
		f()
	}
	seen := map[uint64]bool{}
	var hs []uint64
	var watched []watch
	insert := func() {
		slot, h, err := next(m)
		if err != nil {
			return
		}
		if seen[h] {
			t.Fatalf("seed %d: %s was issued before", seed, text(h))
		}
		seen[h] = true
		live(slot, h, h)
		hs = append(hs, h)
	}
	remove := func() {
		if len(hs) == 0 {
			return
		}
		k := rnd.IntN(len(hs))
		h := hs[k]
		hs[k] = hs[len(hs)-1]
		hs = hs[:len(hs)-1]
		survives(func() {
			if rnd.IntN(4) > 0 {
				if !m.Remove(h) {
					t.Fatalf("seed %d: lost %s", seed, text(h))
				}
				return
			}
			if v, ok := takeValue(m, h); !ok || v != h {
				t.Fatalf("seed %d: Take(%s) is %d, %t", seed, text(h), v, ok)
			}
		})
		if r.word(slots.Low(h)) == h {
			hs = append(hs, h) // a Reset failed before
		}
	}
	pin := func() {
		if len(hs) > 0 && len(watched) < 1+int(seed%12) {
			h := hs[rnd.IntN(len(hs))]
			watched = append(watched, watch{r.arena.Domain.Pin(), r.arena.Slot(slots.Low(h)), h})
		}
	}
	unpin := func() {
		if len(watched) > 0 {
			k := rnd.IntN(1 + rnd.IntN(len(watched))) // mostly an older one
			watched[k].guard.Unpin()
			watched = append(watched[:k], watched[k+1:]...)
		}
	}
	for range 300 {
		op, n := insert, 1+rnd.IntN(80)
		switch k := rnd.IntN(20); {
		case k < 7:
			op = remove
		case k < 10:
			op, n = pin, 1
		case k < 13:
			op, n = unpin, 1
		case k < 14:
			op, n = m.Flush, 1
		}
		for range n {
			survives(op)
			if !m.Ordered() || m.Kept() > m.Reach() {
				t.Fatalf("seed %d: the bag is not in order, or the magazine keeps %d slots, and has a reach of %d", seed, m.Kept(), m.Reach())
			}
			switch k := rnd.IntN(200); {
			case k < 10:
				pin()
			case k < 15:
				unpin()
			case k < 20:
				r.advance() // so that epochs pass between removals
			case k == 20:
				survives(m.Flush)
			}
		}
		if !r.shards[0].Ordered() {
			t.Fatalf("seed %d: batches are out of order, or what is ready does not end", seed)
		}
		for _, w := range watched {
			if *slots.ValueOf[uint64](w.slot) != w.value {
				t.Fatalf("seed %d: a value changed under a guard: %d, want %d", seed, *slots.ValueOf[uint64](w.slot), w.value)
			}
		}
	}
	for len(watched) > 0 {
		unpin()
	}
	survives(func() { m.Close(shard.Caller) })
	for r.shards[0].Pending() > 0 {
		survives(func() { r.shards[0].Reclaim(r.shards[0]) })
	}
	c := r.arena.Count()
	require.Equal(t, len(hs), c.Live, "seed %d", seed)
	require.Equal(t, set.slots, c.Live+c.Free, "seed %d: %+v", seed, c)
}

// TestMagazineNoticesAnotherUse that comes while a slow half is under way.
func TestMagazineNoticesAnotherUse(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 300})
	m := r.arena.NewMagazine()
	m.Beside(func() {})
	require.PanicsWithValue(t, shard.Shared, func() {
		m.Beside(func() {
			_, _, err := m.Claim()
			require.NoError(t, err)
		})
	})
}

// TestMagazineKeepsNothingFromItself: the last free slot is in the bag, before one that a
// guard delays, and Claim finds it.
func TestMagazineKeepsNothingFromItself(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 10, stampPerSlot: guarded})
		hs := r.fill(t, r.shards[0], 10, number)
		m := r.arena.NewMagazine()
		require.True(t, m.Remove(hs[0]), "the value should be live")
		if guarded {
			g := r.arena.Domain.Pin()
			defer g.Unpin()
			require.True(t, m.Remove(hs[1]), "the value should be live")
		}
		_, h, err := next(m)
		require.NoError(t, err)
		require.Equal(t, text(slots.Reborn(hs[0])), text(h))
	}
}

// TestBagKeepsItsStamps: what an insertion makes a magazine give away is not delayed by a guard that was pinned
// after the removal.
func TestBagKeepsItsStamps(t *testing.T) {
	const n = 64
	r := newRig[uint64](t, setup[uint64]{slots: n, stampPerSlot: true})
	m, hs := r.arena.NewMagazine(), r.fill(t, r.shards[0], n, number)
	require.True(t, m.Remove(hs[0]))
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	_, h, err := m.Claim()
	require.NoError(t, err)
	require.Equal(t, slots.Low(hs[0]), slots.Low(h))
}

// TestMagazineGivesAwayWhatWaitsForAGuard, if that is much and nothing else is ready: or each insertion would look at all
// guards. It keeps less, and what waits behind slots that have passed.
func TestMagazineGivesAwayWhatWaitsForAGuard(t *testing.T) {
	const few = 60
	for _, c := range []struct{ passed, waiting, given int }{{0, few, 0}, {0, few + 1, few + 1}, {15, few + 1, 0}} {
		r := newRig[uint64](t, setup[uint64]{slots: 200, stampPerSlot: true})
		m, hs := r.arena.NewMagazine(), r.fill(t, r.shards[0], 80, number)
		remove := func(n int) epoch.Guard {
			g := r.arena.Domain.Pin()
			for _, h := range hs[:n] {
				require.True(t, m.Remove(h), "the value should be live")
			}
			hs = hs[n:]
			return g
		}
		early := remove(c.passed)
		late := remove(c.waiting)
		early.Unpin()
		_, _, err := m.Claim()
		require.NoError(t, err)
		require.Equal(t, c.given, r.shards[0].Pending(), "%+v", c)
		late.Unpin()
	}
}

// TestAllPartsThatHavePassedAreReady, of a bag in which each slot is one.
func TestAllPartsThatHavePassedAreReady(t *testing.T) {
	const n = 40
	r := newRig[uint64](t, setup[uint64]{slots: n, stampPerSlot: true})
	m := r.arena.NewMagazine()
	for _, h := range r.fill(t, r.shards[0], n, number) {
		require.True(t, m.Remove(h))
		r.advance()
	}
	_, _, err := m.Claim()
	require.NoError(t, err)
	ready := 0
	for ; m.HasNext(); ready++ {
		m.Next()
	}
	require.Equal(t, n-1, ready)
}

// TestTrimShowsEachMagazineItsTable: an older one keeps the memory that Trim has given up, however long the magazine is idle.
func TestTrimShowsEachMagazineItsTable(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64})
	var all []*shard.Magazine
	for range 3 {
		all = append(all, r.arena.NewMagazine())
	}
	r.remove(t, r.shards[0], r.fill(t, r.shards[0], 64, number)...)
	require.Positive(t, r.arena.Trim())
	for k, m := range all {
		require.True(t, m.HasCurrentView(), "magazine %d", k)
	}
}

// TestLastLivesThatAreBurntCount: slots that a magazine gives back, and that have no other life, are exhausted like those
// whose value was removed.
func TestLastLivesThatAreBurntCount(t *testing.T) {
	const total = 8
	r := newRig[uint64](t, setup[uint64]{slots: total, first: slots.LastGeneration})
	m := r.arena.NewMagazine()
	slot, h := r.shards[0].Refill(total)
	live(slot, h, 1)
	_, h, err := m.Claim() // and keeps others
	require.NoError(t, err)
	require.Positive(t, m.Kept())
	r.arena.Abandon(r.arena.Slot(slots.Low(h)), h, shard.Caller)
	m.Close(shard.Caller)
	r.remove(t, r.shards[0], slots.Pack(slots.LastGeneration, 0))
	r.reclaim(t, r.shards[0])
	require.EqualValues(t, total, r.arena.Exhausted())
	spent, waiting := r.arena.Table.Spent()
	require.Equal(t, []int64{total, 0}, []int64{spent, waiting})
	_, _, err = r.shards[0].Claim()
	require.ErrorIs(t, err, shard.ErrExhausted)
}

// TestMagazineKeepsItsReach: a magazine keeps no more than its reach, which grows to what the
// arena can spare, until Flush.
func TestMagazineKeepsItsReach(t *testing.T) {
	const bound = 200
	testReach(t, setup[uint64]{slots: 16 * bound, capacity: 16 * bound}, bound)
	testReach(t, setup[uint64]{slots: 16 * bound, capacity: 16 * bound, maxLimbo: 1 << 20}, bound)
	testReach(t, setup[uint64]{slots: 40 * bound, maxLimbo: 16 * bound}, bound)
	testReach(t, setup[uint64]{slots: 4 * shard.MaxReach}, shard.MaxReach)
}

func testReach(t *testing.T, set setup[uint64], most int) {
	burst := 5 * most
	if set.capacity+set.maxLimbo == 0 {
		burst = most / 2
	}
	r := newRig(t, set)
	m := r.arena.NewMagazine()
	greatest := 0
	bursts := func(rounds, n int) {
		for range rounds {
			var hs []uint64
			for range n {
				slot, h, err := next(m)
				require.NoError(t, err)
				live(slot, h, 1)
				hs = append(hs, h)
				greatest = max(greatest, m.Kept())
			}
			for _, h := range hs {
				require.True(t, m.Remove(h), "the value should be live")
				greatest = max(greatest, m.Kept())
			}
		}
	}
	bursts(2, 20)
	require.LessOrEqual(t, greatest, min(most, 128))
	bursts(2, 300)
	require.Equal(t, min(most, 256), m.Reach(), "it has doubled")
	bursts(20, burst)
	require.Greater(t, greatest, most/2)
	require.LessOrEqual(t, greatest, most)
	for range 10 {
		for _, h := range r.fill(t, r.shards[0], burst, number) {
			require.True(t, m.Remove(h), "the value should be live")
		}
		require.LessOrEqual(t, m.Kept(), most, "it only removes")
	}
	bursts(10, burst)
	require.LessOrEqual(t, greatest, most)
	require.Equal(t, most, m.Reach())
	m.Flush()
	require.Equal(t, min(most, 128), m.Reach())
	for _, h := range r.fill(t, r.shards[0], 64, number) {
		require.True(t, m.Remove(h), "the value should be live")
	}
	require.True(t, m.HasNext(), "the parts of its bag are as short as at first")
	m.Flush()
	g := r.arena.Domain.Pin()
	greatest = 0
	bursts(3, most/2)
	require.LessOrEqual(t, greatest, min(most, 128), "nothing goes round")
	g.Unpin()
	m.Close(shard.Collector)
	require.Zero(t, m.Kept())
	r.reclaim(t, r.shards[0])
	require.Equal(t, set.slots, r.arena.Count().Free)
}

// TestMagazineKeepsFew: if removed slots are ready in time, a magazine keeps more of them. It keeps
// no more than the first cache can hold, few if there is a Reset or a small
// MaxLimbo, and none of a queue.
func TestMagazineKeepsFew(t *testing.T) {
	const first, wide = 128, 1024
	requireReach(t, wide, setup[uint64]{})
	requireReach(t, wide, setup[[7]uint64]{}) // of 64 bytes each, with the slot's word
	requireReach(t, wide/2, setup[[8]uint64]{})
	requireReach(t, first, setup[[1024]byte]{})
	requireReach(t, first, setup[uint64]{reset: func(*uint64) {}})
	requireReach(t, first, setup[uint64]{maxLimbo: 16})
	requireReach(t, 0, setup[uint64]{fifo: true})
}

// requireReach requires how many slots a magazine may keep if one value after the other is inserted and removed. However
// many these are, it leaves other slots to others until it needs them.
func requireReach[T any](t *testing.T, want int, set setup[T]) {
	set.slots = 4 * shard.MaxReach
	r := newRig(t, set)
	m := r.arena.NewMagazine()
	defer m.Close(shard.Caller)
	var v T
	for range 5_000 {
		slot, h, err := next(m)
		require.NoError(t, err)
		live(slot, h, v)
		require.True(t, m.Remove(h), "the value should be live")
	}
	require.Equal(t, want, m.Reach())
	require.Equal(t, want > 0, m.Kept() > 0)

	s := r.shards[0]
	hs := r.fill(t, s, 400, func(int) T { return v })
	r.remove(t, s, hs...)
	r.reclaim(t, s)
	for range 300 {
		before := 0
		if !m.HasNext() {
			before = s.Free()
		}
		slot, h, err := next(m)
		require.NoError(t, err)
		if live(slot, h, v); before > 0 {
			require.LessOrEqual(t, before-s.Free(), slots.Batch)
		}
	}
}

// resetting is a magazine, with its shard, of an arena whose next Reset calls use. The bag has n
// slots, which complete a batch of limbo.
type resetting struct {
	*rig[uint64]
	*shard.Magazine
	s, other *shard.Shard
	use      func()
	used     int // values that are live
}

func newResetting(t *testing.T, n int) *resetting {
	l := new(resetting)
	l.rig = newRig(t, setup[uint64]{slots: 2000, shards: 2, reset: func(*uint64) {
		if f := l.use; f != nil {
			l.use = nil
			f()
		}
	}})
	l.Magazine = l.arena.NewMagazine()
	l.s, l.other = l.shards[0], l.shards[1]
	slot, h := l.s.Refill(slots.Batch)
	for ; slot != nil; slot, h = l.s.Fresh() { // so that insertions search
		live(slot, h, 1)
		l.used++
	}
	hs := l.fill(t, l.other, slots.Batch, number)
	l.remove(t, l.s, hs[n:]...)
	for _, h := range hs[:n] {
		require.True(t, l.Magazine.Remove(h), "the value should be live")
	}
	return l
}

// insert makes a value live by the magazine.
func (l *resetting) insert(t *testing.T) {
	slot, h, err := next(l.Magazine)
	require.NoError(t, err)
	require.NotNil(t, slot)
	live(slot, h, 1)
	l.used++
}

// requireWhole requires that a Reset has run, and that no slot is lost.
func (l *resetting) requireWhole(t *testing.T) {
	require.Nil(t, l.use, "no Reset ran")
	for _, s := range l.shards {
		l.reclaim(t, s)
	}
	c := l.arena.Count()
	require.Equal(t, l.used, c.Live)
	require.Equal(t, 2000, c.Live+c.Free)
}

// TestResetMayFillItsMagazine: a Reset that runs while a magazine looks for a slot uses the
// magazine, and the slots that it leaves there are not lost.
func TestResetMayFillItsMagazine(t *testing.T) {
	for _, uses := range []int{1, 4} {
		l := newResetting(t, 24)
		l.use = func() {
			for range uses {
				l.insert(t)
			}
		}
		l.insert(t)
		l.Close(shard.Caller)
		l.requireWhole(t)
	}
}

// TestResetMayFlushItsMagazine runs Resets that flush or close the magazine, which looks for a slot, and gets
// one.
func TestResetMayFlushItsMagazine(t *testing.T) {
	flushed := newResetting(t, 24)
	flushed.use = flushed.Flush
	flushed.insert(t)
	flushed.Close(shard.Caller)
	flushed.requireWhole(t)

	closed := newResetting(t, 24)
	closed.use = func() { closed.Close(shard.Caller) }
	closed.insert(t)
	require.PanicsWithValue(t, shard.Closed, func() { next(closed.Magazine) })
	closed.requireWhole(t)
}

// TestResetLeavesASlotInItsMagazine, which looks for one, and finds none: that whose Reset it was has
// no life left, nor has the other one of its run.
func TestResetLeavesASlotInItsMagazine(t *testing.T) {
	const last = 1000
	var s *shard.Shard
	var m *shard.Magazine
	nested := false
	r := newRig[uint64](t, setup[uint64]{slots: 128, capacity: 128, first: slots.LastGeneration - 2, reset: func(v *uint64) {
		if *v == last && !nested {
			nested = true
			for range 2 {
				s.Reclaim(s)
			}
			slot, h, err := next(m)
			require.NoError(t, err)
			require.True(t, m.HasNext())
			live(slot, h, 0)
		}
	}})
	s = r.shards[0]
	r.remove(t, s, r.fill(t, s, 2, number)...)
	r.reclaim(t, s)
	var worn []uint64
	for range 2 {
		slot, h := r.take(t, s)
		live(slot, h, last)
		worn = append(worn, h)
	}
	hs := r.fill(t, s, 126, number)
	r.leave(t, s, append(hs[:2:2], worn...)...) // what was removed last is Reset first
	m = r.arena.NewMagazine()
	_, _, err := next(m)
	require.NoError(t, err)
	require.True(t, nested)
}

// TestRemovalsRunNoResets: neither a shard's nor a magazine's, whatever has passed.
func TestRemovalsRunNoResets(t *testing.T) {
	const waiting, n = 20_000, 2000
	resets := 0
	r := newRig(t, setup[uint64]{slots: 2 * waiting, reset: func(*uint64) { resets++ }})
	s := r.shards[0]
	m := r.arena.NewMagazine()
	hs := r.fill(t, s, waiting, number)
	g := r.arena.Domain.Pin()
	r.remove(t, s, hs[n:]...)
	g.Unpin()
	for _, h := range hs[:n/2] {
		require.True(t, m.Remove(h), "the value should be live")
	}
	r.remove(t, s, hs[n/2:n]...)
	m.Flush()
	require.Zero(t, resets)
	s.Reclaim(nil)
	require.Positive(t, resets)
}

// TestClosedMagazineIsForgotten, wherever it stood among those that are open.
func TestClosedMagazineIsForgotten(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1})
	older, newer := r.arena.NewMagazine(), (*shard.Magazine)(nil)
	closed := func() weak.Pointer[shard.Magazine] {
		m := r.arena.NewMagazine()
		newer = r.arena.NewMagazine()
		m.Close(shard.Caller)
		return weak.Make(m)
	}()
	testkit.Eventually(t, func() bool { return closed.Value() == nil }, "the arena still knows a closed magazine")
	older.Close(shard.Caller)
	newer.Close(shard.Caller)
}
