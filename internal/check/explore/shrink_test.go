//go:build interleave

package explore_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// shrink makes a program that fails smaller, as long as it fails in some way, and
// returns it with a failure that takes few preemptions.
func shrink(p *program, seed uint64, f *interleave.Failure) (*program, *interleave.Failure) {
	end := time.Now().Add(*shrinkFlag)
	for again := true; again; {
		again = false
		for i := 0; time.Now().Before(end); {
			c := p.clone()
			if r := (reduction{left: i}); !r.program(c) {
				break
			}
			if g := fails(c, seed); g != nil {
				p, f, again = c, g, true // what was the next is at i now
			} else {
				i++
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

// fails looks for a failure of p, longer than explore does.
func fails(p *program, seed uint64) *interleave.Failure {
	if f := interleave.SearchSome(p.setup, 2, 1000).Failure; f != nil {
		return f
	}
	for depth := 2; depth < 5; depth++ {
		if f := interleave.PCT(p.setup, 300, depth, seed).Failure; f != nil {
			return f
		}
	}
	return nil
}

// clone returns a copy of p that shares nothing with it.
func (p *program) clone() *program {
	copies, err := parse(p.String())
	if err != nil {
		panic(err) // what String returns can be parsed
	}
	return copies[0]
}

// reduction makes one change, of those that make a program simpler, the one before
// which there are left others.
type reduction struct{ left int }

// may reports whether the change at hand is the one, if it changes anything.
func (r *reduction) may(changes bool) bool {
	if changes {
		r.left--
	}
	return changes && r.left < 0
}

// zero makes the change to zero, or reports false.
func zero[T comparable](r *reduction, at *T) bool { return become(r, at, *new(T)) }

func become[T comparable](r *reduction, at *T, to T) bool {
	if !r.may(*at != to) {
		return false
	}
	*at = to
	return true
}

// program changes p, and reports whether there was such a change.
func (r *reduction) program(p *program) bool {
	for i := range p.threads {
		if r.may(len(p.threads) > 1) {
			p.threads = slices.Delete(p.threads, i, i+1)
			return true
		}
	}
	for i := range p.threads {
		if r.ops(&p.threads[i].ops) || zero(r, &p.threads[i].shard) {
			return true
		}
	}
	if r.ops(&p.prepare) || r.ops(&p.resets) {
		return true
	}
	done := false
	p.settings.fields(func(name string, at reflect.Value) {
		// MinFree goes with FIFO: 0 is the default, which is large.
		if name != "MinFree" && !done && r.may(!at.IsZero()) {
			at.SetZero()
			done = true
		}
	})
	if !p.FIFO {
		p.MinFree = 0
	}
	if !p.Reset {
		p.Resets, p.resets = 0, nil
	}
	p.Preallocate = p.Preallocate && p.Capacity > 0
	return done
}

func put[T any](at *T, to T) bool { *at = to; return true }

// ops changes operations.
func (r *reduction) ops(list *[]op) bool {
	for i := range *list {
		if r.may(true) {
			*list = slices.Delete(*list, i, i+1)
			return true
		}
	}
	for i := range *list {
		o := &(*list)[i]
		if r.may(o.calls) {
			o.calls, o.inner = false, nil
			return true
		}
		if r.ops(&o.inner) || become(r, &o.by, none) || r.may(o.n > 1) && put(&o.n, o.n-1) {
			return true
		}
		for k := range o.h {
			if zero(r, &o.h[k].ahead) || r.may(len(o.h) > 1) && put(&o.h, slices.Delete(o.h, k, k+1)) {
				return true
			}
		}
	}
	return false
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
	failForExit(p.threads[0].ops) // or it may never come to the bug
	p.threads[0].ops = append(p.threads[0].ops, newOp(verbOf("panic")))
	small, f := shrink(p, 1, nil)
	if f == nil || len(small.prepare) != 0 || len(small.threads) != 1 || len(small.threads[0].ops) != 1 {
		t.Errorf("one operation is enough to fail; this is left:\n%s\n%v", small, f)
	}
}
