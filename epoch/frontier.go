package epoch

import "coatcheck/internal/atom"

// Frontier is what one owner of retired parts knows of the oldest guard. It makes the scans of that
// owner, and makes one only if the owner has paid for it.
//
// A scan visits the cells of all guards, and so may take a thousand times as long as the call that
// asks for it. In the naive way each caller sees to that itself. Three did not: a pair of a Worker
// took 241 µs beside 100,000 guards, and a removal in a bounded pool 37 µs beside 50,000. Here a
// scan costs its cells, and each removal pays for some. Until a scan is paid for, what the last one
// found has to do:
//
//   - While the guard that it found oldest still stands, it delays all stamps from its epoch on. So
//     another scan would find nothing for these (Blocked).
//   - What was unlinked before the scan began has passed if its stamp is below Oldest. That holds for
//     all that the owner has, until it gets what it unlinked later (Mix).
//   - Of the rest, what has a stamp below the epoch in which the scan began was unlinked before it
//     (L3): its stamp was loaded before that epoch was.
//
// The wrong version compares with Oldest whenever the part was unlinked. A guard that was pinned
// behind the scan, in the epoch of the stamp, may have seen it.
//
// A Frontier is not safe for concurrent use.
type Frontier struct {
	domain *Domain
	last   Pins // what the last scan found
	credit int  // cells that were paid for and not visited
	mixed  bool // the owner has parts that were unlinked after the last scan began

	byGuards bool // a scan costs by the guards that the last one found

	// guards is how many guards the last scan found, if byGuards.
	//
	//	writers  Learn, for the owner
	//	readers  Price
	guards atom.Uint32
}

// Init makes a zero Frontier ready. If byGuards is true, a scan costs by the guards that the last one
// found, and the first costs nothing. What the owner does then depends on the guards that there are, and
// neither on cells that guards have left nor on the number of processors.
func (f *Frontier) Init(d *Domain, byGuards bool) { f.domain, f.byGuards = d, byGuards }

// maxCredit keeps credit far from overflow. It pays for a scan of as many guards as fit into 16 GiB.
const maxCredit = 1 << 27

// Pay pays for n cells.
func (f *Frontier) Pay(n int) { f.credit = min(f.credit+n, maxCredit) }

// PayUpTo pays for as many cells as are missing to n.
func (f *Frontier) PayUpTo(n int) { f.credit = max(f.credit, n) }

// Affords reports whether n cells more would pay for a scan.
func (f *Frontier) Affords(n int) bool { return f.credit+n >= f.Price() }

// Mix notes that the owner has parts that it unlinked after the last scan began, or may have. All
// parts must be the owner's before it calls Oldest.
func (f *Frontier) Mix() { f.mixed = true }

// Blocked reports whether a guard that the last scan found is still pinned, and delays every stamp
// from first on. It costs one load. If scans cost by guards, it reports false: which of several guards of
// one epoch the scan found first, and so how many scans are paid for, depends on their cells.
func (f *Frontier) Blocked(first uint64) bool {
	return first >= f.last.Oldest && !f.byGuards && f.last.Stands()
}

// Oldest returns an epoch: what the owner has with a stamp below it has passed. first is at most the
// least stamp of what the owner asks for. Oldest scans if it was paid for and first is not blocked.
// Then fresh is true. What is left then pays for no more than another scan, so that guards which come
// later find no savings.
func (f *Frontier) Oldest(first uint64) (oldest uint64, fresh bool) {
	if !f.Blocked(first) {
		if price := f.Price(); f.credit >= price {
			f.credit = min(f.credit-price, price)
			f.Learn(f.domain.Scan())
			return f.last.Oldest, true
		}
	}
	return f.Known(), false
}

// Known is Oldest without a scan.
func (f *Frontier) Known() uint64 {
	if f.mixed {
		return min(f.last.Oldest, f.last.began)
	}
	return f.last.Oldest
}

// Learn gives f what a scan has found that began when the owner had all of its parts.
func (f *Frontier) Learn(p Pins) {
	f.last, f.mixed = p, false
	if f.byGuards {
		f.guards.Store(uint32(p.Count))
	}
}

// Price returns about how many cells a scan visits. Any goroutine may call it.
func (f *Frontier) Price() int {
	if f.byGuards {
		return cellsAGuard * int(f.guards.Load())
	}
	return f.domain.Scanned()
}

// Findings are what a Frontier knows and was paid, for a copy of its owner. Epochs are those of the
// original's Domain.
type Findings struct {
	Oldest, Began  uint64 // of the last scan; 0 before the first
	Credit, Guards int
	Mixed          bool
}

// Findings returns what f knows.
func (f *Frontier) Findings() Findings {
	return Findings{f.last.Oldest, f.last.began, f.credit, int(f.guards.Load()), f.mixed}
}

// Restore makes f know what another Frontier knew, in epochs of f's Domain. No guard may stand that its
// last scan found.
func (f *Frontier) Restore(k Findings) {
	f.Learn(Pins{Count: k.Guards, Oldest: k.Oldest, OldestGuard: k.Oldest, began: k.Began})
	f.credit, f.mixed = min(k.Credit, maxCredit), k.Mixed
}
