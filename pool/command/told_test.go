package command_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
	"coatcheck/pool/tree"
)

// TestApplyFuncTellsOfEachRemovedValueOnce: a destructor is called once for each value that an
// Apply removed, with that value, in order, and for no other. So it is where OnRemove
// fails in the middle of a removal, which the next Apply must not repeat.
func TestApplyFuncTellsOfEachRemovedValueOnce(t *testing.T) {
	const n = 2000
	armed, calls, interrupted := false, 0, 0 // OnRemove may fail; its calls since then; removals that one interrupted
	resets := map[uint64]int{}
	p := pool.Must(&pool.Options[value]{Shards: 1, Reset: func(v *value) {
		resets[v.number()]++
		*v = value{}
	}, OnRemove: func(handle, *value) {
		if !armed {
			return
		}
		switch calls++; calls % 30 {
		case 10:
			interrupted++
			panic("event")
		case 20:
			interrupted++
			runtime.Goexit()
		}
	}})
	a, b := command.New(p), command.New(p)
	var want, got []uint64
	for i := range uint64(n) {
		byOthers := testkit.MustInsert(t, p, valueOf(torn+i))
		h := mustRecord(t, a, i+1)
		a.Remove(byOthers)
		a.Remove(h)
		a.Remove(h)
		b.Remove(h)
		p.Remove(byOthers)
		want = append(want, i+1)
	}
	tell := func(h handle, v value) {
		require.False(t, p.Contains(h), "it is removed by now")
		got = append(got, v.number())
		armed = false
		defer func() { armed = true }()
		p.Remove(testkit.MustInsert(t, p, valueOf(torn+n)))
		if len(got)%100 == 99 {
			panic("destructor")
		}
	}
	for a.Len()+b.Len() > 0 {
		armed = true
		testkit.Apart(func() { command.ApplyFunc(tell, a, b) })
		armed = false
	}
	require.True(t, slices.Equal(want, got), "%d told of %d: %v", len(got), len(want), got)
	require.Greater(t, interrupted, 10, "events that failed in a removal")
	require.Zero(t, p.Len())
	testkit.RequireReclaimed(t, p)
	for i := range uint64(n) {
		require.Zero(t, resets[i+1], "a value that was moved out is Reset")
	}
	testkit.RequirePanicText(t, func() { command.ApplyFunc(nil, a) }, "command: ApplyFunc of a nil function")
}

// TestFunctionsComeInTheirPlace: when all insertions are live, those of later buffers too, and
// between the removals recorded before and after them.
func TestFunctionsComeInTheirPlace(t *testing.T) {
	for _, tells := range []bool{false, true} {
		p := pool.Must[value](nil)
		a, b := command.New(p), command.New(p)
		hs := testkit.Fill(t, p, 4, func(i int) value { return valueOf(uint64(i)) })
		var seen [][]bool
		look := func() {
			var live []bool
			for _, h := range hs {
				live = append(live, p.Contains(h))
			}
			seen = append(seen, live)
		}
		b.Do(look)
		b.Remove(hs[2])
		b.Do(look)
		b.Do(func() { // all of this is for the next frame
			b.Remove(hs[4])
			b.Do(look)
			i, n := a.Apply()
			require.Zero(t, i+n)
		})
		b.Remove(hs[3])
		a.Do(look)
		a.Remove(hs[0])
		a.Remove(hs[1])
		a.Do(look)
		hs = append(hs, mustRecord(t, b, 9))
		require.Equal(t, [2]int{4, 6}, [2]int{a.Len(), b.Len()})
		apply := func() (int, int) {
			if tells {
				return command.ApplyFunc(func(handle, value) {}, a, b)
			}
			return command.Apply(a, b)
		}
		i, n := apply()
		require.Equal(t, [2]int{1, 4}, [2]int{i, n})
		require.Equal(t, [][]bool{
			{true, true, true, true, true}, {false, false, true, true, true},
			{false, false, true, true, true}, {false, false, false, true, true},
		}, seen)
		require.Equal(t, 2, b.Len())
		i, n = apply()
		require.Equal(t, [2]int{0, 1}, [2]int{i, n})
		require.Equal(t, []bool{false, false, false, false, false}, seen[4])

		a.Do(look)
		require.Equal(t, 1, a.Discard())
		apply()
		require.Len(t, seen, 5, "a function that was discarded is called")
	}
}

// TestInsertionsAreEdited: values that wait can be changed, and refer to each other, before
// they are live.
func TestInsertionsAreEdited(t *testing.T) {
	p := pool.Must[value](nil)
	b := command.New(p)
	for i := range uint64(5) {
		mustRecord(t, b, i+1)
	}
	var hs []handle
	for h, v := range b.Insertions() {
		require.False(t, p.Contains(h), "the value should be gone")
		require.EqualValues(t, len(hs)+1, v.number())
		*v = valueOf(10 * v.number())
		if hs = append(hs, h); len(hs) == 2 {
			mustRecord(t, b, 6)
		}
	}
	require.Len(t, hs, 6, "one was recorded meanwhile")
	for range b.Insertions() {
		break
	}
	requireApplied(t, 6, 0, b)
	for i, h := range hs {
		v, ok := p.Get(h)
		require.True(t, ok, "the value should be live")
		require.EqualValues(t, 10*(i+1), v.number())
	}
	mustRecord(t, b, 7)
	mustRecord(t, b, 8)
	for range b.Insertions() {
		require.Equal(t, 2, b.Discard())
	}
	require.Zero(t, b.Len())
}

// TestForestInOneFrame: nodes of a forest come, are linked, and go with all below them, by the
// commands of one frame in one Buffer, and nothing goes behind the forest's back.
func TestForestInOneFrame(t *testing.T) {
	type widget struct {
		name  string
		links tree.Links[widget]
	}
	p := pool.Must[widget](nil)
	f := tree.New(p, func(w *widget) *tree.Links[widget] { return &w.links })
	b := command.New(p)
	record := func(parent pool.Handle[widget], name string) pool.Handle[widget] {
		h, err := b.InsertFunc(func(_ pool.Handle[widget], w *widget) { w.name = name })
		require.NoError(t, err)
		if parent != 0 {
			b.Do(func() { require.NoError(t, f.Append(parent, h)) })
		}
		return h
	}
	names := func(h pool.Handle[widget]) (names []string) {
		for _, w := range f.Descendants(h) {
			names = append(names, w.name)
		}
		return names
	}
	root := record(0, "root")
	menu := record(root, "menu") // the parent is not live yet
	record(menu, "open")
	record(root, "body")
	i, n := b.Apply()
	require.Equal(t, [2]int{4, 0}, [2]int{i, n})
	require.Equal(t, []string{"menu", "open", "body"}, names(root))

	record(menu, "close")
	record(root, "foot")
	removed := 0
	b.Do(func() { removed = f.Remove(menu) }) // with what this frame has linked to it
	b.Apply()
	require.Equal(t, 3, removed)
	require.Equal(t, []string{"body", "foot"}, names(root))
	require.Zero(t, f.Repair(), "nothing was removed behind the forest's back")
	require.Equal(t, 3, p.Len())
}

// TestCalledFunctionsAreNotKept: a Buffer keeps memory for the functions of its largest frame,
// and none of them.
func TestCalledFunctionsAreNotKept(t *testing.T) {
	b := command.New(pool.Must[value](nil))
	const n = 100
	freed := make(chan struct{}, 2*n)
	testkit.Apart(func() {
		for _, end := range []func(){func() { b.Apply() }, func() { b.Discard() }} {
			for range n {
				big := new([1 << 10]byte)
				runtime.SetFinalizer(big, func(*[1 << 10]byte) { freed <- struct{}{} })
				b.Do(func() { runtime.KeepAlive(big) })
			}
			end()
		}
	})
	testkit.Eventually(t, func() bool { return len(freed) == cap(freed) }, "%d of %d", len(freed), cap(freed))
	runtime.KeepAlive(b)
}

// TestBufferIsPrintedBesideRecorders: without a race.
func TestBufferIsPrintedBesideRecorders(t *testing.T) {
	p := pool.Must[int](nil)
	b := command.New(p)
	require.Equal(t, "*command.Buffer[int]: a zero Buffer, or a copy", fmt.Sprint(new(command.Buffer[int])))
	testkit.Together(2, func(k int) {
		for range 100 {
			if k == 0 {
				require.Regexp(t, `^\*command\.Buffer\[int\]: [0-9]+ commands$`, fmt.Sprintf("%v", b))
				continue
			}
			b.Remove(1 << 32)
		}
	})
	require.Equal(t, "*command.Buffer[int]: 100 commands", fmt.Sprint(b))
}

// TestCalledFunctionsAreLetGo: also if a later one panics, so that its list is recorded again.
func TestCalledFunctionsAreLetGo(t *testing.T) {
	b := command.New(pool.Must[int](nil))
	gone := make(chan struct{}, 1)
	func() {
		captured := new([1000]byte)
		runtime.AddCleanup(captured, func(c chan struct{}) { c <- struct{}{} }, gone)
		b.Do(func() { captured[0]++ })
	}()
	calls := 0
	b.Do(func() {
		if calls++; calls == 1 {
			b.Do(func() { panic("just so") })
			panic("not yet")
		}
	})
	b.Do(func() { calls += 10 })
	require.Equal(t, "not yet", testkit.Recovered(func() { b.Apply() }))
	require.Equal(t, 2, b.Len())
	testkit.Eventually(t, func() bool { runtime.GC(); return len(gone) == 1 }, "what a called function captured is collected")
	require.Equal(t, "just so", testkit.Recovered(func() { b.Apply() }))
	require.Equal(t, 11, calls)
}
