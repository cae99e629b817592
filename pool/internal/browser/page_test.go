package browser

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	runtimes "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/internal/states"
	"coatcheck/pool/poolhttp"
)

var shots = flag.String("shots", filepath.Join(os.TempDir(), "coatcheck-shots"), "leave screenshots in this `folder`")

// browser starts a browser for the test. The test fails if anything is fetched from
// another server than the page's, or if the browser logs an error.
func browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path != "":
	case os.Getenv("CI") != "":
		t.Fatal("no chromium: apt-get install chromium")
	default:
		t.Skip("no chromium, so the page is not looked at: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...) // with a new profile
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf)) // chromedp reports protocol messages that it does not know
	t.Cleanup(stop)

	var mu sync.Mutex
	var wrong []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "http://127.0.0.1:") && !strings.HasPrefix(e.Request.URL, "data:") {
				wrong = append(wrong, "fetches "+e.Request.URL)
			}
		case *log.EventEntryAdded:
			if !strings.Contains(e.Entry.Text, "ERR_CONNECTION_REFUSED") { // when the server has ended
				wrong = append(wrong, "complains: "+e.Entry.Text+" "+e.Entry.URL)
			}
		case *runtimes.EventExceptionThrown:
			wrong = append(wrong, "throws: "+e.ExceptionDetails.Error())
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		require.Empty(t, wrong)
	})
	return ctx
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	require.NoError(t, chromedp.Run(ctx, actions...))
}

// until waits for a JavaScript expression to be true.
func until(expression string) chromedp.Action {
	return chromedp.Poll(expression, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(20*time.Second))
}

// live returns the JavaScript expression for the number of live values that the page
// shows of a pool.
func live(name string) string {
	return fmt.Sprintf("Number(document.getElementById('pool-' + %q).querySelector('.live strong').textContent.replaceAll(',', ''))", name)
}

// shoot takes a screenshot of the whole page in a window of this width, and requires that
// it fits.
func shoot(t *testing.T, ctx context.Context, name string, width int64, dark bool) {
	t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	var picture []byte
	var wide int64
	do(t, ctx,
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.EmulateViewport(width, 300),
		chromedp.Evaluate("document.documentElement.scrollWidth", &wide),
		chromedp.FullScreenshot(&picture, 100))
	require.LessOrEqual(t, wide, width, "%s is wider than its window", name)
	require.NoError(t, os.MkdirAll(*shots, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o666))
	t.Logf("%s", filepath.Join(*shots, name+".png"))
}

func TestBrowserShowsAPool(t *testing.T) {
	ctx := browser(t)
	require.Eventually(t, func() bool { // the pools of other tests are collected
		runtime.GC()
		return len(maps.Collect(poolhttp.All())) == 0
	}, 10*time.Second, time.Millisecond)
	server := httptest.NewServer(poolhttp.Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL), until("document.querySelector('.none') !== null"))

	p := pool.Must(&pool.Options[string]{Capacity: 20_000})
	w := p.Worker()
	defer w.Close()
	hs := testkit.Fill(t, p, 1234, strconv.Itoa)
	const name = `<b>"coats" & hats`
	poolhttp.Register(name, p)
	g := forgetful(p)
	p.RemoveBatch(hs[:200])

	// The page shows the new pool without being loaded again.
	do(t, ctx, chromedp.Evaluate("window.once = document.querySelector('main'), 0", nil),
		until(fmt.Sprintf("document.getElementById('pool-' + %q) !== null", name)), until(live(name)+" === 1034"))
	for range 100 {
		_, _ = w.Insert("coat")
	}
	do(t, ctx, until(live(name)+" === 1134"))
	var same bool
	var heading string
	do(t, ctx, chromedp.Evaluate("window.once !== undefined && window.once !== document.querySelector('main')", &same),
		chromedp.Text("h2", &heading))
	require.True(t, same, "the content was replaced, without loading the page again")
	require.Equal(t, name+" string", heading)

	// Each layer that has slots is visible, in a colour of its own and in the right
	// height.
	var seen []struct {
		Class, Fill   string
		Width, Height float64
	}
	do(t, ctx, chromedp.Evaluate(`[...document.querySelectorAll("svg path:not(.grid)")].map(p => ({Class: p.getAttribute("class"),
		Fill: getComputedStyle(p).fill, Width: p.getBoundingClientRect().width, Height: p.getBoundingClientRect().height}))`, &seen))
	fills := make(map[string]bool)
	for i, s := range seen {
		fills[s.Fill] = true
		require.Positive(t, s.Width, s.Class)
		require.Positive(t, s.Height, s.Class)
		require.True(t, i == 0 || s.Height <= seen[i-1].Height, "drawn over those that are higher")
	}
	require.Equal(t, "free", seen[0].Class)
	require.Equal(t, "live", seen[len(seen)-1].Class)
	require.Len(t, fills, len(seen))
	require.Contains(t, []int{4, 5}, len(seen)) // free, limbo, cached, reserved if it is visible, live

	if strings.Contains(p.ExplainOpen(), "pinned at") { // with the tag coatcheck_debug
		var stacks string
		do(t, ctx, chromedp.EmulateViewport(400, 700), // narrow, so that there is something to scroll
			chromedp.Evaluate("document.querySelector('summary').click(), document.querySelector('summary').focus(), 0", nil),
			chromedp.Evaluate("document.querySelector('pre').scrollTo(7, 0), window.once = document.querySelector('main'), 0", nil),
			until("window.once !== document.querySelector('main')"),
			until("document.querySelector('details').open && document.querySelector('pre').scrollLeft === 7"),
			until("document.activeElement === document.querySelector('summary')"),
			chromedp.Evaluate("document.querySelector('pre').innerText", &stacks))
		require.Contains(t, stacks, "forgetful")
	}
	shoot(t, ctx, "one", 1280, false)
	g.Unpin()

	server.CloseClientConnections()
	server.Close()
	do(t, ctx, until("document.body.className === 'lost'"))
	shoot(t, ctx, "lost", 1280, true)
	runtime.KeepAlive(p)
}

func forgetful(p *pool.Pool[string]) pool.Guard[string] { return p.Pin() }

// TestBrowserTellsWhatToDo: a card is amber under a guard that delays many slots, or lasts, and
// red when insertions are refused.
func TestBrowserTellsWhatToDo(t *testing.T) {
	ctx := browser(t)
	server := httptest.NewServer(poolhttp.Handler())
	defer server.Close()
	p := pool.Must(&pool.Options[int]{MaxLimbo: 10_000, Shards: 1})
	poolhttp.Register("alarming", p)
	edges := make(map[string]bool)
	shows := func(colour, advice string) {
		t.Helper()
		var edge string
		do(t, ctx, until(fmt.Sprintf(`(card => card.className === %q && (card.querySelector(".advice")?.textContent ?? "").includes(%q))
			(document.getElementById("pool-alarming"))`, "card "+colour, advice)),
			chromedp.Evaluate(`getComputedStyle(document.getElementById("pool-alarming")).borderTopColor`, &edge))
		edges[edge] = true
		shoot(t, ctx, "alarm-"+cmp.Or(colour, "none"), 1280, false)
	}
	churn := func(n int) {
		for range n {
			h, _ := p.Insert(1)
			p.Remove(h)
		}
	}
	do(t, ctx, chromedp.Navigate(server.URL))
	churn(6000)
	shows("", "")
	g := p.Pin()
	churn(6000)
	shows("amber", "with 10,000 insertions may be refused: unpin guards")
	defer states.OldPin.Store(states.OldPin.Swap(time.Second))
	shows("amber", "A guard has been pinned for at least ")
	churn(100_000)
	shows("red", " of late, since removed slots wait for guards or Refs: unpin")
	g.Unpin()
	require.Len(t, edges, 3)
	runtime.KeepAlive(p)
}

func TestBrowserShowsManyPools(t *testing.T) {
	ctx := browser(t)
	server := httptest.NewServer(poolhttp.Handler())
	defer server.Close()
	pools := make([]*pool.Pool[int], 50)
	for i := range pools {
		pools[i] = pool.Must[int](nil)
		poolhttp.Register(fmt.Sprintf("shard-%02d/connections", i), pools[i])
		testkit.Fill(t, pools[i], i*i*i, testkit.Number)
	}
	do(t, ctx, chromedp.Navigate(server.URL), until("document.querySelectorAll('section').length >= 50"),
		until(live("shard-49/connections")+" === 117649"))
	shoot(t, ctx, "fifty", 1280, false)
	shoot(t, ctx, "narrow", 360, true)
	do(t, ctx, chromedp.Click("nav a:last-child"), until("document.querySelector(':target') !== null && scrollY > 0"))
	runtime.KeepAlive(pools)
}

// TestBrowserShowsTheWorld: the example shows a world while it grows, and ends on an
// interrupt.
func TestBrowserShowsTheWorld(t *testing.T) {
	ctx := browser(t)
	program := filepath.Join(t.TempDir(), "world")
	text, err := exec.Command("go", "build", "-o", program, "coatcheck/examples/world").CombinedOutput()
	require.NoError(t, err, "%s", text)
	cmd := exec.Command(program, "-http", "127.0.0.1:0", "-o", "")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the program should print a line")
	url, found := strings.CutPrefix(lines.Text(), "pools       ")
	require.True(t, found, "the line should have the address")

	do(t, ctx, chromedp.EmulateViewport(760, 600), chromedp.Navigate(url), until(live("parts")+" > 0"),
		chromedp.Evaluate("window.first = "+live("parts")+", 0", nil), until(live("parts")+" !== window.first"))
	shoot(t, ctx, "world", 760, false)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	checksum := false
	for lines.Scan() {
		checksum = checksum || strings.HasPrefix(lines.Text(), "checksum ")
	}
	testkit.Within(t, func() { require.NoError(t, cmd.Wait()) })
	require.True(t, checksum, "the program should print a checksum")
}
