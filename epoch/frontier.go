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
	free   bool // scans cost nothing
}

// Init makes a zero Frontier ready. If free is true, its scans cost nothing: what the owner does then
// depends on the guards that there are, and neither on cells that guards have left nor on the number of
// processors.
func (f *Frontier) Init(d *Domain, free bool) { f.domain, f.free = d, free }

// maxCredit keeps credit far from overflow. It pays for a scan of as many guards as fit into 16 GiB.
const maxCredit = 1 << 27

// Pay pays for n cells.
func (f *Frontier) Pay(n int) { f.credit = min(f.credit+n, maxCredit) }

// Mix notes that the owner has parts that it unlinked after the last scan began, or may have. All
// parts must be the owner's before it calls Oldest.
func (f *Frontier) Mix() { f.mixed = true }

// Blocked reports whether a guard that the last scan found is still pinned, and delays every stamp
// from first on. It costs one load.
func (f *Frontier) Blocked(first uint64) bool { return first >= f.last.Oldest && f.last.Stands() }

// Oldest returns an epoch: what the owner has with a stamp below it has passed. first is at most the
// least stamp of what the owner asks for. Oldest scans if it was paid for and first is not blocked.
// Then fresh is true.
func (f *Frontier) Oldest(first uint64) (oldest uint64, fresh bool) {
	if f.Blocked(first) || !f.spend() {
		return f.Known(), false
	}
	f.last.renew(f.domain)
	f.mixed = false
	return f.last.Oldest, true
}

// Known is Oldest without a scan.
func (f *Frontier) Known() uint64 {
	if f.mixed {
		return min(f.last.Oldest, f.last.began)
	}
	return f.last.Oldest
}

// Learn gives f what a scan has found that was made for another reason, when the owner had all of
// its parts.
func (f *Frontier) Learn(p Pins) { f.last, f.mixed = p, false }

// Price returns about how many cells a scan visits, or 0 if scans cost nothing. Any goroutine may call it,
// since it reads what Init has set alone.
func (f *Frontier) Price() int {
	if f.free {
		return 0
	}
	return f.domain.Scanned()
}

// spend pays for a scan, if there is the credit. What is left then pays for no more than another, so
// that guards which come later find no savings.
func (f *Frontier) spend() bool {
	price := f.Price()
	if f.credit < price {
		return false
	}
	f.credit = min(f.credit-price, price)
	return true
}

// Savings is what calls have paid that are too short to pay for a scan each.
type Savings struct {
	// cells is how many were paid for.
	//
	//	writers  Spend; an addition that is lost delays a scan
	cells atom.Uint32
}

// Spend pays for n cells, and reports whether that and what was paid before is the price of a scan.
// If so, it is spent.
func (s *Savings) Spend(n, price uint32) bool {
	if c := s.cells.Load() + n; c < price {
		s.cells.Store(c)
		return false
	}
	s.cells.Store(0)
	return true
}
