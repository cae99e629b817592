package table

// Texts of panics.
const (
	zeroTable = "table: use of a zero Table; make one with New or ForHandles"
	// It is a constant so that At can be inlined into its callers' loops.
	noRecordAt = "table: View.At of an Index that is None or not below Len, or of a zero View"
	changed    = "table: a function passed to %s changes the table; it may only read it"
)
