package table

import "strconv"

// Layout is how a table lays out its records in memory. Only speed and the result of [View.Slice]
// depend on it.
type Layout uint8

const (
	// SoA is a structure of arrays: each field of R is a column of its own, as in struct{ X
	// []float64; Y []float64 }. A loop that needs one field of many records loads only that
	// field.
	SoA Layout = iota

	// AoS is an array of structures: whole records side by side, as in []R. To use a whole record
	// takes a cache line or two.
	AoS
)

// String returns "SoA" or "AoS".
func (l Layout) String() string {
	switch l {
	case SoA:
		return "SoA"
	case AoS:
		return "AoS"
	}
	return "Layout(" + strconv.Itoa(int(l)) + ")"
}
