package table

import "errors"

var (
	// ErrNotFound means that the table has no record by this key. In a table from ForHandles it
	// may also mean that the pool refuses the handle.
	ErrNotFound = errors.New("table: no record by this key")

	// ErrRange means that the Index is None, or not below Len.
	ErrRange = errors.New("table: no record at this index")
)

// Texts of panics.
const (
	zeroTable = "table: use of a zero Table; make one with New or ForHandles"
	// It is a constant so that At can be inlined into its callers' loops.
	noRecordAt = "table: View.At of an Index that is None or not below Len, or of a zero View"
	inOnMove   = "table: a function passed to OnMove changes the table; it may only read it"
)
