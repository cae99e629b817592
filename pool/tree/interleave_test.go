//go:build interleave

package tree

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"coatcheck/internal/atom"
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

	removed int  // how many, by calls that have returned
	pinned  bool // its reader uses a Reader
}

// plant makes the nodes of a picture like "a(bc(d))e": children in parentheses. The pool has room for
// so many.
func plant(r *interleave.Run, picture string, room int) *stage {
	p := pool.Must(&pool.Options[item]{Capacity: room, Shards: 1, Origin: 1})
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
			if err == nil && len(up) > 0 {
				err = s.f.Append(s.node[up[len(up)-1]], h)
			}
			if err != nil {
				r.Failf("%v", err)
			}
			s.node[c], last = h, c
		}
	}
	return s
}

// change is a call with two nodes: Append x a appends x to a. behind is a removal behind
// the forest's back. Reuse d x does that to d, and puts z into its slot, as the first child of x.
type change struct {
	call     string
	of, with byte
}

func (c change) String() string { return fmt.Sprintf("%s %c %c", c.call, c.of, c.with) }

// changes reads changes that are separated by semicolons.
func changes(text string) (all []change) {
	for _, one := range strings.Split(text, ";") {
		words := append(strings.Fields(one), "-", "-")
		all = append(all, change{words[0], words[1][0], words[2][0]})
	}
	return all
}

func (c change) do(s *stage) error {
	of, with := s.node[c.of], s.node[c.with]
	switch c.call {
	case "Append":
		return s.f.Append(with, of)
	case "Prepend":
		return s.f.Prepend(with, of)
	case "InsertAfter":
		return s.f.InsertAfter(with, of)
	case "InsertBefore":
		return s.f.InsertBefore(with, of)
	case "Move":
		return s.f.Move(with, of)
	case "Detach":
		return s.f.Detach(of)
	case "Remove":
		s.removed += s.f.Remove(of)
	case "RemoveLeaf":
		switch err := s.f.RemoveLeaf(s.node[c.of]); {
		case err == nil:
			s.removed++
		case err != ErrHasChildren:
			return err
		}
	case "AppendTo":
		if err := s.f.Append(with, of); err != nil && err != ErrStale {
			return err
		}
	case "behind":
		if s.p.Remove(of) {
			s.removed++
		}
	case "Reuse":
		if s.p.Remove(of) {
			s.removed++
		}
		h, err := s.p.InsertFunc(func(_ itemHandle, v *item) { v.name = 'z' })
		if err != nil || h.Index() != of.Index() {
			return fmt.Errorf("%v is inserted, not into the slot of %v: %v", h, of, err)
		}
		s.node['z'] = h
		return s.f.Prepend(with, h)
	case "Repair":
		s.f.Repair()
	}
	return nil
}

// whole requires that no node is lost at the end, and that all links agree unless some were
// removed behind the forest's back.
func (s *stage) whole(behind bool) {
	s.r.Finally(func() error {
		if n := s.f.Repair(); n != 0 && !behind {
			return fmt.Errorf("%d links were wrong at the end", n)
		}
		if left := s.p.Len(); left+s.removed != len(s.node) {
			return fmt.Errorf("%d are left and %d removed, of %d", left, s.removed, len(s.node))
		}
		return nil
	})
}

// writer starts a thread that makes changes.
func (s *stage) writer(all []change) {
	s.r.Go("writer", 0, func(t *interleave.Thread) {
		for _, c := range all {
			t.Begin(c.call)
			if err := c.do(s); err != nil {
				s.r.Failf("%v: %v", c, err)
			}
			t.End()
		}
	})
}

// reads are the reading verbs that scenarios use, of a Forest or of a Reader.
type reads interface {
	Parent(itemHandle) (itemHandle, bool)
	FirstChild(itemHandle) (itemHandle, bool)
	LastChild(itemHandle) (itemHandle, bool)
	Next(itemHandle) (itemHandle, bool)
	Prev(itemHandle) (itemHandle, bool)
	Children(itemHandle) iter.Seq2[itemHandle, *item]
	Descendants(itemHandle) iter.Seq2[itemHandle, *item]
	PostOrder(itemHandle) iter.Seq2[itemHandle, *item]
	Ancestors(itemHandle) iter.Seq2[itemHandle, *item]
	Roots() iter.Seq2[itemHandle, *item]
}

// loops are the loops below a node, or above.
var loops = map[string]func(f reads, h itemHandle) iter.Seq2[itemHandle, *item]{
	"Children":    reads.Children,
	"Descendants": reads.Descendants,
	"PostOrder":   reads.PostOrder,
	"Ancestors":   reads.Ancestors,
	"Roots":       func(f reads, _ itemHandle) iter.Seq2[itemHandle, *item] { return f.Roots() },
}

// reads returns what a reader of the stage reads by, and what ends it.
func (s *stage) reads() (by reads, unpin func()) {
	if !s.pinned {
		return s.f, func() {}
	}
	r := s.f.Pin()
	return &r, r.Unpin
}

// reader starts a thread with a loop at a node. What it yields must please judge.
func (s *stage) reader(loop string, of byte, judge func(got string)) {
	s.r.Go("reader", 1, func(t *interleave.Thread) {
		got := ""
		by, unpin := s.reads()
		defer unpin()
		t.Begin(loop)
		var held []*item
		for h, v := range loops[loop](by, s.node[of]) {
			held = append(held, v)
			if s.node[v.name] != h || strings.IndexByte(got, v.name) >= 0 {
				s.r.Failf("%c is yielded as %v, after %q", v.name, h, got)
				break
			}
			got += string(v.name)
		}
		t.End()
		if s.pinned {
			for i, v := range held { // the pin holds what the loop yielded
				if i < len(got) && v.name != got[i] {
					s.r.Failf("what was %c is %c under the pin", got[i], v.name)
				}
			}
		}
		t.Notef("yields %q", got)
		judge(got)
	})
}

// partOf reports whether part is s without some of its letters.
func partOf(part, s string) bool {
	for _, c := range []byte(part) {
		i := strings.IndexByte(s, c)
		if i < 0 {
			return false
		}
		s = s[i+1:]
	}
	return true
}

// neighbours are the verbs that find one.
var neighbours = map[string]func(f reads, h itemHandle) (itemHandle, bool){
	"Parent":     reads.Parent,
	"FirstChild": reads.FirstChild,
	"LastChild":  reads.LastChild,
	"Next":       reads.Next,
	"Prev":       reads.Prev,
}

// scenario is a loop at a, or at d for Ancestors and neighbours, beside one writer, or two
// divided by a stroke. Its name begins with that of the loop, if there is one, after "Reader: " if
// a Reader is to run it, or after "Unpinned: " if a verb of the Forest need not pin, in a pool without more
// room. want has what the loop may yield, - for
// nothing; or what it may yield parts of, with a node that must not be left out. Or it has
// children of b that a loop at b must yield if they are live afterwards, and another one is.
type scenario struct{ name, picture, writers, want string }

var scenarios = []scenario{
	// The walk may begin before or after the Append.
	{"Children against Append", "a(bcd)x", "Append x a", "bcd bcdx"},
	{"Children against Prepend and InsertAfter", "a(bcd)xy", "Prepend x a; InsertAfter y b", "bcd xbcd xbycd"},
	{"Children against Detach", "a(bcd)", "Detach c", "bcd bd"},
	{"Children against Detach of neighbours", "a(bcde)", "Detach c; Detach d", "bcde bde be bce"},
	{"Children against Move to the end", "a(bcd)", "Move b a", "bcd cd cdb"},
	// b moves, then c. The order is kept and nothing is yielded twice.
	{"Children against Move to the end, one after the other", "a(bcd)", "Move b a; Move c a", "bcd cd d bd cdb dbc db"},
	{"Children against Move to the end of two of four", "a(bcde)", "Move b a; Move c a", "bcde bde cde de cdeb deb debc"},
	{"Children against Detach of all that were yielded", "a(bcde)", "Detach b; Detach c; Detach d", "parts of bcde with e"},
	{"Children against Prepend and InsertBefore", "a(bc)xy", "Prepend x a; InsertBefore y c", "bc xbc xbyc"},
	{"Children against a removal behind the back", "a(bcd)", "behind b; Repair", "bcd cd -"},
	{"Children below Remove", "a(b(cde))", "Remove a", "all that stay of cde"},
	{"Children below Remove, behind a dead one", "a(b(cde))", "behind e; Remove a", "all that stay of d while c does"},
	// One change invalidates a reading, the other the next.
	{"Children against two writers", "a(bcd)", "Detach b | Move c a", "bcd cd bd d bdc dc"},
	{"Children against Move into another list", "a(bcd)x(yz)", "Move c x", "bcd bd"},
	{"Children against Remove", "a(bc(x)d)", "Remove c", "bcd bd"},
	{"Children against a removal behind the back, and Repair", "a(bcd)", "behind c; Repair", "bcd bd b"},
	// The order is kept: e never comes behind f.
	{"Descendants against a Repair that shows what a dead node hid", "a(b(cde)fgh)", "behind d; Repair; Detach f; Detach g", "parts of bcdefgh"},
	{"Descendants against Append", "a(b(c)d)x(y)", "Append x b", "bcd bcxyd"},
	{"Descendants against Detach", "a(b(c)d)", "Detach b", "bcd d"},
	{"Descendants against Move down", "a(b(c)d(e))", "Move b d", "bcde bde de debc"},
	{"Descendants against Move up", "a(b(c(d))e)", "Move c a", "bcde bce be becd"},
	{"Descendants against Move out and back", "a(b(c)d)x", "Move b x; Move b a", "bcd bd d dbc"},
	{"Descendants against Remove", "a(b(cd)e)", "Remove b", "bcde e be bce bde"},
	{"Descendants against Move out and back of two children", "a(b(cd)e)x", "Move b x; Move b a", "bcde e ebcd"},
	{"PostOrder against Append", "a(b(c)d)x(y)", "Append x b", "cbd cyxbd"},
	{"PostOrder against Detach", "a(b(c)d)", "Detach b", "cbd d cd"},
	{"PostOrder against Move up", "a(b(cd)e)", "Move c a", "cdbe dbe dbec"},
	{"PostOrder against Remove", "a(b(cd)e)", "Remove b", "cdbe e cde ce"},
	{"PostOrder against Remove of one with an only child", "a(b(c)d)", "Remove b", "cbd d cd"},
	{"Ancestors against Move", "a(b(c(d)))x(y)", "Move c y", "cba cyx"},
	{"Ancestors against Moves one above the other", "a(b(c(d)))xy(z)", "Move c x; Move b z", "cba cx"}, // never cbzy
	// d has a live parent at every moment.
	{"Parent against Move and Remove", "a(d)x", "Move d x; Remove a", "a x"},
	{"Next against Move to the end", "a(bdc)", "Move d a", "c -"},
	{"Prev against InsertBefore and Remove", "a(bd)x", "InsertBefore x d; Remove b", "b x"},
	{"FirstChild against Prepend and Remove", "d(b)x", "Prepend x d; Remove x", "b x"},
	{"FirstChild against Move into another list", "d(bc)x", "Move b x", "b c"},
	{"LastChild against Move to the end", "d(bc)", "Move b d", "c b"},
	{"Roots against Move and Remove", "a(d)x", "Move d x; Remove a", "ax x"},
	// Under one pin.
	{"Reader: Children against Move to the end", "a(bcd)", "Move b a; Move c a", "bcd cd d bd cdb dbc db"},
	{"Reader: Children against Remove", "a(bc(x)d)", "Remove c", "bcd bd"},
	{"Reader: Descendants against Move out and back", "a(b(c)d)x", "Move b x; Move b a", "bcd bd d dbc"},
	{"Reader: PostOrder against Remove", "a(b(cd)e)", "Remove b", "cdbe e cde ce"},
	{"Reader: Ancestors against Moves one above the other", "a(b(c(d)))xy(z)", "Move c x; Move b z", "cba cx"},
	{"Reader: Parent against Move and Remove", "a(d)x", "Move d x; Remove a", "a x"},
	{"Reader: Next against Move to the end", "a(bdc)", "Move d a", "c -"},
	// Without a pin. What is in d's slot by now has another parent, and another sibling.
	{"Unpinned: Parent against another node in the slot", "a(d)x(y)", "Reuse d x", "a -"},
	{"Unpinned: Next against another node in the slot", "a(db)x(y)", "Reuse d x", "b -"},
	{"Unpinned: FirstChild against another node in the child's slot", "d(bc)x(y)", "Reuse b x", "b -"},
	{"Unpinned: Parent against Move and Remove", "a(d)x", "Move d x; Remove a", "a x"},
	{"Unpinned: Next against Move to the end", "a(bdc)", "Move d a", "c -"},
	{"Unpinned: LastChild against Move to the end", "d(bc)", "Move b d", "c b"},
	{"two writers", "a(bc)x", "Move b x | Move c b", ""},
	// x is a child of b, or b is gone and x a root: it never goes with b.
	{"RemoveLeaf and Append", "a(b)x", "RemoveLeaf b | AppendTo x b", ""},
	{"Remove and a removal behind the back", "a(b(cd)e)", "Remove b | behind b; behind d", ""},
}

func (sc scenario) setup(r *interleave.Run) {
	name, unpinned := strings.CutPrefix(sc.name, "Unpinned: ")
	room := 16
	if atom.CopiesWithoutPin = unpinned; unpinned {
		room = len(sc.picture) - 2*strings.Count(sc.picture, "(")
	}
	s := plant(r, sc.picture, room)
	for _, text := range strings.Split(sc.writers, "|") {
		s.writer(changes(text))
	}
	s.whole(strings.Contains(sc.writers, "behind") || strings.Contains(sc.writers, "Reuse"))
	whole, some := strings.CutPrefix(sc.want, "parts of ")
	whole, must, _ := strings.Cut(whole, " with ")
	stay, staying := strings.CutPrefix(sc.want, "all that stay of ")
	want := strings.Fields(sc.want)
	judge := func(got string) {
		got = cmp.Or(got, "-")
		if !slices.Contains(want, got) && !(some && partOf(got, whole) && strings.Contains(got, must)) {
			r.Failf("the loop yields %q, want one of %q", got, want)
		}
	}
	name, s.pinned = strings.CutPrefix(name, "Reader: ")
	switch loop, _, reads := strings.Cut(name, " against "); {
	case staying:
		stay, while, _ := strings.Cut(strings.TrimSuffix(stay, " does"), " while ")
		s.reader("Children", 'b', func(got string) {
			for _, c := range []byte(stay) {
				if while != "" && !s.p.Contains(s.node[while[0]]) {
					return
				}
				if s.p.Contains(s.node[c]) && strings.IndexByte(got, c) < 0 {
					r.Failf("the loop yields %q and omits %c, which stays", got, c)
				}
			}
		})
	case !reads:
	case loop == "Ancestors":
		s.reader(loop, 'd', judge)
		r.Go("depth", 1, func(t *interleave.Thread) {
			t.Begin("Depth")
			n := s.f.Depth(s.node['d'])
			t.End()
			if !slices.ContainsFunc(want, func(w string) bool { return len(w) == n }) {
				r.Failf("the depth of d is %d, want the length of one of %q", n, want)
			}
		})
	case neighbours[loop] != nil:
		r.Go("reader", 1, func(t *interleave.Thread) {
			by, unpin := s.reads()
			defer unpin()
			t.Begin(loop)
			to, ok := neighbours[loop](by, s.node['d'])
			t.End()
			if !slices.ContainsFunc(want, func(w string) bool { return to == s.node[w[0]] && ok == (w != "-") }) {
				r.Failf("%s of d is %v, %v, want one of %q", loop, to, ok, want)
			}
		})
	default:
		s.reader(loop, 'a', judge)
	}
}

// These tests run readers beside a writer under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/tree -interleave.bound 2
//
// A failure prints the interleaving.
func TestInterleave(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) { testkit.Explore(t, sc.setup, false) })
	}
}
