//go:build interleave

package explore_test

import (
	"fmt"
	"slices"
	"strings"

	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard"
)

// verb is one kind of operation of generated programs. Its text is what it prints,
// and says what has to be drawn for it:
//
//	$a  the actor: the thread's, or that of one of its Workers
//	$w  an actor with a Worker
//	$h  a handle, and $H some
//	$g  a guard or a Ref that the thread has, and $r a Reservation
//	$n  a small number
//	$f  a callback, or nil; $b one that does not exit
//	$>  the variable for a new handle, $t its number if it is the first of $n
//	$G, $R, $W  the variable for a new guard or Ref, Reservation, Worker
//
// What an actor has a short name for is listed here; the other verbs of the table of
// internal/check/verbs are drawn by what they need.
type verb struct {
	weight int
	text   string
	run    func(v *vars, a *actor, o *op)
}

// vars are the variables of a generated program.
type vars struct {
	h  [variables]Handle[val]
	g  [variables]*reader
	r  [variables]*Reservation[val]
	wk [variables]*actor
	rv *Reserver[val]
}

// variables is how many there are of each kind, at most.
const variables = 64

// op is one operation of a program.
type op struct {
	*verb
	by, to, n int // which Worker (none: -1), variable, and number
	g, r      int
	h         []named
	inner     []op
	calls     bool // inner is there, if empty
	into      int
}

// named is a handle in a program: of a variable, of a later life of its slot, or,
// if made is not zero, one that was made up.
type named struct {
	at    int
	ahead int // so many lives
	made  Handle[val]
}

// ahead returns the handle that h's slot will have after n lives.
func ahead(h Handle[val], n int) Handle[val] {
	for range n {
		if h != 0 {
			h = Handle[val](shard.Reborn(uint64(h)))
		}
	}
	return h
}

func (n named) of(v *vars) Handle[val] {
	if n.made != 0 {
		return n.made
	}
	return ahead(v.h[n.at], n.ahead)
}

func (n named) String() string {
	switch {
	case n.made != 0:
		return fmt.Sprintf("Handle[val](shard.Pack(%d, %d))", n.made.Generation(), n.made.Index())
	case n.ahead > 0:
		return fmt.Sprintf("ahead(h[%d], %d)", n.at, n.ahead)
	}
	return fmt.Sprintf("h[%d]", n.at)
}

// verbTable has the operations that are drawn. The first two end callbacks.
var verbTable []verb

// usual is the weight of those that every program may have.
const usual = 20

func init() {
	verbTable = []verb{
		{0, "a.fail()", func(v *vars, a *actor, o *op) { a.fail() }},
		{0, "a.exit()", func(v *vars, a *actor, o *op) { a.exit() }},

		{usual, "$> = $a.insert()", func(v *vars, a *actor, o *op) { v.h[o.to] = a.insert() }},
		{5, "$> = $a.insertFunc($f)", func(v *vars, a *actor, o *op) { v.h[o.to] = a.insertFunc(o.f(v, a)) }},
		{2, "$a.insertFails($f)", func(v *vars, a *actor, o *op) { a.insertFails(o.f(v, a)) }},
		{5, "copy(h[$t:], a.insertBatch($n))", func(v *vars, a *actor, o *op) { copy(v.h[o.to:], a.insertBatch(o.n)) }},
		{usual, "$a.remove($h)", func(v *vars, a *actor, o *op) { a.remove(o.h[0].of(v)) }},
		{8, "$a.take($h)", func(v *vars, a *actor, o *op) { a.take(o.h[0].of(v)) }},
		{8, "a.removeBatch($H)", func(v *vars, a *actor, o *op) { a.removeBatch(o.handles(v)...) }},
		{8, "$a.get($h)", func(v *vars, a *actor, o *op) { a.get(o.h[0].of(v)) }},
		{2, "a.contains($h)", func(v *vars, a *actor, o *op) { a.contains(o.h[0].of(v)) }},
		{3, "a.view($h, $f)", func(v *vars, a *actor, o *op) { a.view(o.h[0].of(v), o.f(v, a)) }},
		{3, "a.all($b)", func(v *vars, a *actor, o *op) { a.all(o.f(v, a)) }},
		{1, "a.each($b)", func(v *vars, a *actor, o *op) { a.each(o.f(v, a)) }},
		{3, "a.drain($f)", func(v *vars, a *actor, o *op) { a.drain(o.f(v, a)) }},
		{3, "a.deleteFunc($f)", func(v *vars, a *actor, o *op) { a.deleteFunc(o.f(v, a)) }},
		{3, "a.clear()", func(v *vars, a *actor, o *op) { a.clear() }},
		{6, "a.trim()", func(v *vars, a *actor, o *op) { a.trim() }},
		{3, "a.grow($n)", func(v *vars, a *actor, o *op) { a.grow(o.n) }},
		{8, "a.synchronize($n)", func(v *vars, a *actor, o *op) { a.synchronize(o.n) }},
		{2, "a.stats()", func(v *vars, a *actor, o *op) { a.stats() }},
		{2, "a.snapshot()", func(v *vars, a *actor, o *op) { a.snapshot() }},

		{usual, "$G = $a.pin($h)", func(v *vars, a *actor, o *op) { v.g[o.into] = a.pin(o.h[0].of(v)) }},
		{4, "$G = a.hold($h)", func(v *vars, a *actor, o *op) { v.g[o.into] = a.hold(o.h[0].of(v)) }},
		{3, "a.brief($h, false)", func(v *vars, a *actor, o *op) { a.brief(o.h[0].of(v), false) }},
		{2, "a.frontier()", func(v *vars, a *actor, o *op) { a.frontier() }},
		{5, "a.look($g, $h)", func(v *vars, a *actor, o *op) { a.look(v.g[o.g], o.h[0].of(v)) }},
		{2, "a.lookAll($g, $H)", func(v *vars, a *actor, o *op) { a.lookAll(v.g[o.g], o.handles(v)...) }},
		{2, "a.allUnder($g, $b)", func(v *vars, a *actor, o *op) { a.allUnder(v.g[o.g], o.f(v, a)) }},
		{2, "a.again($g)", func(v *vars, a *actor, o *op) { a.again(v.g[o.g]) }},
		{3, "a.repin($g)", func(v *vars, a *actor, o *op) { a.repin(v.g[o.g]) }},
		{8, "a.unpin($g)", func(v *vars, a *actor, o *op) { a.unpin(v.g[o.g]) }},

		{3, "$R = a.reserve()", func(v *vars, a *actor, o *op) { v.r[o.into] = a.reserve() }},
		{1, "$R = a.reserveFrom(rv)", func(v *vars, a *actor, o *op) { v.r[o.into] = a.reserveFrom(v.rv) }},
		{3, "$> = a.commit($r)", func(v *vars, a *actor, o *op) { v.h[o.to] = a.commit(v.r[o.r]) }},
		{2, "$G = a.commitHold($r)", func(v *vars, a *actor, o *op) { v.g[o.into] = a.commitHold(v.r[o.r]) }},
		{2, "a.cancel($r, (*Reservation[val]).Cancel)", func(v *vars, a *actor, o *op) { a.cancel(v.r[o.r], (*Reservation[val]).Cancel) }},
		{2, "a.cancel($r, DropReservation[val])", func(v *vars, a *actor, o *op) { a.cancel(v.r[o.r], DropReservation[val]) }},

		{2, "$W = a.worker()", func(v *vars, a *actor, o *op) { v.wk[o.into] = a.worker() }},
		{5, "$w.flush()", func(v *vars, a *actor, o *op) { a.flush() }},
		{2, "$w.close()", func(v *vars, a *actor, o *op) { a.close() }},
		{1, "$w.drop()", func(v *vars, a *actor, o *op) { a.drop() }},
	}
	short := len(verbTable)
	for _, o := range table {
		if !slices.ContainsFunc(verbTable[:short], func(v verb) bool { return strings.Contains(v.text, shortName(o.Name)+"(") }) {
			verbTable = append(verbTable, drawn(o.Name, o.Needs))
		}
	}
}

// shortName returns the actor's name for a verb, if it has one.
func shortName(name string) string {
	if other := map[string]string{
		"Guard.Get": "look", "Guard.GetBatch": "lookAll", "Guard.All": "allUnder", "Open": "worker", "Reserver.Reserve": "reserveFrom",
	}[name]; other != "" {
		return other
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// drawn returns what draws a verb by what it needs.
func drawn(name string, needs verbs.Needs) verb {
	by, f := "a", "nil"
	if needs&verbs.Any != 0 {
		by = "$a"
	}
	if needs&verbs.Calls != 0 {
		f = "$f"
	}
	switch needs &^ (verbs.Any | verbs.Calls | verbs.Removes | verbs.Number | verbs.Under) {
	case verbs.Handle:
		return verb{1, fmt.Sprintf("%s.at(%q, %s, $h)", by, name, f), func(v *vars, a *actor, o *op) { a.at(name, o.f(v, a), o.handles(v)...) }}
	case verbs.Handle | verbs.Guard:
		return verb{1, fmt.Sprintf("a.under(%q, $g, nil, $h)", name), func(v *vars, a *actor, o *op) { a.under(name, v.g[o.g], nil, o.handles(v)...) }}
	case verbs.Guard | verbs.Loops:
		return verb{1, fmt.Sprintf("a.under(%q, $g, $b)", name), func(v *vars, a *actor, o *op) { a.under(name, v.g[o.g], o.f(v, a)) }}
	case verbs.Inserts:
		return verb{2, fmt.Sprintf("$> = %s.one(%q, %s)", by, name, f), func(v *vars, a *actor, o *op) { v.h[o.to] = a.one(name, o.f(v, a)) }}
	}
	panic("no way to draw " + name)
}

// do runs o by a.
func (o *op) do(v *vars, a *actor) {
	if o.by >= 0 {
		a = a.by(v.wk[o.by])
	}
	o.run(v, a, o)
}

// run runs operations one after the other.
func run(v *vars, a *actor, ops []op) {
	for i := range ops {
		if a.r.Failed() {
			return
		}
		ops[i].do(v, a)
		a.rest()
	}
}

// f is the callback of o.
func (o *op) f(v *vars, a *actor) func() {
	if !o.calls {
		return nil
	}
	return func() { run(v, a, o.inner) }
}

func (o *op) handles(v *vars) (hs []Handle[val]) {
	for _, n := range o.h {
		hs = append(hs, n.of(v))
	}
	return hs
}

// String returns o as source.
func (o *op) String() string {
	a := "a"
	if o.by >= 0 {
		a = fmt.Sprintf("a.by(wk[%d])", o.by)
	}
	var hs []string
	for _, n := range o.h {
		hs = append(hs, n.String())
	}
	f := "nil"
	if o.calls {
		f = "func() {\n" + source(o.inner) + "}"
	}
	return strings.NewReplacer(
		"$a", a, "$w", a, "$h", strings.Join(hs, ", "), "$H", strings.Join(hs, ", "), "$f", f, "$b", f,
		"$n", fmt.Sprint(o.n), "$t", fmt.Sprint(o.to), "$>", fmt.Sprintf("h[%d]", o.to),
		"$g", fmt.Sprintf("g[%d]", o.g), "$r", fmt.Sprintf("r[%d]", o.r),
		"$G", fmt.Sprintf("g[%d]", o.into), "$R", fmt.Sprintf("r[%d]", o.into), "$W", fmt.Sprintf("wk[%d]", o.into),
	).Replace(o.text)
}

func source(ops []op) string {
	var b strings.Builder
	for i := range ops {
		b.WriteString(ops[i].String() + "\n")
	}
	return b.String()
}
