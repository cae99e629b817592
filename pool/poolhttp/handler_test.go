package poolhttp_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

func ask(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	poolhttp.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// TestJSONHasStats: the JSON has the fields of Stats under their names, with current
// values.
func TestJSONHasStats(t *testing.T) {
	p := pool.Must(&pool.Options[float64]{Capacity: 50})
	poolhttp.Register("floats", p)
	for want := range 3 {
		w := ask("GET", "/pools.json")
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.Contains(t, w.Body.String(), "\n\t\t\"Live\": ", "people read it too")
		var pools map[string]map[string]any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &pools))
		got := pools["floats"]
		require.Equal(t, "float64", got["Type"])
		require.Equal(t, float64(want), got["Live"])
		require.Equal(t, 50.0, got["Capacity"])
		for _, f := range reflect.VisibleFields(reflect.TypeFor[pool.Stats]()) {
			require.Contains(t, got, f.Name)
		}
		_, _ = p.Insert(1)
	}
	runtime.KeepAlive(p)
}

func TestPageShowsAPool(t *testing.T) {
	p := pool.Must(&pool.Options[float64]{Capacity: 5000})
	for range 1234 {
		_, _ = p.Insert(1)
	}
	poolhttp.Register("page", p)
	text := ask("GET", "/").Body.String()
	_, text, found := strings.Cut(text, `<section id="pool-page"`)
	require.True(t, found, "the page should have a section of the pool")
	text, _, _ = strings.Cut(text, "</section>")
	require.Contains(t, text, "<h2>page <code>float64</code></h2>")
	require.Contains(t, text, "<strong>1,234</strong> live of 5,000")
	require.Regexp(t, `<path class="live" d="M[0-9. HVMz]+"/>`, text)
	runtime.KeepAlive(p)

	unbounded := pool.Must[float64](nil)
	poolhttp.Register("unbounded", unbounded)
	_, text, _ = strings.Cut(ask("GET", "/").Body.String(), `<section id="pool-unbounded"`)
	require.Contains(t, text, "<strong>0</strong> live</p>")
	runtime.KeepAlive(unbounded)
}

// slow is a Source whose figures take a millisecond.
type slow struct{ bytes int64 }

func (s *slow) Stats() pool.Stats {
	time.Sleep(time.Millisecond)
	return pool.Stats{Bytes: s.bytes}
}

// TestPageTellsItsCosts: the memory of all pools, and how long it took to ask them.
func TestPageTellsItsCosts(t *testing.T) {
	large, larger := &slow{1 << 50}, &slow{7 << 50}
	poolhttp.RegisterSource("large", large)
	poolhttp.RegisterSource("larger", larger)
	defer poolhttp.Unregister("large")
	defer poolhttp.Unregister("larger")
	shown := regexp.MustCompile(`(?s)pools, ([^<]*)</p>.*Collecting the figures took (\S*s)\.`).FindStringSubmatch(ask("GET", "/").Body.String())
	require.NotNil(t, shown)
	require.Equal(t, "8.0 PiB", shown[1])
	took, err := time.ParseDuration(shown[2])
	require.NoError(t, err)
	require.GreaterOrEqual(t, took, 2*time.Millisecond)
	require.Zero(t, took%time.Microsecond, took)
	runtime.KeepAlive(large)
	runtime.KeepAlive(larger)
}

// TestSmallPagesAreNotAskedForOften: a page that costs little is asked for every two seconds.
func TestSmallPagesAreNotAskedForOften(t *testing.T) {
	every := regexp.MustCompile(`data-every="([0-9]+)"`).FindStringSubmatch(ask("GET", "/").Body.String())
	require.NotNil(t, every)
	milliseconds, err := strconv.Atoi(every[1])
	require.NoError(t, err)
	require.GreaterOrEqual(t, milliseconds, 2000) // more on a busy machine
}

// TestNamesAreEscaped: names may come from the program's users.
func TestNamesAreEscaped(t *testing.T) {
	p := pool.Must[int](nil)
	const name = `"><script>alert(1)</script><a title='`
	poolhttp.Register(name, p)
	text := ask("GET", "/").Body.String()
	require.NotContains(t, text, "<script>alert")
	require.NotContains(t, text, "<a title='")
	require.Contains(t, text, "&lt;script&gt;alert(1)&lt;/script&gt;")
	runtime.KeepAlive(p)
}

// TestPolicyNamesWhatThePageBrings: the policy allows the page's own style and script,
// and nothing else.
func TestPolicyNamesWhatThePageBrings(t *testing.T) {
	w := ask("GET", "/")
	policy := w.Header().Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	for _, kind := range []string{"style", "script"} {
		elements := regexp.MustCompile(`(?s)<`+kind+`>(.*?)</`+kind+`>`).FindAllStringSubmatch(w.Body.String(), -1)
		require.Len(t, elements, 1)
		sum := sha256.Sum256([]byte(elements[0][1]))
		require.Contains(t, policy, kind+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	require.NotRegexp(t, `(src|href|action)="?(https?:)?//`, w.Body.String(), "the page fetches nothing from elsewhere")
	require.NotContains(t, w.Body.String(), "ZgotmplZ", "the template rejects nothing")
}

// TestMethodsAndPaths: the handler accepts any prefix, stripped or not, and no other
// method or path.
func TestMethodsAndPaths(t *testing.T) {
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/debug/pools/": "text/html; charset=utf-8",
		"/pools.json": "application/json; charset=utf-8", "/debug/pools/pools.json": "application/json; charset=utf-8",
		"/x/pools.json/": "text/html; charset=utf-8",
		"/favicon.ico":   "", "/debug/pools/else": "",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
			w := ask(method, path)
			switch {
			case kind == "":
				require.Equal(t, http.StatusNotFound, w.Code, path)
			case method == "GET" || method == "HEAD":
				require.Equal(t, http.StatusOK, w.Code, path)
				require.Equal(t, kind, w.Header().Get("Content-Type"))
				require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			default:
				require.Equal(t, http.StatusMethodNotAllowed, w.Code, path)
				require.Equal(t, "GET, HEAD", w.Result().Header.Get("Allow"), "as a client gets it")
			}
		}
	}
	w := httptest.NewRecorder()
	http.StripPrefix("/pools/", poolhttp.Handler()).ServeHTTP(w, httptest.NewRequest("GET", "/pools/", nil))
	require.Contains(t, w.Body.String(), "<h1>")
}

// TestManyAskAtOnce: pools work, come and go during concurrent requests.
func TestManyAskAtOnce(t *testing.T) {
	p := pool.Must[int](nil)
	testkit.Together(4, func(i int) {
		for j := range 20 {
			poolhttp.Register([]string{"busy", "busier"}[(i+j)%2], p)
			h, _ := p.Insert(j)
			g := p.Pin()
			if w := ask("GET", []string{"/", "/pools.json"}[j%2]); w.Code != http.StatusOK {
				t.Error(w.Body)
			}
			g.Unpin()
			p.Remove(h)
		}
	})
}

// TestPageShowsWhoHoldsWhat: a program that records it shows who holds what, and no other
// program.
func TestPageShowsWhoHoldsWhat(t *testing.T) {
	p := pool.Must[int](nil)
	poolhttp.Register("held", p)
	g := forgetful(p)
	defer g.Unpin()
	var pools map[string]struct{ Open string }
	require.NoError(t, json.Unmarshal(ask("GET", "/pools.json").Body.Bytes(), &pools))
	_, text, _ := strings.Cut(ask("GET", "/").Body.String(), `<section id="pool-held"`)
	if !strings.Contains(p.ExplainOpen(), "pinned at") {
		require.Empty(t, pools["held"].Open)
		require.NotContains(t, text, "<pre")
		return
	}
	require.Contains(t, pools["held"].Open, "poolhttp_test.forgetful\n")
	require.Regexp(t, `(?s)<pre id="text-held">1 guard pinned.*poolhttp_test.forgetful\n`, text)
}

func forgetful(p *pool.Pool[int]) pool.Guard[int] { return p.Pin() }

// TestLargePagesAreAskedForSeldom: what the page's text costs counts, not only the figures.
func TestLargePagesAreAskedForSeldom(t *testing.T) {
	p := pool.Must[int](nil)
	for n := 1; ; n *= 2 {
		for i := range n {
			name := fmt.Sprint(strings.Repeat("<&>", 10_000), i)
			poolhttp.Register(name, p)
			defer poolhttp.Unregister(name)
		}
		began, w := time.Now(), httptest.NewRecorder()
		poolhttp.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		took := time.Since(began)
		if took < 300*time.Millisecond {
			continue
		}
		every := regexp.MustCompile(`data-every="([0-9]+)"`).FindStringSubmatch(w.Body.String())
		require.NotNil(t, every)
		milliseconds, err := strconv.Atoi(every[1])
		require.NoError(t, err)
		require.Greater(t, milliseconds, int(10*took.Milliseconds()), "the page took %v", took)
		return
	}
}
