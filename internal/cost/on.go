//go:build coatcheck_costs

package cost

import "sync/atomic"

// Steps is how many steps there were of each kind.
type Steps struct{ Cells, Slots, Batches, Locks, Visits int64 }

var cells, slots, batches, locks, visits atomic.Int64

// What these count is said in off.go.

func Cells(n int)   { cells.Add(int64(n)) }
func Slots(n int)   { slots.Add(int64(n)) }
func Batches(n int) { batches.Add(int64(n)) }
func Lock()         { locks.Add(1) }
func Visits(n int)  { visits.Add(int64(n)) }

// Sum returns the steps of the process so far.
func Sum() Steps {
	return Steps{cells.Load(), slots.Load(), batches.Load(), locks.Load(), visits.Load()}
}
