package main

// row is one line of the table of bugs that others shipped or that prototypes had.
type row struct {
	bug  string
	none bool   // there can be no seed; note says why
	note string // how the row applies here
}

// rows are the table, in its order. Each has a seed, or says why there is none.
var rows = []row{
	{bug: "tag loaded before the chain is taken; E loaded after the scan; freed one epoch too early"},
	{bug: "generation looked at before the pin is visible"},
	{bug: "an epoch compared as older when it is in fact newer",
		note: "epochs are only compared with less-than, and E is loaded before the cells; the seeds break the minimum and the one subtraction"},
	{bug: "a count packed beside an epoch that overflows into it",
		note: "no count lies beside an epoch, and limbo's count is its word's high half. A cell's sequence lies below its epoch, and a seed lets it through"},
	{bug: "freelist head without a tag, or popped slot pushed back with the same generation"},
	{bug: "error path that pushes a slot straight back, past the grace period",
		note: "what nobody has seen could go back at once if it burnt a generation, as Return does; the seeds forget that, or push what was live"},
	{bug: "tail link read once, not at each retry"},
	{bug: "Remove by load and store"},
	{bug: "E stored in place of compare-and-swapped"},
	{bug: "a reservation that is dropped loses its slot"},
	{bug: "clear, reset or restore that sets generations back, so that stale handles revive",
		note: "Clear is the only one there is; a slot could also be set back on its way through limbo"},
	{bug: "a pin that spins for a free cell",
		note: "a livelock kills nothing here, so a scenario counts the steps of a Pin"},
	{bug: "a pool that does not recover after a stall because one retry index slipped"},
	{bug: "a stress run that did zero operations and passed", none: true,
		note: "a bug of tests: exploration fails if no switch falls inside an operation, and the unmutated tree must say that it passed each scenario"},
	{bug: "a plain value copied between two looks at a counter (seqlock)",
		note: "Get copies between two looks at a word, on amd64, and uses nothing of a copy that the second look refuses; the seeds weaken the second look. The race detector's build pins"},
}
