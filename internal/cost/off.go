//go:build !coatcheck_costs

package cost

// Cells counts n pin cells, or marks of them, that a scan visits.
func Cells(n int) {}

// Slots counts n slots that are visited on their way from limbo to a freelist.
func Slots(n int) {}

// Batches counts n batches that are visited.
func Batches(n int) {}

// Lock counts a shard's lock that is taken.
func Lock() {}

// Visits counts n slots that a loop over all slots visits, or steps over together.
func Visits(n int) {}
