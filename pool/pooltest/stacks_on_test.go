//go:build coatcheck_debug && !interleave

package pooltest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/pooltest"
)

const stacks = true

func leakValues(p *pool.Pool[conn], n int) {
	for range n {
		_, _ = p.Insert(conn{})
	}
}
func leakOtherValue(p *pool.Pool[conn])                { _, _ = p.InsertFunc(func(pool.Handle[conn], *conn) {}) }
func leakGuard(p *pool.Pool[conn]) pool.Guard[conn]    { return p.Pin() }
func leakWorker(p *pool.Pool[conn]) *pool.Worker[conn] { return p.Worker() }
func leakReservation(p *pool.Pool[conn]) func()        { r, _ := p.Reserve(); return r.Cancel }
func leakRef(p *pool.Pool[conn]) *pool.Ref[conn] {
	h, _ := p.Insert(conn{})
	defer p.Remove(h)
	r, _ := p.Hold(h)
	return r
}
func leakLoop(p *pool.Pool[conn], yield func()) {
	for range p.All() {
		yield()
		return
	}
}

// creator matches a report that names this function of this file in the section that
// begins with head.
func creator(head, function string) string {
	return `(?m)^` + head + `\n(\t.*\n)*?\t+coatcheck/pool/pooltest_test\.` + function + `\n.*/stacks_on_test\.go:`
}

// TestStacksNameTheCreator: the stack of each thing left behind names the function that
// created it.
func TestStacksNameTheCreator(t *testing.T) {
	const pinned = `1 guard pinned`
	p := pool.Must(replay())
	leakValues(p, 3)
	leakOtherValue(p)
	g := leakGuard(p)
	w := leakWorker(p)
	cancel := leakReservation(p)
	ref := leakRef(p)
	report := left(t, p)
	require.NotContains(t, report, "-tags")

	for function, head := range map[string]string{
		"leakValues": "4 values live", "leakOtherValue": "4 values live", "leakGuard": pinned,
		"leakReservation": "1 Reservation open", "leakWorker": "1 Worker open", "leakRef": "1 Ref open",
	} {
		require.Regexp(t, creator(head, function), report)
		require.Equal(t, 1, strings.Count(report, "."+function+"\n"), report)
	}
	require.Equal(t, 2, strings.Count(report, " by the same\n"), report)

	g.Unpin()
	w.Close()
	cancel()
	ref.Release()
	leakLoop(p, func() {
		require.Regexp(t, creator(pinned, "leakLoop"), left(t, p))
	})
	p.Clear()
	require.Empty(t, left(t, p))
}

// TestLateWriteFailsTheTest: a write through a pointer that was kept too long is told, by Empty and at the end of a
// test, with the stacks of who inserted and removed the value. It is told once.
func TestLateWriteFailsTheTest(t *testing.T) {
	for _, atEnd := range []bool{false, true} {
		for _, o := range []*pool.Options[conn]{nil, replay(), {Reset: func(c *conn) { c.Name = "" }}} {
			p := pool.Must(o)
			r := &recorder{name: "TestServer"}
			pooltest.EmptyAtEnd(r, p)
			var kept []*conn
			for range 3 {
				h, _ := p.Insert(conn{Name: "alice"})
				c, _ := p.Pointer(h)
				kept = append(kept, c)
				require.True(t, p.Remove(h), "the value should be live")
			}
			require.NoError(t, p.Synchronize(t.Context()))
			for _, c := range kept[len(kept)-2:] {
				c.Peer = 5
			}
			if !atEnd {
				pooltest.Empty(r, p)
			}
			r.cleanups[0]()
			require.Len(t, r.errors, 1)
			require.Regexp(t, `^pooltest: \*pool\.Pool\[.*\] has values that were written to too late\npool: a value was written to after`, r.errors[0])
			require.Contains(t, r.errors[0], "\nremoved at ")
			require.Contains(t, r.errors[0], "TestLateWriteFailsTheTest\n")
		}
	}
}
