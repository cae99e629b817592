package pooltest_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/pooltest"
)

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB // nil: everything else panics
	name       string
	errors     []string
	helped     bool
	cleanups   []func()
}

func (r *recorder) Helper()      { r.helped = true }
func (r *recorder) Name() string { return r.name }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// left returns the report of Empty, "" if there is none.
func left[T any](t *testing.T, p *pool.Pool[T]) string {
	t.Helper()
	var r recorder
	pooltest.Empty(&r, p)
	require.True(t, r.helped, "the caller's line is reported")
	if len(r.errors) == 0 {
		return ""
	}
	require.Len(t, r.errors, 1, "all in one Errorf")
	return r.errors[0]
}

// lines returns the lines of a report without the first line, the stacks, and the hint at
// the end.
func lines(t *testing.T, report string) (kept []string) {
	t.Helper()
	all := strings.Split(report, "\n")
	require.Regexp(t, `^pooltest: \*pool\.Pool\[.*\] is not empty$`, all[0])
	for _, line := range all[1:] {
		text := strings.TrimLeft(line, "\t")
		isStory := strings.Contains(line, "\t\t") || strings.Contains(text, " at ") && strings.Contains(text, " ago) by") ||
			strings.HasPrefix(line, "\tcoatcheck/pool/") || strings.HasPrefix(line, "\ttesting.")
		if !isStory && !strings.HasPrefix(line, "(go test -tags coatcheck_debug") {
			kept = append(kept, line)
		}
	}
	return kept
}

type conn struct {
	Name string
	Peer pool.Handle[conn]
}

func replay() *pool.Options[conn] { return &pool.Options[conn]{Origin: 1, Shards: 1} }

// TestEmptyNamesWhatIsLeft: each thing that can be left behind is named, alone, until it
// is closed.
func TestEmptyNamesWhatIsLeft(t *testing.T) {
	for name, leave := range map[string]func(p *pool.Pool[conn]) (want []string, tidy func()){
		"values": func(p *pool.Pool[conn]) ([]string, func()) {
			h, _ := p.Insert(conn{Name: "alice"})
			_, _ = p.Insert(conn{Name: "bob", Peer: h})
			return []string{"2 values live", "\t0@1: {Name:alice Peer:none}", "\t1@1: {Name:bob Peer:0@1}"}, func() { p.Clear() }
		},
		"two guards": func(p *pool.Pool[conn]) ([]string, func()) {
			g, young := p.Pin(), p.Pin()
			return []string{"2 guards pinned"}, func() { g.Unpin(); young.Unpin() }
		},
		"a Worker that has flushed": func(p *pool.Pool[conn]) ([]string, func()) {
			w := p.Worker()
			h, _ := w.Insert(conn{})
			w.Remove(h)
			w.Flush()
			return []string{"1 Worker open"}, w.Close
		},
		"a Ref of a removed value": func(p *pool.Pool[conn]) ([]string, func()) {
			h, _ := p.Insert(conn{})
			r, _ := p.Hold(h)
			p.Remove(h)
			return []string{"1 Ref open"}, r.Release
		},
		"all at once": func(p *pool.Pool[conn]) ([]string, func()) {
			g := p.Pin()
			v, w := p.Worker(), p.Worker()
			r, _ := p.Reserve()
			h, _ := v.Insert(conn{Name: "dave"})
			require.NotZero(t, p.Stats().Cached, "the Worker's slots")
			return []string{
				"1 value live", "\t" + h.String() + ": {Name:dave Peer:none}", "1 guard pinned",
				"1 Reservation open", "2 Workers open",
			}, func() { g.Unpin(); r.Cancel(); v.Remove(h); v.Close(); w.Close() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(replay())
			require.Empty(t, left(t, p))
			want, tidy := leave(p)
			report := left(t, p)
			require.Equal(t, want, lines(t, report), report)
			require.NotEqual(t, stacks, strings.HasSuffix(report, "\n(go test -tags coatcheck_debug tells who left this)"))
			tidy()
			require.Empty(t, left(t, p))
		})
	}
}

// Tests that share a pool answer for what they leave, and not for each other.
func TestEmptyAtEndBlamesNoOtherTest(t *testing.T) {
	p := pool.Must(replay())
	run := func(test func()) string {
		var r recorder
		pooltest.EmptyAtEnd(&r, p)
		test()
		for _, f := range r.cleanups {
			f()
		}
		return strings.Join(r.errors, "\n")
	}
	none := func() {}
	require.Empty(t, run(none))
	report := run(func() {
		_, _ = p.Insert(conn{Name: "alice"})
		p.Pin()
		testkit.Apart(func() { p.Worker() })
	})
	require.Equal(t, []string{"1 value live", "\t0@1: {Name:alice Peer:none}", "1 guard pinned", "1 Worker open"}, lines(t, report))
	require.Empty(t, run(none), "all that is another's")
	require.Empty(t, run(func() { p.Clear() }))
	require.Empty(t, run(func() {
		testkit.Eventually(t, func() bool { return p.Stats().Dropped > 0 }, "collected")
	}), "the other test's Worker")
	testkit.Apart(func() { _, _ = p.Reserve() })
	dropped := p.Stats().Dropped
	require.Empty(t, run(func() {
		testkit.Eventually(t, func() bool { runtime.GC(); return p.Stats().Dropped > dropped }, "collected")
	}), "another's Reservation")
	require.Contains(t, run(func() {
		testkit.Apart(func() { p.Worker() })
		testkit.Eventually(t, func() bool { runtime.GC(); return p.Stats().Dropped > dropped+1 }, "collected")
	}), "dropped and left to the garbage collector", "beside a guard of another")
	for range 2 {
		_, _ = p.Insert(conn{})
	}
	require.Empty(t, run(none), "two values of another")
	p.Clear()
	report = run(func() {
		_, _ = p.Insert(conn{Name: "bob"})
		p.Worker()
	})
	got := lines(t, report)
	require.Equal(t, []string{"1 value live", "\t" + first(p).String() + ": {Name:bob Peer:none}", "1 guard pinned", "1 Worker open"}, got[:4])
	require.Regexp(t, `^\(before the test: 1 guard pinned; \d dropped and left to the garbage collector`, got[len(got)-1])
}

func first(p *pool.Pool[conn]) (h pool.Handle[conn]) {
	for h = range p.All() {
		break
	}
	return h
}

// TestReportOfATracedPool: what was open before the test stands there without its stacks.
func TestReportOfATracedPool(t *testing.T) {
	opts := replay()
	opts.TraceGuards = 1
	p := pool.Must(opts)
	g := p.Pin()
	defer g.Unpin()
	r, end := begin("A", p)
	h := p.Pin()
	defer h.Unpin()
	end()
	require.Len(t, r.errors, 1)
	before := r.errors[0][strings.Index(r.errors[0], "(before the test"):]
	require.Regexp(t, `^\(before the test: 1 guard pinned(; pinned at [^\n]*)?\)(\n\(go test -tags coatcheck_debug tells who left this\))?$`, before)
}

// TestReportsNameTheTest: the line of a failure is that of the test, and not one of this package.
func TestReportsNameTheTest(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLeavesBehind$")
	child.Env = append(os.Environ(), leaves+"=1")
	out, ok := testkit.Run(t, child)
	require.False(t, ok, out)
	require.Equal(t, 2, strings.Count(out, "pooltest: *pool.Pool"), out)
	require.Equal(t, 2, len(regexp.MustCompile(`pooltest_test\.go:\d+: pooltest: `).FindAllString(out, -1)), out)
}

const leaves = "COATCHECK_LEAVES_BEHIND"

func TestLeavesBehind(t *testing.T) {
	if os.Getenv(leaves) == "" {
		t.Skip("for TestReportsNameTheTest")
	}
	p := pool.Must(replay())
	pooltest.EmptyAtEnd(t, p)
	_, _ = p.Insert(conn{})
	pooltest.Empty(t, p)
}

// TestDroppedOnesAreLeftBehind: a dropped thing is left behind, before and after its
// collection.
func TestDroppedOnesAreLeftBehind(t *testing.T) {
	for name, drop := range map[string]func(p *pool.Pool[conn]){
		"1 Reservation open": func(p *pool.Pool[conn]) { _, _ = p.Reserve() },
		"1 Worker open":      func(p *pool.Pool[conn]) { p.Worker() },
	} {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(replay())
			testkit.Apart(func() { drop(p) }) // nothing stays on this stack
			testkit.Eventually(t, func() bool {
				report := left(t, p)
				require.NotEmpty(t, report)
				if lines(t, report)[0] == "1 dropped and left to the garbage collector" {
					return true
				}
				require.Contains(t, report, name)
				return false
			}, "dropped, and not collected")
		})
	}
}

// TestEmptyIsContent: slots in limbo, exhausted slots and undone calls are not left
// behind.
func TestEmptyIsContent(t *testing.T) {
	for _, opts := range []*pool.Options[conn]{
		{Shards: 1}, {Shards: 1, Reuse: pool.FIFO}, {Capacity: 8, Preallocate: true}, {Origin: 1<<32 - 3}, {Reset: func(*conn) {}},
	} {
		p := pool.Must(opts)
		require.Empty(t, left(t, p))
		g := p.Pin()
		for range 8 {
			h, err := p.Insert(conn{})
			require.NoError(t, err)
			p.Remove(h)
		}
		require.NotZero(t, p.Stats().Limbo)
		g.Unpin()
		require.Empty(t, left(t, p))

		assert.Panics(t, func() { _, _ = p.InsertFunc(func(pool.Handle[conn], *conn) { panic("no") }) })
		if r, err := p.Reserve(); err == nil {
			r.Cancel()
		}
		w := p.Worker()
		if h, err := w.Insert(conn{}); err == nil {
			w.Remove(h)
		}
		w.Close()
		for range p.All() {
			break
		}
		require.Empty(t, left(t, p))
	}
}

// TestReportIsBounded: a report stays readable, however much was left behind.
func TestReportIsBounded(t *testing.T) {
	p := pool.Must(replay())
	for i := range 1000 {
		_, _ = p.Insert(conn{Name: strings.Repeat("long\n", i)})
	}
	report := left(t, p)
	kept := lines(t, report)
	require.Len(t, kept, 12, report)
	require.Equal(t, "1000 values live", kept[0])
	require.Equal(t, "\t0@1: {Name: Peer:none}", kept[1])
	require.Equal(t, "\t1@1: {Name:long  Peer:none}", kept[2])
	require.Equal(t, "\tand 990 more", kept[11])
	require.Less(t, len(report), 20_000)
}

// TestReportsAtTheirBounds: ten values are all named, and one whose text has a hundred bytes is whole.
func TestReportsAtTheirBounds(t *testing.T) {
	p := pool.Must(&pool.Options[string]{Origin: 1, Shards: 1})
	_, _ = p.Insert(strings.Repeat("x", 100))
	_, _ = p.Insert(strings.Repeat("x", 101))
	_, _ = p.Insert("a\r\nb")
	for range 7 {
		_, _ = p.Insert("")
	}
	kept := lines(t, left(t, p))
	require.Len(t, kept, 11)
	require.Equal(t, []string{"\t0@1: " + strings.Repeat("x", 100), "\t1@1: " + strings.Repeat("x", 100) + "…", "\t2@1: a b"}, kept[1:4])
}

type rude struct{ s []int }

func (*rude) String() string { panic("not now") }

// TestReportPrintsAnything: every value can be printed.
func TestReportPrintsAnything(t *testing.T) {
	p := pool.Must[*rude](&pool.Options[*rude]{Origin: 1})
	_, _ = p.Insert(nil)
	_, _ = p.Insert(&rude{s: make([]int, 1000)})
	require.Contains(t, left(t, p), "PANIC")

	q := pool.Must[string](&pool.Options[string]{Origin: 1})
	_, _ = q.Insert(strings.Repeat("ä", 1000))
	require.Regexp(t, `: ä{50}…$`, lines(t, left(t, q))[1])
}

// TestEmptyAtEndRunsWhenTheTestEnds: it runs then, after the cleanups that the test
// registered later.
func TestEmptyAtEndRunsWhenTheTestEnds(t *testing.T) {
	p := pool.Must(replay())
	r := recorder{name: t.Name()}
	pooltest.EmptyAtEnd(&r, p)
	pooltest.EmptyAtEnd(t, p)
	h, _ := p.Insert(conn{})
	t.Cleanup(func() { p.Remove(h) })
	require.Empty(t, r.errors)
	require.Len(t, r.cleanups, 1)
	r.cleanups[0]()
	require.Len(t, r.errors, 1)
}

// TestDroppedOnesAreReportedOnce: a dropped Reservation is one test's fault, and not that of each
// later test that shares the pool.
func TestDroppedOnesAreReportedOnce(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 10})
	for range 2 {
		testkit.Apart(func() { _, _ = p.Reserve() })
		was := p.Stats().Dropped
		testkit.Eventually(t, func() bool { runtime.GC(); st := p.Stats(); return st.Dropped > was && st.Reserved == 0 }, "collected")
		require.Contains(t, left(t, p), "dropped and left to the garbage collector")
		require.Empty(t, left(t, p))
	}
	require.Empty(t, left(t, p))
}

// TestEmptyForgetsPools that are gone, so that tests which make thousands keep nothing of them.
func TestEmptyForgetsPools(t *testing.T) {
	before := pooltest.Noted()
	testkit.Apart(func() {
		for range 10 {
			pooltest.Empty(t, pool.Must[int](nil))
		}
		require.GreaterOrEqual(t, pooltest.Noted(), 10)
	})
	testkit.Eventually(t, func() bool { runtime.GC(); return pooltest.Noted() <= before }, "forgotten")
}
