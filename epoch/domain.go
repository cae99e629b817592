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

// Domain is a clock for grace periods, shared by those who read a structure and those who
// retire parts of it.
//
// The naive clock advances when every pinned reader has reached the current epoch, and frees
// what was retired two epochs ago. It compares numbers for equality modulo three, which fails
// if a goroutine is preempted between two loads. Here numbers only grow and are only compared
// by less-than, so an old number is merely conservative:
//
//	        Pin                         Retire                Frontier
//	reader  e = E; cell = e·active      writer unlinks        e = E
//	        reads the structure         r = E                 m = min(e, epochs of active cells)
//	        …                           E: r → r+1            S = max(S, m)
//	        cell = idle                 waits for r < S
//
// S is the safe frontier: what has a stamp r < S may be reused (I8). DESIGN.md proves it (L3).
// The three steps of Frontier must keep their order.
//
// A Domain is safe for concurrent use and must not be copied. Make one with [New]; Pin of a
// zero Domain panics.
type Domain struct {
	// epoch is E.
	//
	//	writers  advance, by compare-and-swap from the value that was read
	//	readers  Pin, Retire, Stamp, Frontier
	//	moves    +1, up to Limit
	epoch atom.Uint64

	// stamped is one more than the last epoch for which Stamp was called. While it is above E,
	// the next Pin advances E, and so begins after the stamp.
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

	// first has the cells of Pin. brief has those of PinBrief alone, and may be empty. Every
	// scan visits both.
	first, brief []cell

	// top is the newest block of cells, or nil before a pin needs one.
	//
	//	writers  pinSlow, by compare-and-swap; Init
	//	readers  pinSlow, scanBetween and Scanned
	//	moves    to a longer block, whose older is the block before
	//	orders   the change announces the pin in the new block (P4)
	top atom.Pointer[block]
}

// New returns a domain with cells for four guards a processor at once, and as many brief ones.
// It adds cells for more guards, without limit.
func New() *Domain { return NewSize(0) }

// NewSize is New with at least n cells from the start, so that n guards can be pinned at once
// without an allocation.
func NewSize(n int) *Domain {
	d := new(Domain)
	d.Init(n)
	return d
}

// Init is NewSize for a Domain that lies in another struct, which saves each Pin a load. It
// must come before any other use.
func (d *Domain) Init(n int) { d.init(n, 2) }

// InitFull is Init without cells for brief pins, for structures that seldom make one. A scan
// then visits half as many cells. PinBrief shares the cells of Pin, and costs a few
// nanoseconds more.
func (d *Domain) InitFull(n int) { d.init(n, 1) }

// init makes cells of one kind or of two.
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

// Pin announces a reader. It costs one locked instruction and never waits.
func (d *Domain) Pin() Guard {
	// E may advance before the cell shows e. That only delays reclaiming: the frontier stays
	// at or below e.
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

// PinBrief is Pin for a pin that ends in the same function, by [Guard.UnpinBrief]. No copy of
// the guard may be made, since misuse is not detected.
//
// A Pin writes the sequence that it finds, so it cannot write before the last Unpin of its
// cell is done. Brief cells have no sequence: the idle word follows from the epoch, and no
// load is needed. That takes 2 ns of 15 off a look-up with a pin of its own.
func (d *Domain) PinBrief() Guard {
	e := d.epoch.Load()
	at := hint.Goroutine()
	if i := hint.Index(at, len(d.brief)); i < len(d.brief) {
		c := &d.brief[i]
		word := claimed(0, e, active|brief)
		// The guess fails at the first pin of an epoch, and if another guard has the cell.
		if c.word.CompareAndSwap(released(word), word) || c.claimBrief(word) { // publishes (P4)
			return Guard{c, word}
		}
	}
	return d.pinSlow(at, e, active|brief)
}

// Epoch returns the current epoch. It only grows.
func (d *Domain) Epoch() uint64 { return d.epoch.Load() }

// Retire returns the epoch stamp of everything that was unlinked before the call. It advances
// the epoch, so that the stamp's grace period can end.
//
// The wrong version stores the new epoch. A delayed writer would set the clock back, and a
// stamp would pass while its readers are still pinned. The compare-and-swap advances from r
// only. Its failure means that another goroutine has done so.
func (d *Domain) Retire() uint64 {
	r := d.epoch.Load()
	d.advance(r)
	return r
}

// Advance moves the epoch past a stamp of [Domain.Stamp], if nothing else has. Otherwise the
// stamp's grace period might not end.
func (d *Domain) Advance(stamp uint64) {
	if d.epoch.Load() <= stamp {
		d.advance(stamp)
	}
}

// advance moves the epoch on from e, which the caller has loaded, and returns the new epoch.
func (d *Domain) advance(e uint64) uint64 {
	if e < Limit && d.epoch.CompareAndSwap(e, e+1) {
		return e + 1
	}
	return d.epoch.Load() // failure means that another advance was faster
}

// Stamp is Retire that leaves it to the next Pin to advance the epoch. A guard that is pinned
// after Stamp has returned does not delay the stamp's grace period: its epoch is above the
// stamp.
//
// Retire advances the epoch at each call, and its callers contend for that word. Stamp writes
// only if a Pin or a Retire came since the last stamp; otherwise it costs two loads. Advance
// must be called before the stamp can pass.
//
// The wrong version stores to stamped. A delayed store would undo a later stamp, and the next
// Pin would begin in the epoch of what was unlinked before.
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

// Separates reports whether a guard is pinned whose epoch lies above a and not above b. Such a
// guard delays what has stamp b and not what has stamp a. It costs a scan of the cells.
func (d *Domain) Separates(a, b uint64) bool {
	return d.scanBetween(b, a, b).between
}

// Safe returns the frontier as far as it is known: everything with a lower stamp may be
// reused.
func (d *Domain) Safe() uint64 { return d.safe.Load() } // observes (P6)

// Passed reports whether the grace period of a stamp is over. If the frontier does not tell
// yet, Passed scans the cells.
func (d *Domain) Passed(stamp uint64) bool { return stamp < d.Safe() || stamp < d.Frontier() }

// Over is Passed for what was unlinked before the call. It may report true earlier, and it
// moves the epoch past the stamp if guards are pinned.
//
// A scan that finds no guard proves as much as the frontier: a guard that has seen the node
// was pinned before the unlinking, so the scan would find it. A structure without readers
// therefore does not advance the epoch, which all its users read.
func (d *Domain) Over(stamp uint64) bool {
	if stamp < d.Safe() {
		return true
	}
	e := d.epoch.Load() // before the scan, as in Frontier
	s := d.scan(e)
	if s.full+s.brief == 0 || d.raise(s.oldest) > stamp {
		return true
	}
	d.Advance(stamp) // so that later guards do not delay it
	return false
}

// Frontier raises the frontier as far as the pinned guards allow, and returns it. It visits
// the cells that Scanned counts.
func (d *Domain) Frontier() uint64 {
	// E comes first. Loaded after the scan, it might count retirements whose readers have
	// pinned in cells that the scan had passed.
	e := d.epoch.Load()
	return d.raise(d.scan(e).oldest)
}

// raise raises the frontier to m and returns it. Failure of the compare-and-swap means that
// another scan has raised it, perhaps to less.
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

// scan visits every guard that has read anything before scan began. The oldest epoch that it
// returns is at most e.
func (d *Domain) scan(e uint64) census { return d.scanBetween(e, 0, 0) }

// scanBetween is scan that also looks for guards with epochs above a and not above b.
func (d *Domain) scanBetween(e, a, b uint64) census {
	s := census{oldest: e, above: a, upTo: b}
	s.visit(d.first)
	s.visit(d.brief)
	for b := d.top.Load(); b != nil; b = b.older {
		s.visitMark(b, len(b.marks)-1, 0)
	}
	return s
}

// Scanned returns about how many cells a scan visits, so that callers can put off a scan until
// it serves enough retired nodes. It shrinks once a scan has found that guards are gone.
func (d *Domain) Scanned() int {
	n := len(d.first) + len(d.brief)
	for b := d.top.Load(); b != nil; b = b.older {
		n += fan * max(0, int(b.groups.Load()))
	}
	return n
}

// Pinned returns how many guards are pinned, and how many epochs the oldest of them lies back.
// Both may have changed when it returns.
func (d *Domain) Pinned() (guards int, oldest uint64) {
	e := d.epoch.Load()
	s := d.scan(e)
	return s.full + s.brief, e - s.oldest
}

// Held reports whether a guard of Pin is pinned. Guards of PinBrief do not count: they end by
// themselves. It costs a scan of the cells.
func (d *Domain) Held() bool { return d.scan(0).full > 0 }

// Bytes returns the memory that the cells take.
func (d *Domain) Bytes() int64 {
	n := int64(unsafe.Sizeof(*d)) + int64(len(d.first)+len(d.brief))*int64(unsafe.Sizeof(cell{}))
	for b := d.top.Load(); b != nil; b = b.older {
		n += b.bytes()
	}
	return n
}

// Synchronize returns once every guard that was pinned before the call has been unpinned. It
// yields, then sleeps, and returns ctx's error when ctx is done. If the caller has a guard
// pinned, Synchronize ends only with ctx.
func (d *Domain) Synchronize(ctx context.Context) error {
	stamp := d.Retire()
	return Wait(ctx, func() bool { return d.Passed(stamp) })
}

// Wait calls done until it returns true, with growing pauses between the calls. If ctx is done
// first, it returns ctx's error. If done returns true at once, Wait returns nil even for a ctx
// that is done.
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
