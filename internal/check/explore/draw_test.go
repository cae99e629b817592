//go:build interleave

package explore_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// drawer draws a program.
type drawer struct {
	*rand.Rand
	p                     *program
	handles, opened       int // variables in use
	reservations, workers int
	workersMost           int   // that are open from the start
	hot                   []int // handles that are used often
	weights               []int // of the verbs
}

// hand is the variables of a thread.
type hand struct {
	h, g, r, w []int
	pinned     int  // guards and Refs in g that are open
	deep       int  // callbacks within callbacks
	shared     bool // it is a Reset's: any thread may run it, and several at once
}

// odds returns true n times out of 100.
func (d *drawer) odds(n int) bool { return d.IntN(100) < n }

// among returns one of list.
func among[T any](d *drawer, list ...T) T { return list[d.IntN(len(list))] }

// swarm draws the weights of the verbs. A program has some of the verbs alone, and some
// of these often: so the few that a bug needs meet more often than if all came
// everywhere (Groce's swarm testing).
func (d *drawer) swarm() {
	share, flat := among(d, 20, 40, 60, 100), d.odds(50)
	for i := range verbList {
		w := verbList[i].weight
		if flat {
			w = min(4*w, usual) // what is rare elsewhere is not so here
		}
		if verbList[i].weight < usual && !d.odds(share) {
			w = 0
		}
		if d.odds(20) {
			w *= 5
		}
		if verbList[i].name == "Crowd" && !d.odds(20) {
			w = 0 // it has as many steps as all else
		}
		d.weights = append(d.weights, w)
	}
}

// draw draws a program.
func draw(rnd *rand.Rand) *program {
	d := &drawer{Rand: rnd, p: &program{name: "a program that was drawn"}}
	d.options()
	d.swarm()
	most := among(d, 2, 4, 7)
	if c := d.p.Capacity; c > 0 {
		most = min(most, c)
	}
	var all hand
	n := among(d, most, most&^(d.p.Page-1), d.IntN(most+1)) // full pages, so that the next one grows
	if n > 0 {
		in := newOp(verbOf("Insert"))
		in.to, in.n = 0, n
		d.p.prepare = append(d.p.prepare, in)
	}
	for range n {
		all.h = append(all.h, d.handles)
		d.handles++
	}
	for range min(n, 2) {
		d.hot = append(d.hot, d.IntN(n))
	}
	if d.odds(30) && n > 0 { // some are gone, and mostly free again
		gone := newOp(verbOf("RemoveBatch"))
		for i := range among(d, 1, 1, 1+d.IntN(n), n) {
			gone.h = append(gone.h, named{at: i})
		}
		d.p.prepare = append(d.p.prepare, gone)
		if d.odds(60) {
			d.p.prepare = append(d.p.prepare, newOp(verbOf("Synchronize")))
		}
	}
	for range d.workersMost {
		d.p.prepare = append(d.p.prepare, d.op(&all, "Open"))
	}
	for range among(d, 0, 1, 2, 3, 5) {
		d.p.prepare = append(d.p.prepare, d.op(&all, ""))
	}
	if d.p.Reset {
		d.p.resets = append(d.p.resets, d.op(&hand{shared: true, deep: 1}, among(d, "", "Flush", "Close")))
		d.p.resets = append(d.p.resets, d.ops(&hand{shared: true, deep: 1}, d.IntN(3), among(d, "", "", "fail"))...)
	}
	if d.p.Calls > 0 {
		d.p.events = append(d.p.events, d.ops(&hand{shared: true, deep: 1}, 1+d.IntN(2), among(d, "", "", "Flush", "Close"))...)
	}
	most = among(d, 1, 2, 3, 3, 5)
	hands := make([]hand, among(d, 2, 2, 2, 3, 3, 3, 4))
	if d.odds(50) { // what needs many operations seldom needs schedules as well
		most, hands = 40, hands[:1]
	}
	for i := range hands {
		hands[i].h = slices.Clone(all.h)
	}
	for _, part := range [...]struct {
		of []int
		to func(*hand) *[]int
	}{{all.g, func(h *hand) *[]int { return &h.g }}, {all.r, func(h *hand) *[]int { return &h.r }}, {all.w, func(h *hand) *[]int { return &h.w }}} {
		for _, x := range part.of { // each has one owner
			to := part.to(&hands[d.IntN(len(hands))])
			*to = append(*to, x)
		}
	}
	for i := range hands {
		s := script{shard: d.IntN(d.p.Shards)}
		s.ops = d.ops(&hands[i], 1+d.IntN(most), "")
		d.p.threads = append(d.p.threads, s)
	}
	return d.p
}

// options draws a pool.
func (d *drawer) options() {
	s := &d.p.settings
	s.Page = among(d, 1, 2, 2, 2, 4)
	s.Shards = among(d, 1, 1, 1, 2, 2, 3)
	s.Spreads = s.Shards > 1 && d.odds(50)
	s.Capacity = among(d, 0, 0, 0, 1+d.IntN(3), 2+d.IntN(4), 4+d.IntN(5), 128)
	if s.FIFO = d.odds(25); s.FIFO && d.odds(50) {
		s.Page = among(d, 4, 8) // slots that were never used go before those in the queue
	}
	s.Unit = among(d, s.Page, max(s.Page/2, 1), 1)
	if d.odds(40) {
		// With this capacity a Worker has eight slots in reach; it has none in small ones.
		s.FIFO, s.Capacity = false, among(d, 0, 128, 128, 128)
		d.workersMost = among(d, 1, 2, 2, 3)
		s.NoReplay = s.Capacity == 0
	}
	s.NoReplay = s.NoReplay || d.odds(30)
	if d.odds(10) {
		s.MaxLimbo = 1 + d.IntN(3)
	}
	s.Preallocate = d.odds(10) && s.Capacity > 0 && s.Capacity < 100
	if d.odds(20) {
		if s.Lives = d.IntN(4); s.Lives == 0 {
			s.Origin = 1
		}
	} else {
		s.Apart = d.odds(25)
	}
	if s.Reset = d.odds(20); s.Reset {
		s.Resets = 3
	}
	s.Plain = !s.Reset && d.odds(25)
	s.Copying = d.odds(50)
	s.Traced = d.odds(5)
	if s.Events = d.odds(25); s.Events && d.odds(50) {
		s.Calls = 3
	}
	switch {
	case s.Traced: // then guards have no row
	case d.odds(10):
		s.Cells = among(d, 2, 4)
	case d.odds(25):
		s.Most = among(d, 2, 4)
	}
}

// ops draws n operations, and one that ends them, if that is not "".
func (d *drawer) ops(h *hand, n int, end string) (list []op) {
	for len(list) < n {
		if d.odds(25) && max(d.handles, d.opened, d.reservations, d.workers) < variables-12 {
			list = append(list, d.phrase(h)...)
		} else {
			list = append(list, d.op(h, ""))
		}
	}
	if end != "" {
		list = append(list, newOp(verbOf(end)))
	}
	return list
}

// phrase draws some operations that belong together. What users do comes in such groups,
// and one by one they seldom meet.
func (d *drawer) phrase(h *hand) []op {
	out := newOp(verbOf("RemoveBatch"))
	if d.p.NoReplay && len(h.w) > 0 && d.odds(50) {
		return d.givesAway(h)
	}
	switch d.IntN(4) {
	case 0: // come and go
		in := d.op(h, "Insert")
		in.n = 1 + d.IntN(3)
		for range in.n - 1 {
			h.h = append(h.h, d.handles)
			d.handles++
		}
		for i := range in.n {
			out.h = append(out.h, named{at: in.to + i})
		}
		if d.odds(50) {
			slices.Reverse(out.h)
		}
		return []op{in, out}
	case 1: // all goes, and perhaps some comes
		for _, at := range h.h[:min(len(h.h), 8)] {
			out.h = append(out.h, named{at: at})
		}
		ebb := []op{out, newOp(verbOf("Synchronize")), newOp(verbOf("Trim"))}
		if d.odds(70) {
			ebb = append(ebb, d.op(h, "Insert"))
		}
		return ebb
	case 2: // more guards than the first cells, and most of them gone
		if h.shared {
			return nil // they would never be unpinned
		}
		var pins, ends []op
		for range among(d, 2, 4, 8) {
			pin := d.op(h, "Pin")
			pins = append(pins, pin)
			if d.odds(80) {
				end := newOp(verbOf("Unpin"))
				end.g = pin.into
				ends = append(ends, end)
				h.pinned--
			}
		}
		d.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		return append(pins, ends...)
	default: // a handle that is to come
		o := d.op(h, among(d, "Take", "Remove", "Get"))
		if len(d.hot) > 0 {
			o.h[0] = named{at: among(d, d.hot...), ahead: 1 + d.IntN(2)}
		}
		return []op{o}
	}
}

// givesAway draws a Worker that removes more than its bag has room for, mostly beside a guard, and
// inserts again.
func (d *drawer) givesAway(h *hand) (list []op) {
	if !h.shared && d.odds(70) {
		list = append(list, d.op(h, "Pin"))
	}
	in := d.op(h, "Insert")
	in.by, in.n = h.w[d.IntN(len(h.w))], 5+d.IntN(6)
	for range in.n - 1 {
		h.h = append(h.h, d.handles)
		d.handles++
	}
	list = append(list, in)
	for i := range in.n {
		out := newOp(verbOf("Remove"))
		out.by, out.h = in.by, []named{{at: in.to + i}}
		list = append(list, out)
	}
	again := d.op(h, "Insert")
	again.by, again.n = in.by, 1
	return append(list, d.op(h, ""), again)
}

// op draws an operation of h's thread, of some kind if that is not "".
func (d *drawer) op(h *hand, kind string) op {
	for {
		v := d.verb()
		switch {
		case kind != "":
			v = verbOf(kind)
		case h.pinned > 1 && d.odds(20*h.pinned):
			v = verbOf("Unpin") // or nothing would be reclaimed any more
		}
		if o, ok := d.arguments(v, h); ok {
			return o
		}
	}
}

func (d *drawer) verb() *verb {
	sum := 0
	for _, w := range d.weights {
		sum += w
	}
	at, i := d.IntN(sum), 0
	for at >= d.weights[i] {
		at -= d.weights[i]
		i++
	}
	return &verbList[i]
}

// arguments draws what v takes, and reports whether h has it.
func (d *drawer) arguments(v *verb, h *hand) (o op, ok bool) {
	o = newOp(v)
	n := 1 + d.IntN(3)
	if v.has("n") {
		o.n = n
	}
	one := func(list []int, at *int) bool {
		if len(list) > 0 {
			*at = list[len(list)-1-d.IntN(min(len(list), 3))]
		}
		return len(list) > 0
	}
	fresh := func(count *int, list *[]int) int {
		*list = append(*list, *count)
		*count++
		return *count - 1
	}
	full := max(d.handles, d.opened, d.reservations, d.workers)+n > variables
	switch {
	case full && v.has(">GRW"):
		return o, false
	case h.shared && v.has("GRW"):
		return o, false // they would never be given back
	case v.has("g") && !one(h.g, &o.g), v.has("r") && !one(h.r, &o.r):
		return o, false
	case v.has("w") && !h.shared && !one(h.w, &o.by):
		return o, false
	case v.has("a") && d.odds(60):
		one(h.w, &o.by)
	}
	switch {
	case v.has("h"):
		o.h = []named{d.handle(h)}
	case v.has("H"):
		last := d.odds(40) && len(h.h) >= n // what it has made last
		for i := range n {
			n := d.handle(h)
			if last {
				n = named{at: h.h[len(h.h)-1-i]}
			}
			if !slices.Contains(o.h, n) {
				o.h = append(o.h, n)
			}
		}
	}
	if o.calls = v.has("f") && h.deep < 2 && d.odds(60); o.calls {
		h.deep++
		o.inner = d.ops(h, d.IntN(3), among(d, "", "", "fail"))
		h.deep--
	}
	switch {
	case v.has(">"):
		o.to = fresh(&d.handles, &h.h)
	case v.has("G"):
		o.into = fresh(&d.opened, &h.g)
		h.pinned++
	case v == verbOf("Unpin"):
		h.pinned = max(0, h.pinned-1)
	case v.has("R"):
		o.into = fresh(&d.reservations, &h.r)
	case v.has("W"):
		o.into = fresh(&d.workers, &h.w)
	}
	return o, true
}

// handle draws one: mostly of few that all threads use.
func (d *drawer) handle(h *hand) named {
	o, _ := d.p.options()
	switch {
	case d.odds(6):
		i, begin := d.Uint32N(8), slots.OriginsOf(cmp.Or(o.Origin, apart))
		return named{madeUp: true, made: Handle[val](slots.Pack(begin.First(i)+2*d.Uint32N(3), i))}
	case d.odds(40) && len(d.hot) > 0:
		return named{at: among(d, d.hot...), ahead: d.ahead()}
	case len(h.h) > 0 && d.odds(40): // what it has made last
		return named{at: h.h[len(h.h)-1-d.IntN(min(len(h.h), 3))], ahead: d.ahead()}
	case len(h.h) > 0 && d.odds(90):
		return named{at: among(d, h.h...), ahead: d.ahead()}
	case d.handles > 0:
		return named{at: d.IntN(d.handles)}
	}
	return named{}
}

// ahead draws how many lives a handle is ahead of its slot.
func (d *drawer) ahead() int {
	if d.odds(12) {
		return 1 + d.IntN(2)
	}
	return 0
}
