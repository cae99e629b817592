//go:build coatcheck_debug && !interleave

package pooltest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
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

// section returns the part of a report that begins with head.
func section(t *testing.T, report, head string) string {
	t.Helper()
	_, after, found := strings.Cut(report, "\n"+head+"\n")
	require.Truef(t, found, "%q in %s", head, report)
	lines := strings.SplitAfter(after, "\n")
	for i, line := range lines {
		if line[0] != '\t' {
			return strings.Join(lines[:i], "")
		}
	}
	return after
}

// TestStacksNameTheCreator: the stack of each thing left behind names the function that
// created it.
func TestStacksNameTheCreator(t *testing.T) {
	p := pool.Must(replay())
	leakValues(p, 3)
	leakOtherValue(p)
	g := leakGuard(p)
	w := leakWorker(p)
	cancel := leakReservation(p)
	ref := leakRef(p)
	report := left(t, p)
	require.NotContains(t, report, "-tags")

	values := section(t, report, "4 values live")
	require.Equal(t, 1, strings.Count(values, "coatcheck/pool/pooltest_test.leakValues\n"), report)
	require.Equal(t, 2, strings.Count(values, " by the same\n"), report)
	require.Equal(t, 1, strings.Count(values, "coatcheck/pool/pooltest_test.leakOtherValue\n"), report)
	for head, who := range map[string]string{
		"1 guard pinned, the oldest 0 epochs back": "leakGuard", "1 Reservation open": "leakReservation", "1 Worker open": "leakWorker", "1 Ref open": "leakRef",
	} {
		require.Contains(t, section(t, report, head), "coatcheck/pool/pooltest_test."+who+"\n")
	}
	require.Contains(t, report, "/stacks_on_test.go:")

	g.Unpin()
	w.Close()
	cancel()
	ref.Release()
	leakLoop(p, func() {
		require.Contains(t, section(t, left(t, p), "1 guard pinned, the oldest 0 epochs back"), "coatcheck/pool/pooltest_test.leakLoop\n")
	})
	p.Clear()
	require.Empty(t, left(t, p))
}
