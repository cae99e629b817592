//go:build interleave

package explore_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/verbs"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// verb is one kind of operation of a program. takes says what it takes and makes, a letter
// each:
//
//	a  it acts through one of the thread's Workers, or not; w: it needs one
//	h  a handle; H: some
//	g  a guard or a Ref, and r a Reservation
//	n  a small number
//	f  a callback, or none
//	>  it makes a handle
//	G  it makes a guard or a Ref, R a Reservation, W a Worker
//
// A verb of weight 0 is for scenarios alone.
type verb struct {
	weight int
	name   string
	takes  string
	run    func(v *vars, a *actor, o *op)
}

func (v *verb) has(letters string) bool { return strings.ContainsAny(v.takes, letters) }

// vars are the variables of a program. The last one of each kind is set and never used.
type vars struct {
	h  [variables + 1]Handle[val]
	g  [variables + 1]*reader
	r  [variables + 1]*Reservation[val]
	wk [variables + 1]*actor
}

// variables is how many there are of each kind, at most.
const variables = 64

// op is one operation of a program. A number that it does not have is none.
type op struct {
	*verb
	by   int // which Worker
	to   int // the first variable for a new handle
	n    int
	g, r int
	h    []named
	into int // the variable for a new guard, Ref, Reservation or Worker

	calls bool // it has a callback, which may be empty
	inner []op
}

const none = variables

func newOp(v *verb) op { return op{verb: v, by: none, to: none, g: none, r: none, into: none} }

// named is a handle in a program: of a variable, of a later life of its slot, of a
// Reservation, or one that was made up.
type named struct {
	at       int
	ahead    int // so many lives
	reserved bool
	madeUp   bool
	made     Handle[val]
}

func (n named) of(v *vars) Handle[val] {
	switch h := v.h[n.at]; {
	case n.madeUp:
		return n.made
	case n.reserved && v.r[n.at] != nil:
		return v.r[n.at].Handle()
	case n.reserved || h == 0:
		return 0
	default:
		for range n.ahead {
			h = Handle[val](slots.Reborn(uint64(h)))
		}
		return h
	}
}

func (n named) String() string {
	switch {
	case n.madeUp:
		return fmt.Sprintf("%d@%d", n.made.Index(), n.made.Generation())
	case n.reserved:
		return fmt.Sprintf("r%d", n.at)
	case n.ahead > 0:
		return fmt.Sprintf("h%d+%d", n.at, n.ahead)
	}
	return fmt.Sprintf("h%d", n.at)
}

// verbList has the operations of programs. Those of the table of internal/check/verbs that
// have no entry here are added with what they need.
var verbList = makeVerbs()

// usual is the weight of those that every drawn program may have.
const usual = 20

func makeVerbs() []verb {
	list := []verb{
		{0, "fail", "", func(v *vars, a *actor, o *op) {
			interleave.Pause()
			panic(verbs.ErrMeant)
		}},
		{0, "exit", "", func(v *vars, a *actor, o *op) {
			interleave.Pause()
			runtime.Goexit()
		}},

		{usual, "Insert", "a>", func(v *vars, a *actor, o *op) {
			for i := range max(o.n, 1) {
				v.h[min(o.to+i, none)] = a.at("Insert", nil)
			}
		}},
		{0, "insertWaits", "a>", func(v *vars, a *actor, o *op) { v.h[o.to] = a.waits(a.patient(math.MaxInt), "InsertWait", nil) }},
		{4, "InsertWait", "a>", func(v *vars, a *actor, o *op) { v.h[o.to] = a.waits(a.brief(), "InsertWait", nil) }},
		{2, "InsertFuncWait", "f>", func(v *vars, a *actor, o *op) { v.h[o.to] = a.waits(a.brief(), "InsertFuncWait", o.f(v, a)) }},
		{8, "Synchronize", "n", func(v *vars, a *actor, o *op) { a.waits(a.patient(max(o.n, 1)), "Synchronize", nil) }},
		{2, "Grow", "n", func(v *vars, a *actor, o *op) {
			c := a.call("Grow", nil)
			c.N = max(o.n, 1)
			c.Do()
		}},
		{2, "WriteTo", "f", func(v *vars, a *actor, o *op) { a.snapshot(o.f(v, a)) }},
		{1, "Clone", "f", func(v *vars, a *actor, o *op) { a.clone(o.f(v, a)) }},

		{usual, "Pin", "ahG", func(v *vars, a *actor, o *op) { v.g[o.into] = a.pin(o.handle(v)) }},
		{4, "Hold", "hG", func(v *vars, a *actor, o *op) { v.g[o.into] = a.opens("Hold", o.handle(v)) }},
		{0, "Read", "h", func(v *vars, a *actor, o *op) { a.unpin(a.pin(o.handle(v))) }},
		{2, "Scan", "", func(v *vars, a *actor, o *op) { a.do("Scan", func() { Domain(a.p).Scan() }) }},
		{2, "Meet", "", func(v *vars, a *actor, o *op) { a.do("Meet", func() { Domain(a.p).Meet() }) }},
		{1, "Crowd", "nG", func(v *vars, a *actor, o *op) { v.g[o.into] = a.crowd(max(o.n, 1) * 34) }},
		{8, "Unpin", "g", func(v *vars, a *actor, o *op) { a.unpin(v.g[o.g]) }},

		{4, "Reserve", "R", func(v *vars, a *actor, o *op) { v.r[o.into] = a.reserve("Reserve") }},
		{1, "ReserveWait", "R", func(v *vars, a *actor, o *op) { v.r[o.into] = a.reserve("ReserveWait") }},
		{3, "Commit", "r>", func(v *vars, a *actor, o *op) { v.h[o.to] = a.commit(v.r[o.r]) }},
		{2, "Cancel", "r", func(v *vars, a *actor, o *op) { a.cancel(v.r[o.r], (*Reservation[val]).Cancel) }},
		{2, "drop", "r", func(v *vars, a *actor, o *op) { a.cancel(v.r[o.r], DropReservation[val]) }},

		{2, "Open", "W", func(v *vars, a *actor, o *op) { v.wk[o.into] = a.worker() }},
		{5, "Flush", "w", func(v *vars, a *actor, o *op) { a.giveBack(func() { a.at("Flush", nil) }) }},
		{2, "Close", "w", func(v *vars, a *actor, o *op) { a.giveBack(func() { a.at("Close", nil) }) }},
		{1, "dropWorker", "w", func(v *vars, a *actor, o *op) { a.drop() }},

		{0, "RemoveAt", "nh", func(v *vars, a *actor, o *op) {
			for _, h := range o.handles(v) { // which live
				f := a.push(&frame{a: a, op: "Remove", removes: []Handle[val]{h}, before: []knew{{h, a.begin(h), false}}})
				ok := Arena(a.p).RemoveAt(o.n, uint64(h)) // into the limbo of this shard
				a.leave()
				a.must(f, h, verbs.Report{Effect: verbs.Remove, OK: ok})
			}
		}},
		{4, "ClearExpired", "", func(v *vars, a *actor, o *op) {
			if Arena(a.p).Reset == nil {
				a.do("sentinel", Arena(a.p).ClearExpired)
			}
		}},
		{0, "rowsSuffice", "", func(v *vars, a *actor, o *op) {
			if Domain(a.p).HasBlock() {
				a.r.Failf("a row has idle cells, and a pin has made a block")
			}
		}},
		{0, "conserved", "", func(v *vars, a *actor, o *op) { a.conserved() }},
	}
	weights := map[string]int{
		"Remove": usual, "InsertFunc": 5, "Take": 8, "RemoveBatch": 8, "Get": 8, "Contains": 2, "Pointer": 3, "View": 3, "All": 3, "Each": 1,
		"Drain": 3, "DeleteFunc": 3, "Clear": 3, "Trim": 6, "Stats": 2, "Guard.Pointer": 5, "Guard.All": 2,
	}
	for _, of := range table {
		if !slices.ContainsFunc(list, func(v verb) bool { return v.name == of.Name }) {
			v := simple(of.Name, of.Needs)
			// What a verb inserts beside another handle is live before the verb reports it, which
			// the invariants would take for a value that nobody inserted. Scenarios may have it.
			if beside := of.Needs&(verbs.Handle|verbs.Handles) != 0; !beside || of.Needs&verbs.Inserts == 0 {
				v.weight = max(1, weights[of.Name])
			}
			list = append(list, v)
		}
	}
	return list
}

// simple returns the verb of a table's entry that only takes handles, a guard and a callback,
// and perhaps makes a handle.
func simple(name string, needs verbs.Needs) verb {
	v := verb{name: name}
	for _, p := range [...]struct {
		need  verbs.Needs
		takes string
	}{
		{verbs.Any, "a"}, {verbs.Handle, "h"}, {verbs.Handles, "H"}, {verbs.Guard, "g"}, {verbs.Calls, "f"}, {verbs.Inserts, ">"},
	} {
		if needs&p.need != 0 {
			v.takes += p.takes
		}
	}
	if needs&verbs.Loops != 0 && needs&(verbs.Under|verbs.Number) != 0 { // it has a body
		v.takes += "f"
	}
	if needs&(verbs.Either|verbs.Reservation|verbs.Pins|verbs.Worker|verbs.Context) != 0 {
		panic(name + " needs an entry in verbList")
	}
	call := func(v *vars, a *actor, o *op, hs ...Handle[val]) {
		if needs&verbs.Guard != 0 {
			a.under(name, v.g[o.g], o.f(v, a), hs...)
		} else {
			v.h[o.to] = a.at(name, o.f(v, a), hs...)
		}
	}
	v.run = func(v *vars, a *actor, o *op) {
		if needs&verbs.Handle == 0 {
			call(v, a, o, o.handles(v)...)
			return
		}
		for _, n := range o.h {
			// What was not inserted need not be removed.
			if h := n.of(v); h != 0 || n.madeUp || needs&(verbs.Removes|verbs.Guard) == 0 {
				call(v, a, o, h)
			}
		}
	}
	return v
}

// verbOf returns the verb with this name.
func verbOf(name string) *verb {
	for i := range verbList {
		if verbList[i].name == name {
			return &verbList[i]
		}
	}
	panic("there is no verb " + name)
}

// run runs operations one after the other.
func run(v *vars, a *actor, ops []op) {
	for i := range ops {
		if a.r.Failed() {
			return
		}
		o, by := &ops[i], a
		if o.by != none {
			by = a.by(v.wk[o.by])
		}
		o.run(v, by, o)
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

// handle returns the only handle of o, or 0.
func (o *op) handle(v *vars) Handle[val] {
	if len(o.h) == 0 {
		return 0
	}
	return o.h[0].of(v)
}

func (o *op) handles(v *vars) (hs []Handle[val]) {
	for _, n := range o.h {
		hs = append(hs, n.of(v))
	}
	return hs
}

// String returns o as parser reads it.
func (o *op) String() string {
	var b strings.Builder
	switch {
	case o.to != none && o.n > 1:
		fmt.Fprintf(&b, "h%d..%d = ", o.to, o.to+o.n-1)
	case o.to != none:
		fmt.Fprintf(&b, "h%d = ", o.to)
	case o.into != none:
		makes := o.takes[strings.IndexAny(o.takes, "GRW"):][:1]
		fmt.Fprintf(&b, "%s%d = ", strings.ToLower(makes), o.into)
	}
	if o.by != none {
		fmt.Fprintf(&b, "w%d.", o.by)
	}
	b.WriteString(o.name)
	if o.n > 0 && o.to == none {
		fmt.Fprintf(&b, " %d", o.n)
	}
	if o.g != none {
		fmt.Fprintf(&b, " g%d", o.g)
	}
	if o.r != none {
		fmt.Fprintf(&b, " r%d", o.r)
	}
	for _, n := range o.h {
		fmt.Fprintf(&b, " %v", n)
	}
	if o.calls {
		fmt.Fprintf(&b, " { %s }", listed(o.inner, "; "))
	}
	return b.String()
}

func listed(ops []op, separator string) string {
	var texts []string
	for i := range ops {
		texts = append(texts, ops[i].String())
	}
	return strings.Join(texts, separator)
}
