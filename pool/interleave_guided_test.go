//go:build interleave

package pool_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
)

// generator makes programs. Half of them are drawn anew, and half are changes of programs
// that showed what none had shown before (interleave.Coverage). A bug that needs several
// things at once is seldom drawn whole; but a program with some of them is kept.
//
// All is drawn from one source, and coverage does not depend on the machine: so a seed
// repeats the sequence, and other seeds give others.
type generator struct {
	rnd    *rand.Rand
	guided bool
	cover  *interleave.Coverage
	kept   []*kept
}

// kept is a program that is worth changing.
type kept struct {
	p     *program
	known []Handle[val]     // handles that were issued in its last run
	first []interleave.Item // that it was the first to show
}

func newGenerator(seed uint64, guided bool) *generator {
	return &generator{rnd: rand.New(rand.NewPCG(seed, 1)), guided: guided, cover: new(interleave.Coverage)}
}

// next returns another program.
func (g *generator) next() *program {
	g.cover.Program()
	if !g.guided || len(g.kept) == 0 || g.rnd.IntN(2) == 0 {
		return draw(g.rnd)
	}
	k := g.choose()
	d := &drawer{Rand: g.rnd, p: k.p.clone(), known: k.known}
	d.count()
	d.swarm()
	for range among(d, 1, 2, 3, 5) {
		d.change(g)
	}
	d.small(among(d, 3, 4, 6, 8, 12))
	d.p.repair()
	return d.p
}

// choose returns a program that is kept: of some, the one that showed the rarest.
func (g *generator) choose() *kept {
	best := g.kept[g.rnd.IntN(len(g.kept))]
	for range 7 {
		if k := g.kept[g.rnd.IntN(len(g.kept))]; g.rarest(k) < g.rarest(best) {
			best = k
		}
	}
	return best
}

// keep keeps p, which has been explored, if it showed anything new; when there are many,
// in place of one that showed what many have shown since.
func (g *generator) keep(p *program) {
	last := p.last
	p.last, p.cover = nil, nil
	news := g.cover.News()
	if len(news) == 0 {
		return
	}
	k := &kept{p: p, first: news}
	for _, e := range last.entries[min(last.prepared, len(last.entries)):] {
		k.known = append(k.known, e.h)
	}
	if len(g.kept) < keptMost {
		g.kept = append(g.kept, k)
		return
	}
	worst := 0
	for range 4 {
		if i := g.rnd.IntN(keptMost); g.rarest(g.kept[i]) > g.rarest(g.kept[worst]) {
			worst = i
		}
	}
	g.kept[worst] = k
}

// keptMost is how many programs are kept. Each takes some kilobytes.
const keptMost = 4096

// rarest returns how many programs have shown the rarest of the items that k showed first.
func (g *generator) rarest(k *kept) int {
	n := g.cover.Programs(k.first[0])
	for _, i := range k.first[1:] {
		n = min(n, g.cover.Programs(i))
	}
	return n
}

// makes returns which kind of variable o assigns, the first, and how many; 0 if none.
func (o *op) makes() (kind byte, first, n int) {
	switch {
	case strings.Contains(o.text, "$>"):
		return 'h', o.to, 1
	case strings.Contains(o.text, "$t"):
		return 'h', o.to, o.n
	case strings.Contains(o.text, "$G"):
		return 'g', o.into, 1
	case strings.Contains(o.text, "$R"):
		return 'r', o.into, 1
	case strings.Contains(o.text, "$W"):
		return 'w', o.into, 1
	}
	return 0, 0, 0
}

// uses calls f for the guard, Reservation and Worker that o uses.
func (o *op) uses(f func(kind byte, at int) bool) bool {
	return (!strings.Contains(o.text, "$g") || f('g', o.g)) && (!strings.Contains(o.text, "$r") || f('r', o.r)) && (o.by < 0 || f('w', o.by))
}

// walk calls f for all operations, inner ones too.
func walk(ops []op, f func(o *op)) {
	for i := range ops {
		f(&ops[i])
		walk(ops[i].inner, f)
	}
}

func (d *drawer) counter(kind byte) *int {
	switch kind {
	case 'h':
		return &d.handles
	case 'g':
		return &d.opened
	case 'r':
		return &d.reservations
	}
	return &d.workers
}

// count finds how many variables the program uses.
func (d *drawer) count() {
	for _, ops := range d.p.lists() {
		walk(*ops, func(o *op) {
			if kind, first, n := o.makes(); n > 0 {
				c := d.counter(kind)
				*c = max(*c, first+n)
			}
		})
	}
}

// lists returns the program's operations: of each thread, and what prepares it.
func (p *program) lists() (list []*[]op) {
	for i := range p.threads {
		list = append(list, &p.threads[i].ops)
	}
	return append(list, &p.prepare)
}

// hand returns what an operation that is at place i of a list may use.
func (d *drawer) hand(ops *[]op, i int) *hand {
	h := &hand{stays: ops == &d.p.prepare}
	have := func(ops []op) {
		walk(ops, func(o *op) {
			kind, first, n := o.makes()
			for k := range n {
				switch kind {
				case 'h':
					h.h = append(h.h, first+k)
				case 'g':
					h.g = append(h.g, first)
				case 'r':
					h.r = append(h.r, first)
				case 'w':
					h.w = append(h.w, first)
				}
			}
		})
	}
	if !h.stays {
		have(d.p.prepare)
	}
	have((*ops)[:i])
	return h
}

// renamed returns a copy of ops that assigns to other variables.
func (d *drawer) renamed(ops []op) []op {
	ops = cloneOps(ops)
	to := map[[2]int]int{}
	name := func(kind byte, at *int) {
		if n, ok := to[[2]int{int(kind), *at}]; ok {
			*at = n
		}
	}
	walk(ops, func(o *op) {
		name('g', &o.g)
		name('r', &o.r)
		if o.by >= 0 {
			name('w', &o.by)
		}
		for i := range o.h {
			name('h', &o.h[i].at)
		}
		kind, first, n := o.makes()
		if n == 0 {
			return
		}
		c := d.counter(kind)
		if *c+n > variables {
			return // the old ones will do
		}
		for k := range n {
			to[[2]int{int(kind), first + k}] = *c + k
		}
		if kind == 'h' {
			o.to = *c
		} else {
			o.into = *c
		}
		*c += n
	})
	return ops
}

// change makes one change.
func (d *drawer) change(g *generator) {
	lists := d.p.lists()
	ops := lists[d.IntN(len(lists))]
	i := d.IntN(len(*ops) + 1)
	at := min(i, len(*ops)-1)
	switch kind := d.IntN(20); {
	case kind < 3: // one more
		*ops = slices.Insert(*ops, i, d.ops(d.hand(ops, i), 1, "")...)
	case kind == 3:
		from := *lists[d.IntN(len(lists))]
		if len(from) > 0 {
			*ops = slices.Insert(*ops, i, d.renamed([]op{from[d.IntN(len(from))]})...)
		}
	case kind == 4:
		d.option()
	case kind == 5:
		*ops = append(*ops, d.renamed(*g.other(d))...)
	case kind == 6:
		if len(d.p.threads) < 3 {
			d.p.threads = append(d.p.threads, script{d.IntN(max(d.p.opts.Shards, 1)), d.renamed(*g.other(d))})
		}
	case at < 0:
	case kind < 11:
		*ops = slices.Delete(*ops, at, at+1)
	case kind < 13:
		(*ops)[at] = d.op(d.hand(ops, at), "")
	case kind == 13:
		k := d.IntN(len(*ops))
		(*ops)[at], (*ops)[k] = (*ops)[k], (*ops)[at]
	default:
		d.vary(&(*ops)[at], d.hand(ops, at))
	}
}

// vary changes something of o: its verb for one that takes the same, its Worker, a
// handle, or its number.
func (d *drawer) vary(o *op, h *hand) {
	switch kind := d.IntN(4); {
	case kind == 0:
		v := d.verb()
		if o.text != v.text && arguments(v) == arguments(o.verb) {
			o.verb = v
		}
	case kind == 1 && len(h.w) > 0:
		o.by = among(d, h.w...)
	case len(o.h) > 0:
		o.h[d.IntN(len(o.h))] = d.handle(h)
	case o.n > 0:
		o.n = 1 + d.IntN(3)
	}
	if !strings.Contains(o.text, "$a") && !strings.Contains(o.text, "$w") {
		o.by = -1
	}
}

// arguments returns what v takes, and what it makes.
func arguments(v *verb) string {
	list := strings.FieldsFunc(v.text, func(r rune) bool { return !strings.ContainsRune("$hHgrnfb>tGRW", r) })
	list = slices.DeleteFunc(list, func(s string) bool { return s[0] != '$' || s == "$" })
	slices.Sort(list)
	return strings.Join(list, " ")
}

// small drops operations until the threads have no more than most.
func (d *drawer) small(most int) {
	for {
		n := 0
		for _, s := range d.p.threads {
			n += len(s.ops)
		}
		if n <= most {
			return
		}
		n = d.IntN(n)
		for i := range d.p.threads {
			ops := &d.p.threads[i].ops
			if n < len(*ops) {
				*ops = slices.Delete(*ops, n, n+1)
				break
			}
			n -= len(*ops)
		}
	}
}

// other returns the operations of a thread of a program that is kept.
func (g *generator) other(d *drawer) *[]op {
	p := g.kept[d.IntN(len(g.kept))].p
	return &p.threads[d.IntN(len(p.threads))].ops
}

// option draws one option anew.
func (d *drawer) option() {
	p := d.p
	with := &drawer{Rand: d.Rand, p: new(program)}
	with.options()
	q := with.p
	switch d.IntN(10) {
	case 0:
		p.shift = q.shift
	case 1:
		p.opts.Shards = q.opts.Shards
	case 2:
		p.opts.Capacity, p.opts.Preallocate = q.opts.Capacity, q.opts.Preallocate
	case 3:
		p.opts.Reuse, p.opts.MinFree = q.opts.Reuse, q.opts.MinFree
	case 4:
		p.opts.MaxLimbo, p.opts.AutoTrim = q.opts.MaxLimbo, q.opts.AutoTrim
	case 5:
		p.opts.Origin = q.opts.Origin
	case 6:
		p.isReset, p.plain = q.isReset, q.plain
	case 7:
		p.copying = !p.copying
	case 8:
		p.epochs = q.epochs
	default:
		p.cells = q.cells
	}
	p.opts.Preallocate = p.opts.Preallocate && p.opts.Capacity > 0 && p.opts.Capacity < 100
	p.opts.AutoTrim = p.opts.AutoTrim && !p.opts.Preallocate
	p.plain = p.plain && !p.isReset
}

// repair drops what no program may do: use a guard, a Reservation or a Worker before it
// is there, or one that another thread uses.
func (p *program) repair() {
	const nobody = -1
	owners := map[[2]int]int{} // by kind and variable
	var legal func(ops []op, k int) []op
	legal = func(ops []op, k int) (list []op) {
		for _, o := range ops {
			ok := o.uses(func(kind byte, at int) bool {
				key := [2]int{int(kind), at}
				owner, is := owners[key]
				if is && (owner == nobody || owner == k) {
					owners[key] = k
					return true
				}
				if kind == 'w' && strings.Contains(o.text, "$a") {
					o.by = -1
					return true
				}
				return false
			})
			o.inner = legal(o.inner, k)
			kind, first, n := o.makes()
			if kind == 'h' {
				n = 0 // anybody may
			}
			if n > 0 {
				_, is := owners[[2]int{int(kind), first}]
				ok = ok && !is
			}
			if ok {
				if n > 0 {
					owners[[2]int{int(kind), first}] = k
				}
				list = append(list, o)
			}
		}
		return list
	}
	p.prepare = legal(p.prepare, nobody)
	failForExit(p.prepare)
	for i := range p.threads {
		p.threads[i].ops = legal(p.threads[i].ops, i)
		p.threads[i].shard %= max(p.opts.Shards, 1)
	}
	p.threads = slices.DeleteFunc(p.threads, func(s script) bool { return len(s.ops) == 0 })
	if len(p.threads) == 0 {
		p.threads = append(p.threads, script{0, []op{{verb: verbOf("$a.insert()"), by: -1}}})
	}
	text := p.String()
	p.reserver = p.reserver || strings.Contains(text, "(rv)")
	if p.isReset && strings.Contains(text, "a.all(func") {
		failForExit(p.resets)
	}
}
