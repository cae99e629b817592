//go:build interleave

package explore_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// units are the parts of a program's text that shrink leaves out: threads and other lines,
// callbacks, operations, words.
var units = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\t\w+.*\n(\t\t.*\n)*`), regexp.MustCompile(` \{[^{}]*\}`),
	regexp.MustCompile(`[\w.@+= ]+;?`), regexp.MustCompile(` [^\s{};]+`),
}

// shrink leaves out parts of a program that fails, as long as it fails in some way and until
// end, and returns it with a failure that takes few preemptions.
func shrink(p *program, seed uint64, f *interleave.Failure, end time.Time) (*program, *interleave.Failure) {
	for again := true; again; {
		again = false
		for _, unit := range units {
			for at := len(p.name) + 1; time.Now().Before(end); {
				text := p.String()
				if at > len(text) {
					break
				}
				next := unit.FindStringIndex(text[at:])
				if next == nil {
					break
				}
				from, to := at+next[0], at+next[1]
				if c, g := smaller(text[:from]+text[to:], len(text), seed); g != nil {
					p, f, again, at = c, g, true, from
				} else {
					at = from + 1
				}
			}
		}
	}
	for bound := range 4 {
		if g := interleave.SearchSome(p.setup, bound, 20_000).Failure; g != nil {
			return p, g
		}
	}
	return p, f
}

// smaller returns the program that a text is, with its failure, if it is one with fewer than
// so many bytes, and fails after its pool was made.
func smaller(text string, than int, seed uint64) (p *program, f *interleave.Failure) {
	all, err := parse(text)
	if err != nil || len(all) != 1 || len(all[0].threads) == 0 || len(all[0].String()) >= than {
		return nil, nil
	}
	p = all[0]
	if f = interleave.SearchSome(p.setup, 2, 1000).Failure; f == nil {
		f = interleave.Sample(p.setup, 900, seed).Failure
	}
	if f != nil && strings.Contains(f.Err.Error(), "in the setup") {
		return nil, nil
	}
	return p, f
}

// What is drawn is the same each time, runs the same each time, and is printed as a scenario.
func TestInterleaveProgramsRepeat(t *testing.T) {
	first, second := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		p, q := draw(first), draw(second)
		text := p.String()
		again, err := parse(text)
		if err != nil || len(again) != 1 || text != again[0].String() || text != q.String() {
			t.Fatalf("program %d is none, or another each time (%v):\n%s\n%s", n, err, text, q.String())
		}
		testkit.RunsTwiceTheSame(t, text, p.setup)
	}
}

// A program that fails is made as small as it can be.
func TestInterleaveShrinks(t *testing.T) {
	was := verbList
	defer func() { verbList = was }()
	verbList = append(verbList, verb{name: "panic", run: func(*vars, *actor, *op) { panic("a bug") }})
	p := draw(rand.New(rand.NewPCG(1, 1)))
	p.threads[0].ops = append(p.threads[0].ops, newOp(verbOf("panic")))
	small, f := shrink(p, 1, nil, time.Now().Add(time.Minute))
	if f == nil || len(small.prepare) != 0 || len(small.threads) != 1 || len(small.threads[0].ops) != 1 {
		t.Errorf("one operation is enough to fail; this is left:\n%s\n%v", small, f)
	}
}
