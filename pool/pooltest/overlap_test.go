package pooltest_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/pooltest"
)

// begin begins a test that uses EmptyAtEnd, and returns what ends it.
func begin(name string, p *pool.Pool[conn]) (r *recorder, end func()) {
	r = &recorder{name: name}
	pooltest.EmptyAtEnd(r, p)
	return r, func() {
		for _, f := range r.cleanups {
			f()
		}
	}
}

// TestOverlappingTests: while others use the pool, nobody can tell whose a thing is. The last test
// reports what is left, and names those that may have left it.
func TestOverlappingTests(t *testing.T) {
	p := pool.Must(replay())
	a, endA := begin("A", p)
	b, endB := begin("B", p)
	h, _ := p.Insert(conn{Name: "of B"})
	w := p.Worker() // of B
	endA()
	require.Empty(t, a.errors, "B has not ended")
	p.Remove(h)
	w.Close()
	endB()
	require.Empty(t, b.errors)

	a, endA = begin("A", p)
	b, endB = begin("B", p)
	_, _ = p.Insert(conn{Name: "of A"})
	endA()
	require.Empty(t, a.errors)
	c, endC := begin("C", p)
	endB()
	endC()
	require.Empty(t, b.errors)
	require.Len(t, c.errors, 1)
	require.Contains(t, c.errors[0], "1 value live")
	require.Contains(t, c.errors[0], "(one of these left it, since they overlapped: A, B, C)")

	d, endD := begin("D", p)
	endD()
	require.Empty(t, d.errors, "it is another's")
}

// TestSubtestsAnswerForThemselves: a test and its subtests do not overlap, whichever ends first. Tests whose names only
// begin alike do.
func TestSubtestsAnswerForThemselves(t *testing.T) {
	for names, overlap := range map[[2]string]bool{{"T", "T/sub"}: false, {"T/sub", "T"}: false, {"T", "T2"}: true, {"T2", "T"}: true, {"T", "T"}: false} {
		p := pool.Must(replay())
		_, endA := begin(names[0], p)
		b, endB := begin(names[1], p)
		_, _ = p.Insert(conn{})
		endB()
		require.Equal(t, overlap, len(b.errors) == 0, names)
		endA()
	}
}

// TestTestsOfOtherPoolsDoNotOverlap: what a test leaves in its pool goes to a test of that pool alone.
func TestTestsOfOtherPoolsDoNotOverlap(t *testing.T) {
	p := pool.Must(replay())
	other, endOther := begin("other", pool.Must(replay()))
	a, endA := begin("A", p)
	_, _ = p.Insert(conn{})
	endA()
	require.Len(t, a.errors, 1)

	a, endA = begin("A", p)
	b, endB := begin("B", p)
	_, _ = p.Insert(conn{})
	endA()
	require.Empty(t, a.errors, "B has not ended")
	endB()
	require.Len(t, b.errors, 1)
	endOther()
	require.Empty(t, other.errors)
}

// TestManyTestsAtOnce: those that begin while others end lose none of each other.
func TestManyTestsAtOnce(t *testing.T) {
	const goroutines, each = 8, 200
	p := pool.Must(replay())
	ends := make([]func(), goroutines*each)
	for i := range ends { // many, so that an end takes long
		_, ends[i] = begin("A", p)
	}
	all, begun := pooltest.Running()
	testkit.Together(goroutines, func(g int) {
		for i := g * each; i < (g+1)*each; i++ {
			ends[i]()
			_, ends[i] = begin("A", p)
		}
	})
	nowAll, nowBegun := pooltest.Running()
	require.Equal(t, []int{all, begun + len(ends)}, []int{nowAll, nowBegun})
	for _, end := range ends {
		end()
	}
	nowAll, _ = pooltest.Running()
	require.Equal(t, all-len(ends), nowAll)
}

// TestOverlappingTestsInherit: what a test that ends has left open, the next one answers for, even if it began later; and
// for nothing else.
func TestOverlappingTestsInherit(t *testing.T) {
	p := pool.Must(replay())
	_, endA := begin("A", p)
	g := p.Pin() // of A
	b, endB := begin("B", p)
	endA()
	endB()
	require.Len(t, b.errors, 1)
	require.Contains(t, b.errors[0], "1 guard pinned")
	g.Unpin()

	a, endA := begin("A", p)
	g = p.Pin() // of A
	_, endB = begin("B", p)
	h := p.Pin() // of B, which leaves it to A
	endB()
	h.Unpin()
	endA()
	require.Len(t, a.errors, 1, "A began before its own guard")
	g.Unpin()

	_, endA = begin("A", p)
	g = p.Pin() // of neither
	b, endB = begin("B", p)
	k, _ := p.Insert(conn{}) // of A
	g.Unpin()
	endA()
	p.Remove(k)
	g = p.Pin() // as many as when B began
	endB()
	require.Equal(t, stacks, len(b.errors) > 0, "guards are counted")
	g.Unpin()

	_, endA = begin("A", p)
	b, endB = begin("B", p)
	k, _ = p.Insert(conn{})
	endA()
	_, endA = begin("A", p)
	l, _ := p.Insert(conn{})
	endA()
	endB()
	require.Len(t, b.errors, 1)
	require.Contains(t, b.errors[0], "(one of these left it, since they overlapped: A, B)")
	p.Remove(k)
	p.Remove(l)
}

// TestClosingAnothersHidesNothing: a test that closes what others left answers for what it opens.
func TestClosingAnothersHidesNothing(t *testing.T) {
	p := pool.Must(replay())
	h, _ := p.Insert(conn{})
	for name, open := range map[string]func() (end func()){
		"guard":       func() func() { g := p.Pin(); return g.Unpin },
		"Ref":         func() func() { r, _ := p.Hold(h); return r.Release },
		"Worker":      func() func() { return p.Worker().Close },
		"Reservation": func() func() { r, _ := p.Reserve(); return r.Cancel },
		"value":       func() func() { h, _ := p.Insert(conn{}); return func() { p.Remove(h) } },
	} {
		closeOther := open()
		r, end := begin(name, p)
		closeOther()
		closeMine := open()
		end()
		if stacks || name == "value" {
			require.Len(t, r.errors, 1, name)
		} else {
			require.Empty(t, r.errors, "%s: documented", name)
		}
		closeMine()
	}
}

// TestKindsAreCountedApart: a test that closes another's thing of one kind answers for what it leaves of another kind.
func TestKindsAreCountedApart(t *testing.T) {
	p := pool.Must(replay())
	w := p.Worker()
	a, end := begin("A", p)
	w.Close()
	r, err := p.Reserve()
	require.NoError(t, err)
	end()
	require.Len(t, a.errors, 1, "a Reservation is open")
	b, end := begin("B", p)
	r.Cancel()
	w = p.Worker()
	end()
	require.Len(t, b.errors, 1, "a Worker is open")
	w.Close()
}

// TestEndsReadNoValuesOfOthers: a test that ends while another uses the pool looks at no value, since the other
// may be writing to its own. The race detector tells.
func TestEndsReadNoValuesOfOthers(t *testing.T) {
	p := pool.Must(replay())
	a, endA := begin("A", p)
	b, endB := begin("B", p)
	h, _ := p.Insert(conn{})
	v, _ := p.Pointer(h)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			v.Name = "written"
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	endA()
	require.Empty(t, a.errors)
	close(stop)
	testkit.Soon(t, stopped)
	endB()
	require.Len(t, b.errors, 1)
	require.Contains(t, b.errors[0], "1 value live")
}

// TestNobodyAnswersForWhatWasOpenBefore: not for a guard that was pinned right before, nor
// with a value that another test has left.
func TestNobodyAnswersForWhatWasOpenBefore(t *testing.T) {
	for range 50 {
		p := pool.Must(replay())
		g := p.Pin()
		r, end := begin("A", p)
		end()
		require.Empty(t, r.errors)
		g.Unpin()
	}
	p := pool.Must(replay())
	a, endA := begin("A", p)
	mine := p.Pin() // by neither
	b, endB := begin("B", p)
	_, _ = p.Insert(conn{Name: "of A"})
	mine.Unpin()
	g2 := p.Pin()
	c, endC := begin("C", p)
	g2.Unpin()
	endA()
	endB()
	endC()
	require.Empty(t, a.errors)
	require.Empty(t, b.errors)
	require.Len(t, c.errors, 1)
	require.Contains(t, c.errors[0], "1 value live")
	require.NotContains(t, c.errors[0], "guard")
}
