package command_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

// TestInsertionsGoLiveInStatedOrder: values go live in the order of the buffers given and
// in each in the order of recording, before any removal. A reader that sees a value sees
// all those before it. The order in which buffers were made, and recorded into, does not
// matter.
func TestInsertionsGoLiveInStatedOrder(t *testing.T) {
	const each, most = 300, 3000
	seed := newSeed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	p := pool.Must[value](nil)
	buffers := []*command.Buffer[value]{command.New(p), command.New(p), command.New(p)}
	amidst := 0
	for frame := 0; frame < most && amidst < 3; frame++ {
		rnd.Shuffle(len(buffers), func(i, j int) { buffers[i], buffers[j] = buffers[j], buffers[i] })
		orders := make([][]pool.Handle[value], len(buffers))
		for range each * len(buffers) {
			i := rnd.IntN(len(buffers))
			orders[i] = append(orders[i], mustRecord(t, buffers[i], 1))
		}
		stated := slices.Concat(orders...)
		old := mustInsert(t, p, 2)
		buffers[0].Remove(old)

		var ready, done sync.WaitGroup
		var over atomic.Bool
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			at := func() (n int) { // how many are live, from the first
				for n < len(stated) && p.Contains(stated[n]) {
					n++
				}
				return n
			}
			ready.Done()
			for !over.Load() {
				gone := !p.Contains(old)
				last := -1
				for i := len(stated) - 1; i >= 0 && last < 0; i-- {
					if p.Contains(stated[i]) {
						last = i
					}
				}
				n := at()
				if n <= last || gone && n < len(stated) {
					t.Errorf("%d values are live and %v, the %d-th, among them; a removal done: %v (seed %d)", n, stated[max(last, 0)], last+1, gone, seed)
					return
				}
				if last >= 0 && last < len(stated)-1 {
					amidst++
				}
			}
		}()
		ready.Wait()
		requireApplied(t, len(stated), 1, buffers...)
		over.Store(true)
		done.Wait()
		if t.Failed() {
			return
		}
		require.Equal(t, len(stated), p.RemoveBatch(stated))
	}
	requireNoneLost(t, p)
	if amidst == 0 { // on a single processor
		t.Skip("no Apply was seen under way")
	}
}

// TestRemovalsAreMadeInStatedOrder: under FIFO slots are reused in the order of their
// removals.
func TestRemovalsAreMadeInStatedOrder(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 12, Reuse: pool.FIFO, MinFree: 1})
	var hs []pool.Handle[value]
	for i := range uint64(12) {
		hs = append(hs, mustInsert(t, p, i))
	}
	a, b, c := command.New(p), command.New(p), command.New(p)
	c.Remove(hs[5])
	a.Remove(hs[9])
	c.Remove(hs[2])
	b.Remove(hs[0])
	b.Remove(hs[11])
	b.Remove(hs[3])
	a.Remove(hs[5])
	requireApplied(t, 0, 6, b, c, a)
	requireReclaimed(t, p)
	want := []uint32{hs[0].Index(), hs[11].Index(), hs[3].Index(), hs[5].Index(), hs[2].Index(), hs[9].Index()}
	var reused []uint32
	for range 40 { // the queue has some that were never used
		h, err := p.Insert(value{})
		if err != nil {
			break
		}
		if h.Generation() > hs[0].Generation() {
			reused = append(reused, h.Index())
		}
		p.Remove(h)
	}
	require.GreaterOrEqual(t, len(reused), len(want))
	require.Equal(t, want, reused[:len(want)])
}

func TestBufferGivenTwiceIsAppliedOnce(t *testing.T) {
	p := small(t, pool.Options[value]{})
	a, b := command.New(p), command.New(p)
	ha, hb := mustRecord(t, a, 1), mustRecord(t, b, 2)
	a.Remove(mustInsert(t, p, 3))
	requireApplied(t, 2, 1, a, b, a, a, b)
	requireLive(t, p, ha, 1)
	requireLive(t, p, hb, 2)
	requireApplied(t, 0, 0, b, b)
}

func TestBuffersOfDifferentPools(t *testing.T) {
	p, q := small(t, pool.Options[value]{}), small(t, pool.Options[value]{})
	a, b := command.New(p), command.New(q)
	ha, hb := mustRecord(t, a, 1), mustRecord(t, b, 2)
	require.Equal(t, ha, hb, "the handles are the same, and each command goes to its own pool")
	oldA, oldB := mustInsert(t, p, 3), mustInsert(t, q, 4)
	require.Equal(t, oldA, oldB)
	a.Remove(oldA)
	requireApplied(t, 2, 1, b, a)
	requireLive(t, p, ha, 1)
	requireLive(t, q, hb, 2)
	require.False(t, p.Contains(oldA))
	requireLive(t, q, oldB, 4)
	requireNoneLost(t, p)
	requireNoneLost(t, q)
}

func TestManyBuffers(t *testing.T) {
	p := small(t, pool.Options[value]{})
	var buffers []*command.Buffer[value]
	var hs []pool.Handle[value]
	for i := range uint64(100) {
		b := command.New(p)
		buffers = append(buffers, b)
		hs = append(hs, mustRecord(t, b, i))
	}
	slices.Reverse(buffers)
	for i := range hs {
		buffers[i].Remove(hs[i])
	}
	requireApplied(t, 100, 100, buffers...)
	requireNoneLost(t, p)
}

// TestGuardOutlastsApply: a guard keeps what it has seen, even if an Apply removes it.
func TestGuardOutlastsApply(t *testing.T) {
	p := small(t, pool.Options[value]{Capacity: 4})
	b := command.New(p)
	h := mustInsert(t, p, 1)
	g := p.Pin()
	v, ok := g.Get(h)
	require.True(t, ok)
	b.Remove(h)
	requireApplied(t, 0, 1, b)
	for range 3 {
		k := mustRecord(t, b, 2)
		b.Remove(k)
	}
	requireApplied(t, 3, 3, b)
	require.EqualValues(t, 1, v.number())
	_, ok = g.Get(h)
	require.False(t, ok)
	g.Unpin()
	requireNoneLost(t, p)
}

// TestResetMayRecordAndApply: what a Reset records during an Apply belongs to the next
// one.
func TestResetMayRecordAndApply(t *testing.T) {
	var b *command.Buffer[value]
	var p *pool.Pool[value]
	recorded, applied := 0, 0
	p = small(t, pool.Options[value]{Reset: func(v *value) {
		v.reset()
		if recorded < 500 {
			recorded++
			h, err := b.InsertFunc(func(_ pool.Handle[value], v *value) { *v = valueOf(1) })
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

// TestPanicInResetLosesNoCommand: when a Reset panics all insertions are live, and the
// removals that were not made are still recorded, before those recorded meanwhile.
func TestPanicInResetLosesNoCommand(t *testing.T) {
	for _, exit := range []bool{false, true} {
		const meanwhile = handle(1 << 32) // never issued; removing it has no effect
		var a *command.Buffer[value]
		resets, broken := 0, true
		p := small(t, pool.Options[value]{Origin: 101, Reset: func(v *value) {
			resets++
			if v.reset(); broken && resets%7 == 0 {
				if resets == 7 {
					a.Remove(meanwhile)
				}
				if exit {
					runtime.Goexit()
				}
				panic("ouch")
			}
		}})
		q := small(t, pool.Options[value]{})
		a = command.New(p)
		b, c := command.New(q), command.New(p)
		var mine []pool.Handle[value]
		for i := range uint64(400) {
			mine = append(mine, mustInsert(t, p, i))
			a.Remove(mine[i])
		}
		late, theirs := mustInsert(t, p, 1000), mustInsert(t, q, 1001)
		b.Remove(theirs)
		c.Remove(late)
		inserted := mustRecord(t, c, 1002)
		live := func() (n int) {
			for _, h := range mine {
				if p.Contains(h) {
					n++
				}
			}
			return n
		}
		panics := 0
		for returned := false; !returned; {
			before := live()
			v := apart(func() {
				command.Apply(a, b, c)
				returned = true
			})
			if returned {
				break
			}
			if !exit {
				require.Equal(t, "ouch", v)
			}
			panics++
			require.Less(t, live(), before, "it made no progress")
			requireLive(t, p, inserted, 1002)
			if panics == 1 {
				requireLen(t, a, 0, live()+1)
			} else {
				requireLen(t, a, 0, live())
			}
			requireLen(t, b, 0, 1)
			requireLen(t, c, 0, 1)
			requireLive(t, q, theirs, 1001)
			requireLive(t, p, late, 1000)
			if panics == 1 {
				hs := slices.Collect(a.Removals())
				require.Equal(t, meanwhile, hs[len(hs)-1], "what was recorded meanwhile comes last")
			}
		}
		require.NotZero(t, panics)
		require.Zero(t, live())
		require.False(t, p.Contains(late))
		require.False(t, q.Contains(theirs))
		requireLive(t, p, inserted, 1002)
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
		if v.reset(); broken && resets%50 == 0 {
			panic("ouch")
		}
	}})
	b := command.New(p)
	hs := map[pool.Handle[value]]bool{}
	var last handle
	for i := range uint64(300) {
		last = mustRecord(t, b, i)
		hs[last] = true
	}
	b.Remove(last)
	panics := 0
	for returned := false; !returned; {
		before, _ := b.Len()
		v := apart(func() {
			b.Discard()
			returned = true
		})
		if !returned {
			require.Equal(t, "ouch", v)
			panics++
			left, removals := b.Len()
			require.Less(t, left, before)
			require.Zero(t, removals)
			require.Equal(t, left, p.Stats().Reserved)
			for h, v := range b.Insertions() {
				require.True(t, hs[h])
				require.NotEqual(t, uint64(torn), v.number())
			}
		}
	}
	require.NotZero(t, panics)
	broken = false
	requireLen(t, b, 0, 0)
	for h := range hs {
		require.False(t, p.Contains(h))
	}
	requireNoneLost(t, p)
}
