//go:build interleave

package tree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// program is a picture for plant, with a on top, changes of it, and loops at a. stays
// has the nodes that keep their places and whose ancestors do.
type program struct {
	picture string
	stays   string
	leaving int // changes by which a node leaves
	writers [][]change
	loops   []string
}

func (p *program) String() string {
	return fmt.Sprintf("%s, writers %v, loops %v\n", p.picture, p.writers, p.loops)
}

func draw(rnd *rand.Rand) *program {
	const names = "bcdefgh"
	calls := []string{"Append", "Prepend", "InsertAfter", "InsertBefore", "Move", "Move", "Detach", "Detach", "Remove"}
	walks := []string{"Descendants", "DescendantsBackward", "PostOrder", "Children", "ChildrenBackward"} // all promise the same
	up := map[byte]byte{}
	below := map[byte]string{}
	for i := range 2 + rnd.IntN(len(names)-1) {
		parent := ("aa" + names[:i])[rnd.IntN(i+2)]
		up[names[i]] = parent
		below[parent] += names[i : i+1]
	}
	var picture func(c byte) string
	picture = func(c byte) string {
		text := string(c) + "("
		for _, d := range []byte(below[c]) {
			text += picture(d)
		}
		return strings.TrimSuffix(text+")", "()")
	}
	p := &program{picture: picture('a') + "x(y)z"}
	all := names[:len(up)] + "xyz"
	gone := ""
	for range 1 + rnd.IntN(2) {
		var list []change
		for range 1 + rnd.IntN(3) {
			c := change{calls[rnd.IntN(len(calls))], all[rnd.IntN(len(all))], ("a" + all)[rnd.IntN(len(all)+1)]}
			if c.call == "Move" || c.call == "Detach" || c.call == "Remove" {
				p.leaving++
				gone += string(c.of)
			}
			list = append(list, c)
		}
		p.writers = append(p.writers, list)
	}
	for c := range up {
		at := c
		for at != 'a' && strings.IndexByte(gone, at) < 0 {
			at = up[at]
		}
		if at == 'a' {
			p.stays += string(c)
		}
	}
	for range 1 + rnd.IntN(2) {
		p.loops = append(p.loops, walks[rnd.IntN(len(walks))])
	}
	return p
}

func (p *program) setup(r *interleave.Run) {
	s := plant(r, p.picture)
	s.whole()
	for _, list := range p.writers {
		// Other errors say that another change was faster.
		s.writer(list, func(err error) bool { return errors.Is(err, ErrBroken) })
	}
	for _, loop := range p.loops {
		// The nodes that keep their places come in the order before all changes, and all
		// of them if at most one node left.
		want := ""
		for _, v := range loops[loop](s.f, s.node['a']) {
			want += string(v.name)
		}
		want = p.stay(want)
		s.reader(loop, 'a', func(got string) {
			if kept := p.stay(got); !partOf(kept, want) || p.leaving < 2 && kept != want {
				r.Failf("the walk yields %q; want %q of what keeps its place", got, want)
			}
		})
	}
}

func (p *program) stay(s string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(p.stays, c) {
			return c
		}
		return -1
	}, s)
}

// TestInterleaveGenerated runs generated programs under some schedules each:
//
//	go test -tags interleave -run Generated -v ./pool/tree -generate 1m -generate.seed 1
func TestInterleaveGenerated(t *testing.T) {
	testkit.Draw(t, func(rnd *rand.Rand) (interleave.Setup, fmt.Stringer) {
		p := draw(rnd)
		return p.setup, p
	}, nil)
}
