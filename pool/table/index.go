package table

// Index is the place of a record in its table: 0 ≤ Index < Len. It is the
// cheapest name of a record and the shortest-lived: a removal moves the last
// record into the gap.
type Index int

// None is the Index of no record: of a key that is not there, or one that Add
// refused. Every method that takes an Index takes None, and finds nothing.
const None Index = -1

// IsSet answers whether i is an Index of anything, which None is not. It does not
// ask the table: i may lie beyond its end by now.
func (i Index) IsSet() bool { return i >= 0 }
