package poolhttp_test

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

// live returns how many values the named pool has, -1 if there is none.
func live(name string) int {
	if st, ok := maps.Collect(poolhttp.All())[name]; ok {
		return st.Live
	}
	return -1
}

func TestARegisteredPoolIsCollected(t *testing.T) {
	func() {
		p := pool.Must[int](nil)
		poolhttp.Register("dropped", p)
		w := p.Worker() // has a finalizer, and refers to the pool
		_, _ = w.Insert(1)
		require.Equal(t, 1, live("dropped"))
	}()
	testkit.Eventually(t, func() bool { return live("dropped") < 0 && !poolhttp.Known("dropped") }, "dropped")
}

func TestANameMeansTheLastPool(t *testing.T) {
	first := pool.Must[int](nil)
	poolhttp.Register("name", first)
	second := pool.Must[string](nil)
	_, _ = second.Insert("a")
	poolhttp.Register("name", second)
	require.Equal(t, 1, live("name"))

	poolhttp.Register("its other name", first)
	first = nil
	testkit.Eventually(t, func() bool { return !poolhttp.Known("its other name") }, "dropped")
	require.Equal(t, 1, live("name"), "the first pool removes no entry but its own")
	runtime.KeepAlive(second)
}

func TestAllIsInOrderAndMayStop(t *testing.T) {
	p := pool.Must[int](nil)
	for _, name := range []string{"order b", "order a", "order c"} {
		poolhttp.Register(name, p) // a pool may have several names
	}
	var names []string
	for name := range poolhttp.All() {
		names = append(names, name)
	}
	require.True(t, slices.IsSorted(names))
	require.Subset(t, names, []string{"order a", "order b", "order c"})
	for range poolhttp.All() {
		break
	}
	runtime.KeepAlive(p)
}

func TestRegisterRefusesNoPool(t *testing.T) {
	require.Panics(t, func() { poolhttp.Register[int]("nil", nil) })
	require.Panics(t, func() { poolhttp.Register("zero", new(pool.Pool[int])) })
	require.Equal(t, -1, live("nil"))
	require.Equal(t, -1, live("zero"))
}
