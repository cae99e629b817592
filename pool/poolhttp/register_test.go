//go:build !race

package poolhttp_test

import (
	"encoding/json"
	"maps"
	"math"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
	"coatcheck/pool/pending"
	"coatcheck/pool/poolhttp"
)

// live returns how many values the named pool has, -1 if there is none.
func live(name string) int {
	if st, ok := maps.Collect(poolhttp.All())[name]; ok {
		return st.Live
	}
	return -1
}

func TestANameMeansTheLastPool(t *testing.T) {
	first := pool.Must[int](nil)
	poolhttp.Register("name", first)
	second := pool.Must[string](nil)
	_, _ = second.Insert("a")
	poolhttp.Register("name", second)
	require.Equal(t, 1, live("name"))

	poolhttp.Register("its other name", first)
	_, _ = first.Worker().Insert(1) // has a finalizer, and refers to the pool
	first = nil
	testkit.Eventually(t, func() bool { return live("its other name") < 0 && poolhttp.Entry("its other name") == nil }, "dropped")
	require.Equal(t, 1, live("name"), "the first pool removes no entry but its own")
	runtime.KeepAlive(second)
}

// TestNamesLeaveNothingBehind: a name may be registered any number of times, for the same
// pool or others. It catches cleanups that pile up, at 127 bytes each, while a pool lives.
func TestNamesLeaveNothingBehind(t *testing.T) {
	a, b := pool.Must[int](nil), pool.Must[int](nil)
	for what, change := range map[string]func(){
		"the same pool":  func() { poolhttp.Register("again", a) },
		"two pools":      func() { poolhttp.Register("turns", a); poolhttp.Register("turns", b) },
		"and Unregister": func() { poolhttp.Register("off", a); poolhttp.Unregister("off") },
	} {
		const n = 10_000
		change()
		before := testkit.Heap()
		for range n {
			change()
		}
		require.Less(t, testkit.Heap()-before, int64(10*n), what)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

func TestRegisterAndUnregisterAgain(t *testing.T) {
	p := pool.Must[int](nil)
	poolhttp.Register("one\xff", p)
	poolhttp.Register("other", p)
	other := poolhttp.Entry("other")
	poolhttp.Register("other", p)
	require.Same(t, other, poolhttp.Entry("other"), "with its chart")
	for range 2 { // of a name that is not there, it does nothing
		poolhttp.Unregister("one\xff")
		require.Nil(t, poolhttp.Entry("one\ufffd"))
		require.Zero(t, live("other"))
	}
	poolhttp.Register("one\xff", p)
	require.Zero(t, live("one\ufffd"))
	runtime.KeepAlive(p)
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
	require.True(t, slices.IsSorted(names), "the names should be sorted")
	require.Subset(t, names, []string{"order a", "order b", "order c"})
	for range poolhttp.All() {
		break
	}
	runtime.KeepAlive(p)
}

func TestRegisterRefusesNoPool(t *testing.T) {
	testkit.RequirePanicText(t, func() { poolhttp.Register[int]("nil", nil) }, "poolhttp: Register of a nil Pool")
	testkit.RequirePanicText(t, func() { poolhttp.Register("zero", new(pool.Pool[int])) }, "make one with New")
	require.Equal(t, -1, live("nil"))
	require.Equal(t, -1, live("zero"))
}

// What TraceGuards records is shown if the program asks for it, or has the tag.
func TestStacksAreShownIfAskedFor(t *testing.T) {
	p := pool.Must(&pool.Options[int]{TraceGuards: 1})
	poolhttp.Register("traced", p)
	defer poolhttp.Unregister("traced")
	poolhttp.Register("traced, and idle", pool.Must[int](nil))
	g := p.Pin()
	defer g.Unpin()
	shown := func() (in []bool) {
		for _, path := range []string{"/", "/pools.json"} {
			w := httptest.NewRecorder()
			poolhttp.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			in = append(in, strings.Contains(w.Body.String(), "TestStacksAreShownIfAskedFor"))
			require.Equal(t, path == "/" && !in[0], strings.Contains(w.Body.String(), "a pool also shows which calls"))
		}
		return in
	}
	require.Equal(t, []bool{poolhttp.Recorded, poolhttp.Recorded}, shown())
	poolhttp.ShowStacks(true)
	require.Equal(t, []bool{true, true}, shown())
	poolhttp.ShowStacks(false)
	require.Equal(t, []bool{poolhttp.Recorded, poolhttp.Recorded}, shown())
}

// Each figure of a pool is on its card, or in this list of those that are not.
func TestPageHasEachFigure(t *testing.T) {
	require.Equal(t, []string{
		"Allocated",          // the sum of the slots by state
		"Epoch", "OldestPin", // the JSON has them; the page tells the age of a pin as a time
	}, poolhttp.FiguresNotOnPage())
}

// locked is a structure without locks, as a program shows it.
type locked struct {
	mu sync.Mutex
	n  int
}

func (l *locked) Stats() pool.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return pool.Stats{Live: l.n}
}

// TestSourcesAreShownBesidePools, on the page and in the JSON, until they are collected.
func TestSourcesAreShownBesidePools(t *testing.T) {
	calls, store := pending.Must[string](&pending.Options{Capacity: 3}), dense.Must[int](nil)
	own := &locked{n: 7}
	poolhttp.RegisterSource("source calls", calls)
	poolhttp.RegisterSource("source store", store)
	poolhttp.RegisterSource("source own", own)
	entry := poolhttp.Entry("source calls")
	poolhttp.RegisterSource("source calls", calls)
	require.Same(t, entry, poolhttp.Entry("source calls"))
	for range 4 {
		_, _ = calls.Start()
	}
	_, _ = store.Create(1)
	require.Equal(t, []int{3, 1, 7}, []int{live("source calls"), live("source store"), live("source own")})
	require.Equal(t, 1, maps.Collect(poolhttp.All())["source calls"].RefusedFull)
	for _, path := range []string{"/", "/pools.json"} {
		w := httptest.NewRecorder()
		poolhttp.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		for _, text := range []string{"source calls", "pending.Calls[string]", "dense.Store[int]", "poolhttp_test.locked"} {
			require.Contains(t, w.Body.String(), text)
		}
	}
	runtime.KeepAlive(calls)
	runtime.KeepAlive(own)
	runtime.KeepAlive(store)
	testkit.Eventually(t, func() bool {
		return live("source calls") < 0 && live("source store") < 0 && live("source own") < 0
	}, "dropped")
	testkit.RequirePanicText(t, func() { poolhttp.RegisterSource[locked]("nil", nil) }, "poolhttp: RegisterSource of a nil pointer")
	testkit.RequirePanicText(t, func() { poolhttp.RegisterSource("zero", new(dense.Store[int])) }, "make one with New")
	require.Equal(t, -1, live("zero"))
}

// TestPageShowsTheOldestCall: the page and the JSON tell how long the oldest call has been
// outstanding, where there is one, and where calls have ages.
func TestPageShowsTheOldestCall(t *testing.T) {
	calls, ageless := pending.Must[string](&pending.Options{Ages: true}), pending.Must[string](nil)
	poolhttp.RegisterSource("aged calls", calls)
	poolhttp.RegisterSource("ageless calls", ageless)
	defer poolhttp.Unregister("aged calls")
	defer poolhttp.Unregister("ageless calls")
	shown := func(name string) (page bool, age time.Duration) {
		_, card, found := strings.Cut(ask("GET", "/").Body.String(), `<section id="pool-`+name+`"`)
		require.True(t, found)
		card, _, _ = strings.Cut(card, "</section>")
		var pools map[string]struct{ OldestAge time.Duration }
		require.NoError(t, json.Unmarshal(ask("GET", "/pools.json").Body.Bytes(), &pools))
		return regexp.MustCompile(`<dt>oldest</dt><dd>[^<]*\d`).MatchString(card), pools[name].OldestAge
	}
	page, age := shown("aged calls")
	require.False(t, page || age != 0, "there is no call yet")
	before := time.Now()
	call, _ := calls.Start()
	_, _ = ageless.Start()
	time.Sleep(time.Millisecond)
	_, _ = calls.Start()
	page, age = shown("aged calls")
	require.True(t, page)
	require.GreaterOrEqual(t, age, time.Millisecond)
	require.LessOrEqual(t, age, time.Since(before))
	page, age = shown("ageless calls")
	require.False(t, page || age != 0, "the calls have no ages")
	call.Cancel()
	runtime.KeepAlive(ageless)
}

// wrong is a Source with a figure that JSON has not.
type wrong struct{ worn float64 }

func (w *wrong) Stats() pool.Stats { return pool.Stats{Live: 3, Worn: w.worn} }

// TestNumbersThatJSONHasNot of one Source hide no others.
func TestNumbersThatJSONHasNot(t *testing.T) {
	for _, worn := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		w := &wrong{worn}
		poolhttp.RegisterSource("wrong", w)
		b, err := json.Marshal(poolhttp.Vars())
		require.NoError(t, err)
		require.Contains(t, string(b), `"wrong"`)
		poolhttp.Unregister("wrong")
		runtime.KeepAlive(w)
	}
}
