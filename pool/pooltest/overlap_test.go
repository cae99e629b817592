//go:build !race

package pooltest_test

import (
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
