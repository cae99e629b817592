package interleave

import "unsafe"

// Coverage is what runs have shown. A generator of programs keeps those that show what
// none did before, and changes them further. An item is one of these:
//
//   - an operation makes an access after another, or ends after it;
//   - while an operation stood between two accesses, another wrote a word of some class;
//   - an operation accesses a word that another has written since it began.
//
// An access is its kind (Load, Store, …) and the class of its word: a slot's word, say,
// of any slot. So much tells places in the code apart, and costs no look at the stack.
type Coverage struct {
	programs uint32
	seen     [1 << coverBits]seen // by hash; two that collide count as one
	news     []Item
}

// Item is something that a run has shown.
type Item uint32

const coverBits = 20

// seen is how many programs have shown an item, and the last of them.
type seen struct{ programs, last uint32 }

// Program begins a program.
func (c *Coverage) Program() {
	c.programs++
	c.news = nil
}

// News returns the items that this program was the first to show.
func (c *Coverage) News() []Item { return c.news }

// Programs returns how many have shown an item.
func (c *Coverage) Programs(i Item) int { return int(c.seen[i].programs) }

func (c *Coverage) show(a, b uint32) {
	i := Item(hash(a, b) >> (32 - coverBits))
	s := &c.seen[i]
	if s.last == c.programs {
		return
	}
	s.last = c.programs
	if s.programs++; s.programs == 1 {
		c.news = append(c.news, i)
	}
}

// hash mixes two numbers.
func hash(a, b uint32) uint32 {
	x := (uint64(a)<<32 | uint64(b)) * 0x9E3779B97F4A7C15
	x ^= x >> 29
	return uint32(x * 0xBF58476D1CE4E5B9 >> 32)
}

// Cover makes the run add to c. class returns the class of a word.
func (r *Run) Cover(c *Coverage, class func(word unsafe.Pointer) uint32) {
	r.cover, r.class, r.written = c, class, make(map[unsafe.Pointer]wrote)
}

// wrote is a write: whose, and of which kind in which operation.
type wrote struct {
	by   int
	what uint32
	at   int // in order
}

// trail is what coverage keeps of a thread.
type trail struct {
	op    uint32 // the operation
	last  uint32 // the kind of its last access
	begun int    // the writes that were there when it began
	since int    // and at the last step
}

func (t *trail) begin(op string, writes int) {
	t.op, t.last, t.begun = 0, 0, writes
	for _, c := range []byte(op) {
		t.op = t.op*31 + uint32(c)
	}
}

// result adds what came of the last access.
func (t *trail) result(v uint64) { t.last = hash(t.last, uint32(v)) }

// path is the operation and its last access, and the next one.
func (t *trail) path(kind uint32) uint32 { return hash(hash(t.op, t.last), kind) }

// covers adds the step that t is about to make.
func (r *Run) covers(t *Thread) {
	tr := &t.trail
	kind := uint32(t.next.op)
	if t.next.word != nil {
		kind = hash(kind, r.class(t.next.word))
	}
	r.cover.show(tr.path(kind), 0)
	if t.inside > 1 { // it stood within
		for _, w := range r.writes[tr.since:] {
			if w.by != t.id {
				r.cover.show(tr.op, w.what)
			}
		}
	}
	if word := t.next.word; word != nil {
		if w, ok := r.written[word]; ok && w.by != t.id && w.at >= tr.begun {
			r.cover.show(tr.path(kind), w.what)
		}
		if !t.next.op.reads() {
			w := wrote{t.id, hash(tr.op, kind), len(r.writes)}
			r.writes = append(r.writes, w)
			r.written[word] = w
		}
	}
	tr.last = kind
	tr.since = len(r.writes)
}

// covered adds how t's operation ended.
func (r *Run) covered(t *Thread) {
	if r.cover != nil {
		r.cover.show(t.trail.path(0), 1)
	}
}
