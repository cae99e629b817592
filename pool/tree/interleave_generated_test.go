//go:build interleave

package tree

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// program is a picture for plant, with a on top, changes of it, and walks from a. stays
// has the nodes that keep their places and whose ancestors do.
type program struct {
	picture string
	stays   string
	leaving int // changes by which a node leaves
	writers [][]change
	walks   []int
}

// change is a call with two nodes.
type change struct {
	call     string
	of, with byte
}

func (c change) String() string { return fmt.Sprintf("%s(%c, %c)", c.call, c.of, c.with) }

// do makes the change. An error because another change was faster is ignored.
func (c change) do(s *stage) (err error) {
	of, with := s.node[c.of], s.node[c.with]
	switch c.call {
	case "Append":
		err = s.f.Append(with, of)
	case "Prepend":
		err = s.f.Prepend(with, of)
	case "InsertAfter":
		err = s.f.InsertAfter(with, of)
	case "InsertBefore":
		err = s.f.InsertBefore(with, of)
	case "Move":
		err = s.f.Move(of, with)
	case "Detach":
		err = s.f.Detach(of)
	case "Remove":
		s.f.Remove(of)
	}
	if errors.Is(err, ErrBroken) {
		return err
	}
	return nil
}

var calls = []string{"Append", "Prepend", "InsertAfter", "InsertBefore", "Move", "Move", "Detach", "Detach", "Remove"}

// walksOf are the loops below a node; all make the same promise.
var walksOf = []func(f *Forest[item], h itemHandle) iter.Seq2[itemHandle, *item]{
	(*Forest[item]).Descendants, (*Forest[item]).DescendantsBackward, (*Forest[item]).PostOrder,
	(*Forest[item]).Children, (*Forest[item]).ChildrenBackward,
}

func (p *program) String() string {
	return fmt.Sprintf("%s, writers %v, walks %v\n", p.picture, p.writers, p.walks)
}

func draw(rnd *rand.Rand) *program {
	const names = "bcdefgh"
	up := map[byte]byte{}
	below := map[byte]string{}
	for i := range 2 + rnd.IntN(len(names)-1) {
		c := names[i]
		parent := ("aa" + names[:i])[rnd.IntN(i+2)]
		up[c] = parent
		below[parent] += string(c)
	}
	var picture func(c byte) string
	picture = func(c byte) string {
		text := string(c)
		if below[c] != "" {
			text += "("
			for _, d := range []byte(below[c]) {
				text += picture(d)
			}
			text += ")"
		}
		return text
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
		for at != 'a' && !strings.ContainsRune(gone, rune(at)) {
			at = up[at]
		}
		if at == 'a' {
			p.stays += string(c)
		}
	}
	for range 1 + rnd.IntN(2) {
		p.walks = append(p.walks, rnd.IntN(len(walksOf)))
	}
	return p
}

func (p *program) setup(r *interleave.Run) {
	s := plant(r, p.picture)
	for i, list := range p.writers {
		r.Go(fmt.Sprintf("writer %d", i), 0, func(t *interleave.Thread) {
			for _, c := range list {
				t.Begin(c.call)
				if err := c.do(s); err != nil {
					r.Failf("%v: %v", c, err)
				}
				t.End()
			}
		})
	}
	for i, k := range p.walks {
		loop := walksOf[k](s.f, s.node['a'])
		want := ""
		for _, v := range loop {
			want += string(v.name)
		}
		r.Go(fmt.Sprintf("reader %d", i), 1, func(t *interleave.Thread) {
			got := ""
			t.Begin("walk")
			for h, v := range loop {
				if s.node[v.name] != h || strings.ContainsRune(got, rune(v.name)) {
					r.Failf("%c is yielded as %v, after %q", v.name, h, got)
					break
				}
				got += string(v.name)
			}
			t.End()
			t.Notef("yields %q", got)
			p.judge(r, want, got)
		})
	}
}

// judge checks a walk against the walk before all changes: the nodes that keep their
// places come in that order, and all of them if at most one node left.
func (p *program) judge(r *interleave.Run, want, got string) {
	stay := func(s string) string {
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune(p.stays, c) {
				return c
			}
			return -1
		}, s)
	}
	want, kept := stay(want), stay(got)
	if !slices.Contains(partsOf(want), kept) || p.leaving < 2 && kept != want {
		r.Failf("the walk yields %q; want %q of what keeps its place", got, want)
	}
}

// TestInterleaveGenerated runs generated programs under some schedules each:
//
//	go test -tags interleave -run Generated -v ./pool/tree -generate 1m -generate.seed 1
func TestInterleaveGenerated(t *testing.T) {
	limit, seed := testkit.Generate()
	interleave.Draw(t, limit, seed, func(rnd *rand.Rand) (interleave.Setup, fmt.Stringer) {
		p := draw(rnd)
		return p.setup, p
	})
}
