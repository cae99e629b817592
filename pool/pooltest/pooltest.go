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
// misused guards; see [pool.Pool.Explain]. It also finds values that were written to through pointers that
// were kept too long, and then the test fails too (docs/operate.md).
package pooltest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
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
	earlier := contents[T]{Stats: pool.Stats{Dropped: reported(p, p.Stats().Dropped)}, opened: ^uint64(0)}
	tell(t, written(p))
	if left := leftBehind(p, earlier); !left.empty() {
		tell(t, left.report(p, earlier))
	}
}

// tell fails the test if there is a report.
func tell(t testing.TB, report string) {
	t.Helper()
	if report != "" {
		t.Errorf("%s", report)
	}
}

// drops are how many dropped things of a pool an Empty has reported, by a weak.Pointer to the pool.
var drops sync.Map

// reported returns how many dropped things of p an Empty has reported before, and notes how many
// this one does.
func reported[T any](p *pool.Pool[T], dropped int) int {
	key := weak.Make(p)
	count, known := drops.Swap(key, dropped)
	if !known {
		runtime.AddCleanup(p, func(key weak.Pointer[pool.Pool[T]]) { drops.Delete(key) }, key)
		return 0
	}
	return count.(int)
}

// EmptyAtEnd calls Empty when the test and all its subtests have ended, after the cleanups that
// are registered later. It does not report what is already in the pool when EmptyAtEnd is called.
// So tests that run one after another may share a pool.
//
// Values are told apart by their handles. Guards, Refs, Reservations and Workers have no names, so
// they are counted: if a test closes one that was open before, and leaves one of its own, that shows
// only with the tag coatcheck_debug, which gives them numbers.
//
// Nobody can tell which of two tests has left a thing if they use the pool at the same time, as after
// t.Parallel. Then the one that ends last reports it, and names all of them. A test and its subtests
// do not count as two.
func EmptyAtEnd[T any](t testing.TB, p *pool.Pool[T]) {
	t.Helper()
	e := &entry[T]{pool: p, name: t.Name(), names: []string{t.Name()}, earlier: contentsOf(p)}
	e.began = tests.add(e)
	t.Cleanup(func() {
		t.Helper()
		tell(t, written(p))
		tell(t, e.end())
	})
}

// contents is what is in a pool, before a test.
type contents[T any] struct {
	live map[pool.Handle[T]]bool
	pool.Stats
	open   string
	opened uint64 // the number of what was opened last, with the tag
}

// contentsOf returns what is in p now.
func contentsOf[T any](p *pool.Pool[T]) contents[T] {
	c := contents[T]{live: map[pool.Handle[T]]bool{}, Stats: p.Stats(), open: heads(p.ExplainOpen()), opened: opened()}
	for h := range p.All() {
		c.live[h] = true
	}
	return c
}

// hasOpened reports whether a test has left more open than there was before.
func (c contents[T]) hasOpened(p *pool.Pool[T]) bool {
	now := p.Stats()
	// What was dropped since may have been open before: then less is open.
	dropped := now.Dropped - c.Dropped + now.Workers - c.Workers + now.Reserved - c.Reserved
	if stacks { // guards and Refs count as dropped too
		dropped -= c.Pinned + c.Held
	}
	return now.Pinned > c.Pinned || now.Held > c.Held || now.Workers > c.Workers || now.Reserved > c.Reserved || dropped > 0 ||
		youngest(p) > c.opened
}

// heads returns the lines of a text about open things, without their stacks.
func heads(open string) string {
	lines := strings.Split(open, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "\t") }), "; ")
}

// left is what a test has left in a pool.
type left[T any] struct {
	live []pool.Handle[T]
	open bool // guards, Refs, Workers or Reservations
}

func (l left[T]) empty() bool { return len(l.live) == 0 && !l.open }

// leftBehind returns what p holds and did not hold before. It looks at no value: the tests that use them may
// not have ended.
func leftBehind[T any](p *pool.Pool[T], earlier contents[T]) (l left[T]) {
	for h := range p.All() {
		if !earlier.live[h] {
			l.live = append(l.live, h)
		}
	}
	l.open = earlier.hasOpened(p)
	return l
}

// report describes what was left.
func (l left[T]) report(p *pool.Pool[T], earlier contents[T]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pooltest: %T is not empty", p)
	if len(l.live) > 0 {
		b.WriteString("\n" + values(p, l.live))
	}
	if l.open {
		b.WriteString("\n" + p.ExplainOpen())
		if earlier.open != "" {
			b.WriteString("\n(before the test: " + earlier.open + ")")
		}
	}
	if !stacks {
		b.WriteString("\n(go test -tags coatcheck_debug tells who left this)")
	}
	return b.String()
}

// values lists live values.
func values[T any](p *pool.Pool[T], live []pool.Handle[T]) string {
	noun := "values"
	if len(live) == 1 {
		noun = "value"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s live", len(live), noun)
	last := ""
	for _, h := range live[:min(len(live), mostValues)] {
		p.View(h, func(v *T) { fmt.Fprintf(&b, "\n\t%v: %s", h, brief(*v)) })
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
	if hidden := len(live) - mostValues; hidden > 0 {
		fmt.Fprintf(&b, "\n\tand %d more", hidden)
	}
	return b.String()
}

// brief prints the beginning of a value, on one line.
func brief(v any) string {
	text := strings.Join(strings.FieldsFunc(fmt.Sprintf("%+v", v), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	if len(text) <= mostBytes {
		return text
	}
	return strings.ToValidUTF8(text[:mostBytes], "") + "…"
}
