package epoch

import (
	"context"
	"math/bits"
	"runtime"
	"time"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Domain is a clock for grace periods, shared by those who read a structure and
// those who retire parts of it.
//
// The naive clock advances when every pinned reader has reached the current
// epoch, and frees what was retired two epochs ago. Its numbers are compared
// for equality modulo three, which is right only as long as nobody is delayed
// between two of its loads. Here numbers only grow and are only compared with
// less-than, so that whatever is old is merely too careful:
//
//	        Pin                         Retire                Frontier
//	reader  e = E; cell = e·active      writer unlinks        e = E
//	        looks at the structure      r = E                 m = min(e, epochs of active cells)
//	        …                           E: r → r+1            S = max(S, m)
//	        cell = idle                 waits for r < S
//
// S is the safe frontier: what carries a tag r < S may be reused (I8). DESIGN.md
// proves it (L3); the three steps of Frontier must keep their order.
//
// A Domain is safe for concurrent use. Make one with [New]; Pin of a zero Domain
// panics. It must not be copied.
type Domain struct {
	// epoch is E.
	//
	//	writers  advance, by compare-and-swap from the value that was read
	//	readers  Pin, Retire, Stamp, Frontier
	//	moves    +1, up to Limit
	epoch atom.Uint64

	// stamped is one more than the last epoch for which a stamp was taken. While
	// it is above E, the next Pin advances E, and so begins after the stamp.
	//
	//	writers  Stamp, raising it
	//	readers  Pin, Stamp
	//	moves    grows; at most E + 1
	stamped atom.Uint64
	_       [112]byte

	// safe is S.
	//
	//	writers  raise, for Frontier and Over
	//	readers  Safe and raise
	//	moves    grows; never above E
	//	orders   the raise publishes that all guards before it have gone (P6)
	safe atom.Uint64
	_    [120]byte

	// first are the cells of Pin, and brief those of PinBrief alone, if there are any.
	// Every scan visits both.
	first, brief []cell

	// top is the newest block of cells, nil before a pin needs one.
	//
	//	writers  pinSlow, by compare-and-swap; Init
	//	readers  pinSlow, scanBetween and Scanned
	//	moves    to a block that is longer, and whose older is what was there
	//	orders   the change announces the pin in the new block (P4)
	top atom.Pointer[block]
}

// New returns a domain with cells for four guards a processor at once, and as many
// brief ones. More guards find more cells: there is no limit.
func New() *Domain { return NewSize(0) }

// NewSize is New with cells for at least n guards provided from the start, so
// that so many of them can be pinned at once without an allocation.
func NewSize(n int) *Domain {
	d := new(Domain)
	d.Init(n)
	return d
}

// Init is NewSize for a Domain that lies in another struct, which spares those
// who pin it a load. It must come before any other use.
func (d *Domain) Init(n int) { d.init(n, 2) }

// InitFull is Init without cells for brief pins, for structures that make hardly any: a
// scan visits half as many then. PinBrief shares the cells of Pin, and costs a few
// nanoseconds more.
func (d *Domain) InitFull(n int) { d.init(n, 1) }

// init makes cells of so many kinds.
func (d *Domain) init(n, kinds int) {
	base := ceilPow2(firstCells())
	cells := make([]cell, kinds*base)
	d.first, d.brief = cells[:base:base], cells[base:]
	if n > base {
		// Half of the cells stay idle, so that pins find the others.
		d.top.Store(newBlock(2*ceilPow2(n), nil))
	}
}

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// Pin announces a reader. It costs one locked instruction, and never waits.
func (d *Domain) Pin() Guard {
	// E may have moved on before the cell shows e. A stale e delays
	// reclamation and endangers nobody: the frontier stays at or below it.
	e := d.epoch.Load()
	if d.stamped.Load() > e {
		e = d.advance(e)
	}
	at := hint.Goroutine()
	if i := hint.Index(at, len(d.first)); i < len(d.first) {
		c := &d.first[i]
		if word, ok := c.claim(e, active); ok {
			return Guard{c, word}
		}
	}
	return d.pinSlow(at, e, active)
}

// PinBrief is Pin for a pin that ends in the function that began it, with
// [Guard.UnpinBrief], and of which nobody gets a copy: misuse is not noticed.
//
// A Pin cannot write before the Unpin before it in the same cell is through,
// because the sequence that it finds there is part of what it writes. Brief cells
// do without a sequence, so that the word of an idle one can be told in advance
// from the epoch. That takes 2 ns of 15 off a look-up with a pin of its own.
func (d *Domain) PinBrief() Guard {
	e := d.epoch.Load()
	at := hint.Goroutine()
	if i := hint.Index(at, len(d.brief)); i < len(d.brief) {
		c := &d.brief[i]
		word := claimed(0, e, active|brief)
		// The guess fails at the first pin of an epoch, and when another guard
		// has the cell.
		if c.word.CompareAndSwap(released(word), word) || c.claimBrief(word) { // publishes (P4)
			return Guard{c, word}
		}
	}
	return d.pinSlow(at, e, active|brief)
}

// Epoch returns the current epoch. It only grows.
func (d *Domain) Epoch() uint64 { return d.epoch.Load() }

// Retire returns the tag of everything that was unlinked before the call, and
// lets the epoch advance, so that the tag's grace period can end.
//
// The wrong version stores the new epoch: two writers that read the same r
// would both advance, or a delayed one would set the clock back, and a tag
// would compare as passed while its readers are still there. The
// compare-and-swap advances from r only; its failure means that somebody else
// has done so.
func (d *Domain) Retire() uint64 {
	r := d.epoch.Load()
	d.advance(r)
	return r
}

// Advance lets the grace period of tag end, for a tag of Stamp: it moves the epoch
// past the tag, if nothing else has.
func (d *Domain) Advance(tag uint64) {
	if d.epoch.Load() <= tag {
		d.advance(tag)
	}
}

// advance moves the epoch on from e, which was read, and returns the epoch then.
func (d *Domain) advance(e uint64) uint64 {
	if e < Limit && d.epoch.CompareAndSwap(e, e+1) {
		return e + 1
	}
	return d.epoch.Load() // failure means that another advance was faster
}

// Stamp returns the tag of everything that was unlinked before the call, as Retire
// does, and leaves it to the next Pin to advance the epoch. So a guard that is
// pinned after Stamp has returned does not delay the tag's grace period: its epoch
// is above the tag.
//
// Retire has that property as well, and advances the epoch at every call, which all
// callers would contend for. Stamp writes only if a Pin or a Retire came since the
// last stamp; between two of them it costs two loads. Advance must be called before
// the tag can pass.
//
// The wrong version stores the stamp. A delayed one would take back a later stamp,
// and the Pin after it would begin in the epoch of what was unlinked before.
func (d *Domain) Stamp() uint64 {
	r := d.epoch.Load()
	for m := d.stamped.Load(); m <= r; m = d.stamped.Load() {
		// Failure means that another stamp was faster.
		if d.stamped.CompareAndSwap(m, r+1) {
			break
		}
	}
	return r
}

// Separates reports whether a guard is pinned whose epoch lies above a and not
// above b: one that delays what has the tag b and not what has the tag a. It costs
// a scan of the cells.
func (d *Domain) Separates(a, b uint64) bool {
	return d.scanBetween(b, a, b).between
}

// Safe returns the frontier as far as it is known: everything with a lower tag
// may be reused.
func (d *Domain) Safe() uint64 { return d.safe.Load() } // observes (P6)

// Passed reports whether the grace period of a tag is over. If the frontier does not
// tell yet, it looks for itself, which costs a scan of the cells.
func (d *Domain) Passed(tag uint64) bool { return tag < d.Safe() || tag < d.Frontier() }

// Over is Passed for what was unlinked before the call. It may report true earlier,
// and sees to it that the epoch is past the tag if guards are in the way.
//
// A scan that meets no guard at all proves as much as the frontier does: a guard that
// has seen the node was pinned before the unlinking, and would be met. So a
// structure without readers leaves the epoch alone, which all its users read.
func (d *Domain) Over(tag uint64) bool {
	if tag < d.Safe() {
		return true
	}
	e := d.epoch.Load() // before the scan, as in Frontier
	s := d.scan(e)
	if s.full+s.brief == 0 || d.raise(s.oldest) > tag {
		return true
	}
	d.Advance(tag) // so that guards to come do not delay it
	return false
}

// Frontier raises the frontier as far as the pinned guards allow, and returns
// it. It visits the cells that Scanned counts.
func (d *Domain) Frontier() uint64 {
	// E comes first. Loaded after the scan it might count retirements whose
	// readers pinned in cells that the scan had passed.
	e := d.epoch.Load()
	return d.raise(d.scan(e).oldest)
}

// raise raises the frontier to m and returns it.
func (d *Domain) raise(m uint64) uint64 {
	for {
		s := d.safe.Load()
		if s >= m {
			return s // another scan knew more
		}
		if d.safe.CompareAndSwap(s, m) { // publishes (P6)
			return m
		}
	}
}

// scan visits every guard that has looked at anything before it began, and
// returns what it finds; its oldest is at most e.
func (d *Domain) scan(e uint64) census { return d.scanBetween(e, 0, 0) }

// scanBetween is scan that also looks for guards with epochs above a and not above
// b.
func (d *Domain) scanBetween(e, a, b uint64) census {
	s := census{oldest: e, above: a, upTo: b}
	s.visit(d.first)
	s.visit(d.brief)
	for b := d.top.Load(); b != nil; b = b.older {
		s.visitMark(b, len(b.marks)-1, 0)
	}
	return s
}

// Scanned returns about how many cells a scan visits, for callers who want to pay
// for a scan only when it serves enough retired nodes. Once a scan has found that
// guards have gone, it is less.
func (d *Domain) Scanned() int {
	n := len(d.first) + len(d.brief)
	for b := d.top.Load(); b != nil; b = b.older {
		n += fan * max(0, int(b.groups.Load()))
	}
	return n
}

// Pinned returns how many guards are pinned, and how many epochs the oldest of
// them lies back. Each may have changed when it returns.
func (d *Domain) Pinned() (guards int, oldest uint64) {
	e := d.epoch.Load()
	s := d.scan(e)
	return s.full + s.brief, e - s.oldest
}

// Held reports whether a guard of Pin is pinned. Those of PinBrief do not count:
// they end by themselves. It costs a scan of the cells.
func (d *Domain) Held() bool { return d.scan(0).full > 0 }

// Bytes returns the memory that the cells take.
func (d *Domain) Bytes() int64 {
	n := int64(unsafe.Sizeof(*d)) + int64(len(d.first)+len(d.brief))*int64(unsafe.Sizeof(cell{}))
	for b := d.top.Load(); b != nil; b = b.older {
		n += b.bytes()
	}
	return n
}

// Synchronize returns once every guard that was pinned before the call has been
// unpinned. It is the one operation that waits: it yields, then sleeps, and
// gives up with ctx's error when ctx is done. Under a guard of one's own it only
// ends with ctx.
func (d *Domain) Synchronize(ctx context.Context) error {
	tag := d.Retire()
	return Wait(ctx, func() bool { return d.Passed(tag) })
}

// Wait calls done until it answers true, with growing pauses between the calls,
// and returns ctx's error if that is done first. A condition that holds already
// is nil also for a ctx that is done.
func Wait(ctx context.Context, done func() bool) error {
	const (
		yields   = 16
		longest  = time.Millisecond
		shortest = 10 * time.Microsecond
	)
	for range yields {
		if done() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
	pause := shortest
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			if done() {
				return nil
			}
			return ctx.Err()
		case <-timer.C:
		}
		if done() {
			return nil
		}
		pause = min(2*pause, longest)
		timer.Reset(pause)
	}
}
