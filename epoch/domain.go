package epoch

import (
	"context"
	"math"
	"math/bits"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/cause"
	"coatcheck/internal/hint"
)

// A Domain tells when every reader that may have seen an unlinked part has gone.
//
// The naive clock advances when every pinned reader has reached the current epoch, and frees
// what was retired two epochs ago. It compares numbers for equality modulo three, which fails
// if a goroutine is preempted between two loads. Here numbers only grow and are only compared
// by less-than, so an old number is merely conservative:
//
//	        Pin                              Stamp               Scan
//	reader  e = E, or E+1 after a stamp      writer unlinks       m = least epoch of
//	        cell = e·active                  r = E, stamped           the active cells
//	        reads the structure
//	        cell = idle                      waits for r < m
//
// A scan that begins after an unlinking finds every guard that may have seen the node. Such a
// guard was pinned before the unlinking, so its epoch is at most r. If the least epoch that
// the scan finds is above r, all these guards have gone (L3).

// Domain is a clock for grace periods, shared by those who read a structure and those who
// retire parts of it.
//
// A Domain is safe for concurrent use and must not be copied. [New] returns one; Pin of a zero
// Domain panics.
type Domain struct {
	// clock is E, with the bit stamped if Stamp has returned E. The next Pin then advances E,
	// and so begins after the stamp.
	//
	//	writers  Stamp and advance, by compare-and-swap from what was read
	//	readers  Pin, Stamp, Epoch
	//	moves    E → stamped|E → E+1, up to stamped|Limit
	clock atom.Uint64

	// base is the address of the newest row's first cell, or nil before there is one, and if pins
	// are traced. mask has the offsets of its cells' addresses from base (row.go).
	//
	//	writers  install, for the goroutine that has published the row; Init and Trace
	//	readers  pin, mask first; grow
	//	moves    to a longer row, base first
	base atom.Pointer[cell]

	// row is the newest row of first cells, or nil before there is one, and if pins are traced.
	//
	//	writers  grow, by compare-and-swap; Init and Trace
	//	readers  claimCell, Scan, Scanned and Bytes
	//	moves    to a longer row, whose older is the row before
	//	orders   the change precedes all pins in the new row (P4)
	row atom.Pointer[row]

	// top is the newest block of cells, or nil before a pin needs one.
	//
	//	writers  claimInBlock, by compare-and-swap; Init and Trace
	//	readers  claimCell, claimInBlock, Scan and Scanned
	//	moves    to a longer block, whose older is the block before
	//	orders   the change announces the pin in the new block (P4)
	top atom.Pointer[block]

	// traced is told of each Pin, or nil.
	traced *Tracer

	mask     atom.Uint32
	rowLimit uint32 // cells of the longest row; 0 in a zero Domain

	// meets counts pins that met. The field meetings is when that was last a multiple of the constant, in
	// nanoseconds of now.
	//
	//	writers and readers  meet
	meets    atom.Uint32
	meetings atom.Uint64

	ages
}

// New returns a domain without cells. The first Pin makes cells for four guards. The domain adds
// cells for more guards, without limit.
func New() *Domain {
	d := new(Domain)
	d.Init(0)
	return d
}

// Init makes a zero Domain ready. If n is above 0, it makes cells for n guards at once, and for four
// guards a processor, so n guards can be pinned at once without an allocation. Otherwise the
// first Pin allocates 512 bytes, and later ones more if they need them. If a Domain lies in another
// struct, each Pin saves a load. Call Init before any other use.
func (d *Domain) Init(n int) {
	d.rowLimit = uint32(mostCells())
	if n <= 0 {
		return
	}
	r := &row{cells: cellsOf(int(d.rowLimit))}
	d.row.Store(r)
	d.install(r)
	if n > len(r.cells) {
		// Half of the cells stay idle, so that pins find the others.
		d.top.Store(newBlock(2*ceilPow2(n), nil))
	}
}

// Tracer is told of pins.
type Tracer struct {
	// Pinned is called with the guard of each Pin, before that returns, and of no PinTransient or PinUntraced.
	Pinned func(Guard)

	// Wrapped is called where the sequence of a cell begins anew, before the pin, of any kind, returns
	// whose guard it gets. From then on, a word of the cell may come again. So the tracer must forget
	// all older guards of the cell (Guard.Beside), none of which is pinned.
	Wrapped func(Guard)
}

// Trace makes later pins tell a Tracer. Call it after Init and before any other use. Every Pin then takes
// its slow half, and some 10 ns more, without the calls. So domains without Trace pay nothing.
//
// The row goes. If Init has made cells, pins find at least as many in a block: on many processors the row
// had them all.
func (d *Domain) Trace(t *Tracer) {
	d.traced = t
	if r := d.row.Load(); r != nil && d.top.Load() == nil {
		d.top.Store(newBlock(2*len(r.cells), nil))
	}
	if b := d.top.Load(); b != nil {
		b.begin() // or its first pins would seem to be those after the last sequence
	}
	d.mask.Store(0)
	d.base.Store(nil)
	d.row.Store(nil)
}

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// Pin announces a reader. It costs one locked instruction and never waits.
func (d *Domain) Pin() Guard { return d.pin(hint.Frame()) }

// PinTransient is Pin for a pin that ends in the same function and runs no user code meanwhile.
// Scans count such pins apart, because they end by themselves.
func (d *Domain) PinTransient() Guard { return d.claimCell(active | transient) }

// PinUntraced is Pin of which no Tracer is told.
func (d *Domain) PinUntraced() Guard { return d.claimCell(active) }

func (d *Domain) pinSlow() Guard {
	g := d.claimCell(active)
	if d.traced != nil {
		d.traced.Pinned(g)
	}
	return g
}

// Epoch returns the current epoch. It only grows.
func (d *Domain) Epoch() uint64 { return d.clock.Load() &^ stamped }

// stamped is the bit of the clock that says that Stamp has returned E.
const stamped = 1 << 63

// isStamped is one instruction less than a comparison of the bit.
func isStamped(c uint64) bool { return int64(c) < 0 }

// advance moves the epoch on from c, which the caller has loaded and which is stamped, and
// returns the new epoch.
//
// The wrong version stores the new epoch. A delayed Pin would set the clock back, and a later
// guard would hold back what was retired before it.
func (d *Domain) advance(c uint64) uint64 {
	if e := c &^ stamped; e < Limit && d.clock.CompareAndSwap(c, e+1) {
		return e + 1
	}
	return d.Epoch() // failure means that another advance was faster
}

// Stamp returns the epoch stamp of everything that was unlinked before the call. A guard that is
// pinned after Stamp has returned has an epoch above the stamp, so it does not delay the stamp's
// grace period.
//
// Stamp does not advance the epoch; the next Pin does. So the word that all pins load is written
// at most once between two pins, however many stamps there are. If no Pin came since the last
// stamp, Stamp costs a load.
//
// The wrong version stores the bit. A delayed store would set the clock back, and the next Pin
// would begin in an epoch that was stamped since.
func (d *Domain) Stamp() uint64 {
	c := d.clock.Load()
	if !isStamped(c) {
		d.clock.CompareAndSwap(c, stamped|c) // failure means that another stamp was faster
	}
	return c &^ stamped
}

// Latest returns a stamp that is at least as great as every one that Stamp has returned. Call
// Stamp before.
func (d *Domain) Latest() uint64 {
	c := d.clock.Load()
	if !isStamped(c) {
		c-- // a Pin has advanced it since
	}
	return c &^ stamped
}

// EndEpoch ends the epoch: stamps that are taken later are above all that were taken before, and so is the
// epoch in which a later scan begins. At the Limit it does nothing.
func (d *Domain) EndEpoch() {
	d.Stamp()
	if c := d.clock.Load(); isStamped(c) {
		d.advance(c) // if not, a Pin has advanced it
	}
}

// Pins is what a scan found. The grace period of a stamp is over if Oldest is above it.
type Pins struct {
	Count       int    // guards that are pinned
	Oldest      uint64 // the least epoch of one; NoPin if there is none
	OldestGuard uint64 // the least epoch of one of Pin, which lasts as long as its user likes; or NoPin

	// cell is that of a guard with the epoch Oldest, and word what it held.
	cell *atom.Uint64
	word uint64

	began uint64 // E before the scan
}

// Stands reports whether the guard that gave Oldest its value is still pinned. While it is,
// another scan would find no more expired stamps. Stands costs one load.
func (p *Pins) Stands() bool { return p.cell != nil && p.cell.Load() == p.word }

// NoPin is above all epochs.
const NoPin = math.MaxUint64

// Scan visits the cells of all guards. Its result holds for everything that was unlinked before
// the call. It costs a load for each cell that Scanned counts.
//
// The wrong version scans first and then takes what was unlinked. A guard that was pinned behind
// the scan may have seen that.
func (d *Domain) Scan() (p Pins) {
	p = Pins{Oldest: NoPin, OldestGuard: NoPin, began: d.Epoch()} // first: a stamp below it is from before
	if r := d.row.Load(); r != nil {
		p.visitRow(r)
	}
	for b := d.top.Load(); b != nil; b = b.older {
		p.visitMark(b, len(b.marks)-1, 0)
	}
	if timed {
		d.note(p.Oldest)
	}
	return p
}

// NextEpoch returns the epoch in which a guard that is pinned now would begin.
func (d *Domain) NextEpoch() uint64 {
	c := d.clock.Load()
	return min(c&^stamped+c>>63, Limit)
}

// Expired reports whether the grace period of a stamp is over. It costs a scan.
func (d *Domain) Expired(stamp uint64) bool { return stamp < d.Scan().Oldest }

// Scanned returns about how many cells a scan visits. So callers can put off a scan until it
// serves enough retired nodes. The number shrinks once a scan has found that guards are gone.
func (d *Domain) Scanned() (n int) {
	for r := d.row.Load(); r != nil; r = r.older.Load() {
		n += len(r.cells)
	}
	for b := d.top.Load(); b != nil; b = b.older {
		n += fan * max(0, int(b.groups.Load()))
	}
	return n
}

// Bytes returns the memory that the cells take, without the Domain itself.
func (d *Domain) Bytes() (n int64) {
	for r := d.row.Load(); r != nil; r = r.older.Load() {
		n += int64(unsafe.Sizeof(*r)) + int64(len(r.cells))*int64(unsafe.Sizeof(cell{}))
	}
	for b := d.top.Load(); b != nil; b = b.older {
		n += b.bytes()
	}
	return n
}

// Synchronize waits until every guard that was pinned before the call has been unpinned. It
// yields at first and then sleeps. When ctx is done, it returns ctx's error. If the caller itself
// has a guard pinned, it waits until ctx is done.
func (d *Domain) Synchronize(ctx context.Context) error {
	stamp := d.Stamp()
	return Wait(ctx, func() bool { return d.Expired(stamp) })
}

// Wait calls done until it returns true. The pauses between the calls grow: to a millisecond, and
// then with what was waited. If ctx is done and done has returned false, Wait returns ctx's error and
// its cause.
func Wait(ctx context.Context, done func() bool) error {
	for round := 0; !done(); round++ {
		if ctx.Err() != nil {
			return cause.Of(ctx)
		}
		atom.PauseUnless(round, ctx.Done())
	}
	return nil
}
