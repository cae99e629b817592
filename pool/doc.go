// Package pool keeps values that many goroutines create, look up and remove, and
// names each by a handle that cannot dangle.
//
// Objects that come and go and refer to each other (jobs, entities, connections,
// timers) need names. A pointer keeps its object alive and does not tell that it
// was given up; an index into a slice is taken over by the next object that
// moves in. A [Handle] is an index with a generation: it names one incarnation
// of one slot, and once that is removed, the handle is refused for ever.
//
//	p := pool.Must[Conn](nil)
//	h, err := p.Insert(conn)     // a name: one word, comparable, no pointer
//	…
//	c, ok := p.Get(h)            // a copy, or false if it is gone
//	p.Remove(h)                  // true for exactly one caller
//
// # In the order in which you will need them
//
// A [Pool] may be used by any number of goroutines. [Pool.Insert], [Pool.Get]
// and [Pool.Remove] are O(1) and lock-free.
//
// A [Guard] lets you work on values where they are. While it is pinned, every
// pointer that it gave stays that incarnation, even if the value is removed
// meanwhile. Pin for a burst of look-ups, not for a lifetime: what is removed
// during the pin is not reused before it ends.
//
//	g := p.Pin()
//	if c, ok := g.Get(h); ok {
//		c.hits.Add(1)
//	}
//	g.Unpin()
//
// A [Ref], from [Pool.Hold], is for what takes long: it may be kept across
// blocking calls and handed to other goroutines. It keeps its own slot from being
// reused, and nothing else.
//
// A [Worker] is the fast path of one goroutine at a time: it keeps some slots at
// hand, so that a removal costs one locked instruction and an insertion none, on amd64.
//
// [Pool.InsertFunc] builds a value in its slot, [Pool.Reserve] gives a handle
// before the value is ready, a [Reserver] many of them, and a pool with [Options].Reset keeps what values
// have allocated from one life to the next.
//
// [Pool.WriteTo] writes a snapshot while others use the pool, and [ReadFrom] makes a
// copy of it that knows the same handles: those that were live are live, all others
// are refused for ever.
//
// # What is ordered before what
//
// What was written before Insert returns, or init in InsertFunc, or before
// Commit, is visible to every goroutine that gets the handle or meets the value in a loop.
// Insert, Remove, Take, Get and Contains take effect at one point between call
// and return, as far as anybody is told: all that the goroutine writes, sends or
// unlocks after Insert or Commit comes after it. What it only loads may be older.
// So where one goroutine inserts and then looks at a flag, and another raises the
// flag and then looks for values, both may find nothing, unless the first holds a
// mutex or writes atomically between the two. Goroutines that share one *T, one of them writing, must
// synchronize between themselves, as with any pointer: the pool only makes sure
// that they all mean the same incarnation. Get, Take, Drain and WriteTo copy the value
// plainly.
//
// # Reuse
//
// Slots that were removed are reused: the last first ([LIFO], the default, whose
// memory is still in the cache), or the one that has waited longest ([FIFO],
// which spreads wear). Generations never wrap. A slot lives at most 2^31 − 1
// times and is then retired for good, so a stale handle stays stale however long
// a program runs.
//
// # Memory
//
// Pages stay when they are empty, for the next peak. [Pool.Trim] gives them back,
// and [Options].AutoTrim does so by itself. [Pool.Grow] makes them ahead.
//
// # In tests
//
// Package pooltest fails a test that leaves something behind in a pool. In a
// program that is built with the tag coatcheck_debug, pools remember who
// inserted, removed and opened what: [Pool.Explain] and [Pool.ExplainOpen] tell,
// and so do MustGet and guards when they panic.
//
// # In operation
//
// [Pool.Stats] tells what a pool has. Package poolhttp shows it on a page, as JSON and
// through expvar, and coatcheck/pool/metrics to Prometheus and OpenTelemetry.
//
// The ideas are old and good: slot maps with generations, Treiber's stack,
// Michael's and Scott's queue, Fraser's epochs. DESIGN.md says what was changed
// and proves that it holds.
package pool
