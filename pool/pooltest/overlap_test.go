package pooltest_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

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
	<-stopped
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
