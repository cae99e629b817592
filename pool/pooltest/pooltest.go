// Package pooltest is for the tests of programs that use a pool: it finds what a test has
// left in one.
//
//	func TestServer(t *testing.T) {
//		p := pool.Must[conn](nil)
//		pooltest.EmptyAtEnd(t, p)
//		…
//	}
//
// A test fails if it leaves a value in the pool, a guard pinned, or a Ref, a Reservation
// or a Worker open. To see the stacks that left them, build with a tag that makes pools
// slow:
//
//	go test -tags coatcheck_debug ./...
//
// The same tag adds the history of a handle to the panics of [pool.Pool.MustGet] and of
// misused guards; see [pool.Pool.Explain].
package pooltest

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"coatcheck/pool"
)

const (
	// mostValues is how many values a report names.
	mostValues = 10

	// mostBytes is how much of a value it prints.
	mostBytes = 100
)

// Empty fails the test if p has live values, pinned guards, or open Reservations, Workers or
// Refs. It reports all of them in one Errorf.
//
// Call Empty when no other goroutine uses the pool. A value that is about to be removed counts as
// left behind. Empty prints values with %+v, so nobody may write to them meanwhile.
//
// Empty ignores removed slots that wait for guards to end, and does not wait for them. A
// Reservation or Worker that was dropped counts as left behind, whether or not the garbage
// collector has found it; once it has, the next Empty reports it, and later ones do not.
func Empty[T any](t testing.TB, p *pool.Pool[T]) {
	t.Helper()
	was := before[T]{Stats: pool.Stats{Dropped: reported(p, p.Stats().Dropped)}}
	if report := leftBehind(p, was); report != "" {
		t.Errorf("%s", report)
	}
}

// drops are how many dropped things of a pool an Empty has reported, by a weak.Pointer to the pool.
var drops sync.Map

// reported returns how many dropped things of p an Empty has reported before, and notes how many
// this one does.
func reported[T any](p *pool.Pool[T], dropped int) int {
	key := weak.Make(p)
	was, known := drops.Swap(key, dropped)
	if !known {
		runtime.AddCleanup(p, func(key weak.Pointer[pool.Pool[T]]) { drops.Delete(key) }, key)
		return 0
	}
	return was.(int)
}

// EmptyAtEnd calls Empty when the test and all its subtests have ended, after the cleanups that
// are registered later. It does not report what is already in the pool when EmptyAtEnd is called.
// So tests that run one after another may share a pool.
//
// Values are told apart by their handles. Guards, Refs, Reservations and Workers have no names, so
// they are counted: if a test closes one that was open before, and leaves one of its own, that shows
// only with the tag coatcheck_debug, by the time at which it was opened.
//
// Nobody can tell which of two tests has left a thing if they use the pool at the same time, as after
// t.Parallel. Then the one that ends last reports it, and names all of them. A test and its subtests
// do not count as two.
func EmptyAtEnd[T any](t testing.TB, p *pool.Pool[T]) {
	t.Helper()
	e := &entry[T]{pool: p, name: t.Name(), names: []string{t.Name()}, was: whatIs(p)}
	tests.add(e)
	t.Cleanup(func() {
		t.Helper()
		if report := e.end(); report != "" {
			t.Errorf("%s", report)
		}
	})
}

// before is what was in a pool before a test.
type before[T any] struct {
	live map[pool.Handle[T]]bool
	pool.Stats
	open  string
	began time.Time
}

// whatIs returns what is in p now.
func whatIs[T any](p *pool.Pool[T]) before[T] {
	was := before[T]{live: map[pool.Handle[T]]bool{}, Stats: p.Stats(), open: heads(p.ExplainOpen()), began: time.Now()}
	for h := range p.All() {
		was.live[h] = true
	}
	return was
}

// opened reports whether a test has left more open than there was before.
func (was before[T]) opened(now pool.Stats) bool {
	// What was dropped since may have been open before.
	dropped := now.Dropped - was.Dropped - max(0, was.Workers-now.Workers) - max(0, was.Reserved-now.Reserved)
	if stacks { // guards and Refs count as dropped too
		dropped -= was.Pinned + was.Held
	}
	return now.Pinned > was.Pinned || now.Held > was.Held || now.Workers > was.Workers || now.Reserved > was.Reserved || dropped > 0
}

// ago finds how old a thing is in a line about it.
var ago = regexp.MustCompile(`(?m)^\t\S.* at .* \((\S+) ago\) by`)

// younger reports whether a text about open things has one that was opened since.
func (was before[T]) younger(open string) bool {
	since := time.Since(was.began)
	for _, m := range ago.FindAllStringSubmatch(open, -1) {
		if age, err := time.ParseDuration(m[1]); err == nil && age < since {
			return true
		}
	}
	return false
}

// heads returns the lines of a text about open things, without their stacks.
func heads(open string) string {
	lines := strings.Split(open, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "\t") }), "; ")
}

// leftBehind describes what p holds and did not hold before, or returns "" if that is nothing.
func leftBehind[T any](p *pool.Pool[T], was before[T]) string {
	live, open := values(p, was.live), ""
	counted, now := was.opened(p.Stats()), p.ExplainOpen()
	if counted || stacks && was.live != nil && was.younger(now) {
		if open = now; was.open != "" {
			open += "\n(before the test: " + was.open + ")"
		}
	}
	if live == "" && open == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pooltest: %T is not empty", p)
	for _, part := range []string{live, open} {
		if part != "" {
			b.WriteString("\n" + part)
		}
	}
	if !stacks {
		b.WriteString("\n(go test -tags coatcheck_debug tells who left this)")
	}
	return b.String()
}

// values lists the live values, except those that are in was.
func values[T any](p *pool.Pool[T], was map[pool.Handle[T]]bool) string {
	var b strings.Builder
	n, last := 0, ""
	for h, v := range p.All() {
		if was[h] {
			continue
		}
		if n++; n > mostValues {
			continue
		}
		fmt.Fprintf(&b, "\n\t%v: %s", h, brief(*v))
		// Below its first line, about h, the text tells who inserted it.
		_, story, _ := strings.Cut(p.Explain(h), "\n")
		when, who, _ := strings.Cut(story, "\n")
		switch {
		case story == "":
		case who == last:
			fmt.Fprintf(&b, "\n\t\t%s the same", when)
		default:
			b.WriteString("\n\t\t" + strings.ReplaceAll(story, "\n", "\n\t\t"))
		}
		last = who
	}
	switch {
	case n == 0:
		return ""
	case n > mostValues:
		fmt.Fprintf(&b, "\n\tand %d more", n-mostValues)
	}
	what := "values"
	if n == 1 {
		what = "value"
	}
	return fmt.Sprintf("%d %s live", n, what) + b.String()
}

// brief prints the beginning of a value, on one line.
func brief(v any) string {
	text := strings.Join(strings.FieldsFunc(fmt.Sprintf("%+v", v), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if len(text) <= mostBytes {
		return text
	}
	return strings.ToValidUTF8(text[:mostBytes], "") + "…"
}
