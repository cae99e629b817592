//go:build interleave

package tree

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

type item struct {
	name  byte
	links Links[item]
}

type itemHandle = pool.Handle[item]

// stage is one run's forest: nodes named by letters.
type stage struct {
	r    *interleave.Run
	p    *pool.Pool[item]
	f    *Forest[item]
	node map[byte]itemHandle
	// finally checks the forest when all threads have ended.
	finally func() error
}

// plant makes the nodes of a picture like "a(bc(d))e": children in parentheses.
func plant(r *interleave.Run, picture string) *stage {
	p := pool.Must(&pool.Options[item]{Capacity: 16, Shards: 1, Origin: 1})
	s := &stage{r: r, p: p, f: New(p, func(i *item) *Links[item] { return &i.links }), node: map[byte]itemHandle{}}
	var up []byte
	var last byte
	for i := range len(picture) {
		switch c := picture[i]; c {
		case '(':
			up = append(up, last)
		case ')':
			up = up[:len(up)-1]
		default:
			h, err := p.InsertFunc(func(_ itemHandle, v *item) { v.name = c })
			if err != nil {
				r.Failf("%v", err)
			}
			s.node[c], last = h, c
			if len(up) > 0 {
				if err := s.f.Append(s.node[up[len(up)-1]], h); err != nil {
					r.Failf("%v", err)
				}
			}
		}
	}
	r.Finally(func() error {
		if n := s.f.Repair(); n != 0 && s.finally == nil {
			return fmt.Errorf("%d links were wrong at the end", n)
		}
		if s.finally != nil {
			return s.finally()
		}
		return nil
	})
	return s
}

// write starts the writer.
func (s *stage) write(do func(at func(byte) itemHandle) error) {
	s.r.Go("writer", 0, func(t *interleave.Thread) {
		t.Begin("change")
		if err := do(func(c byte) itemHandle { return s.node[c] }); err != nil {
			s.r.Failf("%v", err)
		}
		t.End()
	})
}

// walk starts a reader below top. What it yields must be one of want.
func (s *stage) walk(top byte, deep bool, want ...string) {
	if deep {
		s.loop(s.f.Descendants(s.node[top]), want...)
	} else {
		s.loop(s.f.Children(s.node[top]), want...)
	}
}

// loop starts a reader, like walk.
func (s *stage) loop(loop iter.Seq2[itemHandle, *item], want ...string) {
	s.r.Go("reader", 1, func(t *interleave.Thread) {
		got := ""
		t.Begin("walk")
		for h, v := range loop {
			got += string(v.name)
			if s.node[v.name] != h {
				s.r.Failf("%v is yielded with the value of %c", h, v.name)
			}
			if len(got) > 20 {
				s.r.Failf("the walk does not end: %s", got)
				break
			}
		}
		t.End()
		if t.Notef("yields %q", got); !slices.Contains(want, got) {
			s.r.Failf("the walk yields %q, want one of %q", got, want)
		}
	})
}

// ancestors starts a reader of ancestors and depth.
func (s *stage) ancestors(of byte, want ...string) {
	s.r.Go("climber", 1, func(t *interleave.Thread) {
		got := ""
		t.Begin("Ancestors")
		for _, v := range s.f.Ancestors(s.node[of]) {
			got += string(v.name)
		}
		t.End()
		if !slices.Contains(want, got) {
			s.r.Failf("the ancestors of %c are %q, want one of %q", of, got, want)
		}
		t.Begin("Depth")
		n := s.f.Depth(s.node[of])
		t.End()
		if !slices.ContainsFunc(want, func(w string) bool { return len(w) == n }) {
			s.r.Failf("the depth of %c is %d, want the length of one of %q", of, n, want)
		}
	})
}

// partsOf returns s without some of letters, in every combination.
func partsOf(s string) []string {
	parts := []string{""}
	for _, c := range s {
		for _, p := range parts {
			parts = append(parts, p+string(c))
		}
	}
	return parts
}

var scenarios = []struct {
	name  string
	setup func(r *interleave.Run)
}{
	{"Children against Append", func(r *interleave.Run) {
		s := plant(r, "a(bcd)x")
		// The walk may begin before or after the Append.
		s.walk('a', false, "bcd", "bcdx")
		s.write(func(at func(byte) itemHandle) error { return s.f.Append(at('a'), at('x')) })
	}},
	{"Children against Prepend and InsertAfter", func(r *interleave.Run) {
		s := plant(r, "a(bcd)xy")
		s.walk('a', false, "bcd", "xbcd", "xbycd")
		s.write(func(at func(byte) itemHandle) error {
			if err := s.f.Prepend(at('a'), at('x')); err != nil {
				return err
			}
			return s.f.InsertAfter(at('b'), at('y'))
		})
	}},
	{"Children against Detach", func(r *interleave.Run) {
		s := plant(r, "a(bcd)")
		s.walk('a', false, "bcd", "bd")
		s.write(func(at func(byte) itemHandle) error { return s.f.Detach(at('c')) })
	}},
	{"Children against Detach of neighbours", func(r *interleave.Run) {
		s := plant(r, "a(bcde)")
		// If both leave while the walk is at c, it cannot know where e stands.
		s.walk('a', false, "bcde", "bde", "bc", "be")
		s.write(func(at func(byte) itemHandle) error {
			if err := s.f.Detach(at('c')); err != nil {
				return err
			}
			return s.f.Detach(at('d'))
		})
	}},
	{"Children against Move to the end", func(r *interleave.Run) {
		s := plant(r, "a(bcd)")
		s.walk('a', false, "bcd", "cd", "cdb")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('b'), at('a')) })
	}},
	{"Children against Move to the end, one after the other", func(r *interleave.Run) {
		s := plant(r, "a(bcd)")
		// b moves, then c. The order is kept and nothing is yielded twice. d is missing
		// only if both move while the walk is at b.
		s.walk('a', false, "bcd", "cd", "d", "bd", "cdb", "dbc", "db", "b")
		s.write(func(at func(byte) itemHandle) error {
			if err := s.f.Move(at('b'), at('a')); err != nil {
				return err
			}
			return s.f.Move(at('c'), at('a'))
		})
	}},
	{"Children against two writers", func(r *interleave.Run) {
		s := plant(r, "a(bcd)")
		// One change invalidates the fast half of a step, the other the next attempt.
		s.walk('a', false, "bcd", "cd", "bd", "d", "bdc", "dc", "b")
		s.write(func(at func(byte) itemHandle) error { return s.f.Detach(at('b')) })
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('c'), at('a')) })
	}},
	{"Children against Move into another list", func(r *interleave.Run) {
		s := plant(r, "a(bcd)x(yz)")
		s.walk('a', false, "bcd", "bd")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('c'), at('x')) })
	}},
	{"Children against Remove", func(r *interleave.Run) {
		s := plant(r, "a(bc(x)d)")
		s.walk('a', false, "bcd", "bd")
		s.write(func(at func(byte) itemHandle) error {
			if n := s.f.Remove(at('c')); n != 2 {
				return fmt.Errorf("removed %d", n)
			}
			return nil
		})
	}},
	{"Children against a removal behind the back, and Repair", func(r *interleave.Run) {
		s := plant(r, "a(bcd)")
		s.walk('a', false, "bcd", "bd", "b", "bc")
		s.finally = func() error { return nil }
		s.write(func(at func(byte) itemHandle) error {
			s.p.Remove(at('c'))
			s.f.Repair()
			return nil
		})
	}},
	{"Descendants against a Repair that shows what a dead node hid", func(r *interleave.Run) {
		s := plant(r, "a(b(cde)fgh)")
		// The order is kept: e never comes behind f.
		s.walk('a', true, partsOf("bcdefgh")...)
		s.finally = func() error { return nil }
		s.write(func(at func(byte) itemHandle) error {
			s.p.Remove(at('d'))
			s.f.Repair()
			if err := s.f.Detach(at('f')); err != nil {
				return err
			}
			return s.f.Detach(at('g'))
		})
	}},
	{"Descendants against Append", func(r *interleave.Run) {
		s := plant(r, "a(b(c)d)x(y)")
		s.walk('a', true, "bcd", "bcxyd")
		s.write(func(at func(byte) itemHandle) error { return s.f.Append(at('b'), at('x')) })
	}},
	{"Descendants against Detach", func(r *interleave.Run) {
		s := plant(r, "a(b(c)d)")
		s.walk('a', true, "bcd", "d", "bd")
		s.write(func(at func(byte) itemHandle) error { return s.f.Detach(at('b')) })
	}},
	{"Descendants against Move down", func(r *interleave.Run) {
		s := plant(r, "a(b(c)d(e))")
		s.walk('a', true, "bcde", "bde", "de", "debc")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('b'), at('d')) })
	}},
	{"Descendants against Move up", func(r *interleave.Run) {
		s := plant(r, "a(b(c(d))e)")
		s.walk('a', true, "bcde", "bce", "be", "becd")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('c'), at('a')) })
	}},
	{"Descendants against Move out and back", func(r *interleave.Run) {
		s := plant(r, "a(b(c)d)x")
		s.walk('a', true, "bcd", "bd", "d", "dbc")
		s.write(func(at func(byte) itemHandle) error {
			if err := s.f.Move(at('b'), at('x')); err != nil {
				return err
			}
			return s.f.Move(at('b'), at('a'))
		})
	}},
	{"Descendants against Remove", func(r *interleave.Run) {
		s := plant(r, "a(b(cd)e)")
		s.walk('a', true, "bcde", "e", "be", "bce")
		s.write(func(at func(byte) itemHandle) error {
			if n := s.f.Remove(at('b')); n != 3 {
				return fmt.Errorf("removed %d", n)
			}
			return nil
		})
	}},
	{"ChildrenBackward against Move to the end", func(r *interleave.Run) {
		s := plant(r, "a(bcd)")
		s.loop(s.f.ChildrenBackward(s.node['a']), "dcb", "dc", "bdc")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('b'), at('a')) })
	}},
	{"ChildrenBackward against InsertBefore", func(r *interleave.Run) {
		s := plant(r, "a(bcd)x")
		s.loop(s.f.ChildrenBackward(s.node['a']), "dcb", "dcxb")
		s.write(func(at func(byte) itemHandle) error { return s.f.InsertBefore(at('c'), at('x')) })
	}},
	{"DescendantsBackward against Move up", func(r *interleave.Run) {
		s := plant(r, "a(b(c(d))e)")
		// c is yielded if it is below b, or below a and behind e, or not at all.
		s.loop(s.f.DescendantsBackward(s.node['a']), "edcb", "eb", "edb", "dceb")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('c'), at('a')) })
	}},
	{"PostOrder against Detach", func(r *interleave.Run) {
		s := plant(r, "a(b(c)d)")
		s.loop(s.f.PostOrder(s.node['a']), "cbd", "d", "cd")
		s.write(func(at func(byte) itemHandle) error { return s.f.Detach(at('b')) })
	}},
	{"DescendantsFunc against Move down", func(r *interleave.Run) {
		s := plant(r, "a(b(c)d(e))")
		// It does not enter d, so it does not find b there.
		enter := func(_ itemHandle, v *item) bool { return v.name != 'd' }
		s.loop(s.f.DescendantsFunc(s.node['a'], enter), "bcd", "bd", "d")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('b'), at('d')) })
	}},
	{"Ancestors against Move", func(r *interleave.Run) {
		s := plant(r, "a(b(c(d)))x(y)")
		s.ancestors('d', "cba", "cyx")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('c'), at('y')) })
	}},
	{"Ancestors against Moves one above the other", func(r *interleave.Run) {
		s := plant(r, "a(b(c(d)))x(y)")
		s.ancestors('d', "cba", "cyx") // never cbx
		s.write(func(at func(byte) itemHandle) error {
			if err := s.f.Move(at('c'), at('y')); err != nil {
				return err
			}
			return s.f.Move(at('b'), at('x'))
		})
	}},
	{"Remove against a removal behind the back", func(r *interleave.Run) {
		s := plant(r, "a(b(cd)e)")
		removed := 0
		s.finally = func() error {
			if left := s.p.Len(); left+removed != 5 {
				return fmt.Errorf("%d are left and %d removed, of 5", left, removed)
			}
			return nil
		}
		s.write(func(at func(byte) itemHandle) error {
			removed += s.f.Remove(at('b'))
			return nil
		})
		s.r.Go("behind", 1, func(t *interleave.Thread) {
			t.Begin("Remove")
			for _, c := range []byte("bd") {
				if s.p.Remove(s.node[c]) {
					removed++
				}
			}
			t.End()
		})
	}},
	{"two writers", func(r *interleave.Run) {
		s := plant(r, "a(bc)x")
		s.write(func(at func(byte) itemHandle) error { return s.f.Move(at('b'), at('x')) })
		s.r.Go("other", 1, func(t *interleave.Thread) {
			t.Begin("change")
			if err := s.f.Move(s.node['c'], s.node['b']); err != nil {
				s.r.Failf("%v", err)
			}
			t.End()
		})
	}},
}

// These tests run readers beside a writer under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/tree -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay repeats.
func TestInterleave(t *testing.T) {
	bound := 2
	if testing.Short() {
		bound = 1
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) { testkit.Explore(t, s.setup, false, testkit.Preemptions(bound)) })
	}
}
