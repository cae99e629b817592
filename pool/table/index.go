package table

// Index is the place of a record in its table: 0 ≤ Index < Len. It is the cheapest name of a
// record, and the first to become invalid: a removal moves the last record into the gap.
type Index int

// None is the Index of no record, for a key that is not there or that Add refused. Methods that
// take an Index accept None, and find nothing.
const None Index = -1

// IsSet reports whether i is not None. It does not consult the table, in which i may no longer
// name a record.
func (i Index) IsSet() bool { return i >= 0 }
