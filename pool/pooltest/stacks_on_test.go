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
