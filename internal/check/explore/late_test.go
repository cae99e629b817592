//go:build interleave

package explore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/atom"
	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// What a goroutine stores after an insertion or an Unpin is not seen before these. What it
// loads may be older. Package doc says so, and no more can be relied on.
func TestInterleaveLateStoresPassLoadsAlone(t *testing.T) {
	// outcomes are what A can see of B's flag, and B of what A did.
	type outcome struct{ flag, done bool }
	outcomes := func(do func(a *actor, h Handle[val]), done func(a *actor, h Handle[val]) bool) map[outcome]bool {
		seen := make(map[outcome]bool)
		res := interleave.Search(func(r *interleave.Run) {
			w := &world{r: r}
			a := w.pool(slots.PageSizes{Unit: 1, Page: 1}, Options[val]{Origin: 101, Shards: 1})
			reservation := a.reserve("Reserve")
			var flag atom.Uint64
			var o outcome
			w.thread(0, func(a *actor) {
				do(a, a.commit(reservation))
				o.flag = flag.Load() == 1
			})
			w.thread(0, func(a *actor) {
				flag.Store(1)
				o.done = done(a, reservation.Handle())
			})
			w.finish = func() error { seen[o] = true; return nil }
		}, 2)
		require.Nil(t, res.Failure)
		return seen
	}
	neither := outcome{}
	look := func(a *actor, h Handle[val]) { a.at("Get", nil, h) }
	live := func(a *actor, h Handle[val]) bool { return a.p.Contains(h) }
	idle := func(a *actor, _ Handle[val]) bool { return Domain(a.p).Scan().Count == 0 }
	var word atom.Uint64
	assert.Contains(t, outcomes(func(*actor, Handle[val]) {}, live), neither)
	assert.Contains(t, outcomes(look, idle), neither)
	for name, tell := range map[string]func(a *actor, h Handle[val]){
		"an atomic store": func(*actor, Handle[val]) { word.Store(1) },
		"a mutex":         func(*actor, Handle[val]) { var mu atom.Mutex; mu.Lock(); defer mu.Unlock() },
		"a look-up":       look, // its pin
	} {
		assert.NotContains(t, outcomes(tell, live), neither, name)
	}
}
