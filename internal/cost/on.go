//go:build coatcheck_costs

package cost

import "sync/atomic"

// Steps is how many steps there were of each kind.
type Steps struct{ Cells, Slots, Batches, Locks, Visits int64 }

var cells, slots, batches, locks, visits atomic.Int64

// Cells counts n pin cells, or marks of them, that a scan visits.
func Cells(n int) { cells.Add(int64(n)) }

// Slots counts n slots that are visited on their way from limbo to a freelist.
func Slots(n int) { slots.Add(int64(n)) }

// Batches counts n batches that are visited.
func Batches(n int) { batches.Add(int64(n)) }

// Lock counts a shard's lock that is taken.
func Lock() { locks.Add(1) }

// Visits counts n slots that a loop over all slots visits, or steps over together.
func Visits(n int) { visits.Add(int64(n)) }

// Sum returns the steps of the process so far.
func Sum() Steps {
	return Steps{cells.Load(), slots.Load(), batches.Load(), locks.Load(), visits.Load()}
}
