// Package pool provides a concurrent pool whose values are named by handles that
// cannot dangle.
//
// Jobs, entities, connections and timers come and go and refer to each other, so they
// need names. A pointer keeps its value alive, and does not show that the value was
// removed. An index into a slice then names the next value in that place. A [Handle] is an
// index and a generation, and names one life of one slot: once the value is removed, the
// handle is refused.
//
// It works like a coat check: the handle is a ticket for one visit to one hook. The hook
// is used again, and the old ticket is refused.
//
//	p := pool.Must[Conn](nil)
//	h, err := p.Insert(conn) // one word, comparable, without pointers
//	…
//	c, ok := p.Get(h)        // a copy, or false if the value was removed
//	p.Remove(h)              // true for exactly one caller
//
// # Using a pool
//
// Any number of goroutines may use a [Pool] at once. [Pool.Insert], [Pool.Get] and
// [Pool.Remove] take amortized constant time. Get never waits. Insert takes no lock if it finds a
// vacant slot at once, and Remove only tries one. DESIGN.md lists under Liveness what waits, and
// for what.
//
// A [Guard] gives access to values in place. While it is pinned, every pointer that it
// returned stays valid, even if the value is removed meanwhile. Slots that are removed
// during the pin are not reused before its end, so pin for a burst of look-ups, not for a
// lifetime.
//
//	g := p.Pin()
//	if c, ok := g.Get(h); ok {
//		c.hits.Add(1)
//	}
//	g.Unpin()
//
// A [Ref], from [Pool.Hold], keeps one value for a long time, such as across blocking
// calls. It prevents the reuse of its own slot and of no other.
//
// A [Worker] makes insertions and removals faster for one goroutine at a time: it keeps
// slots of its own.
//
// [Pool.InsertFunc] builds a value in its slot. [Pool.Reserve] returns a handle before
// there is a value. A pool with [Options].Reset keeps what values have allocated, such as
// buffers, from one life of a slot to the next. There, a copy is valid only under a guard.
//
// [Pool.WriteTo] writes a snapshot while others use the pool. [ReadFrom] makes a copy of
// the pool from it: handles that were live are live, and all others are refused. [ReadFromFunc]
// reads a snapshot of values whose type has changed.
//
// # Choosing
//
//   - A copy of one value: [Pool.Get]. In place, many at a time: [Pool.Pin], then [Guard.Get] in
//     the loop, [Guard.Unpin]; a new pin now and then if the loop does not end.
//   - The fastest insertion and removal, on a goroutine of your own: a [Worker].
//   - To keep one value across blocking calls, for minutes: [Pool.Hold], then [Ref.Release].
//   - A handle before there is a value, or values that refer to themselves: [Pool.Reserve], or
//     [Pool.InsertFunc], or [Pool.TryInsertFunc] if it may fail.
//   - Buffers that survive from one value to the next: Options.Reset with InsertFunc.
//   - A fixed number of values without later allocation: Options.Capacity with Preallocate.
//   - To wait for a slot while a bounded pool is full: [Pool.InsertWait]. A semaphore of Capacity
//     does not suffice, because slots also wait for guards.
//   - Generations that last longest, by even use of slots: Options.Reuse, [FIFO], with Shards: 1.
//   - All values, in order of their slots: [Pool.All]; [Guard.All] in a hot loop; in parallel
//     [Pool.Each].
//   - A pool in a file, with the same handles after a restart: [Pool.WriteTo], then [ReadFrom].
//   - Values side by side that come and go by phases: [coatcheck/pool/dense]. Records that loops
//     read field by field: [coatcheck/pool/table]. A hierarchy whose links cannot dangle:
//     [coatcheck/pool/tree]. Creation and removal put off to the end of a frame:
//     [coatcheck/pool/command].
//   - Values under handles that another process has issued, as in replication: a
//     [coatcheck/pool/table] whose keys they are. A pool inserts under handles of its own alone.
//   - Names for Go values in C, epoll, io_uring or shared memory: [coatcheck/pool/cgohandle].
//     Numbers for requests that wait for an answer: [coatcheck/pool/pending].
//
// # Memory model
//
// The insertion of a value synchronizes before every look-up and every loop that finds it, in
// the terminology of the Go memory model. So they see all that was written to the value before.
//
// Insert, Remove, Take, Get and Contains are linearizable: each takes effect at one point
// between its call and its return.
//
// Do not use an insertion in place of an atomic flag. A goroutine inserts a value and then loads
// a flag. Another sets the flag and then looks for the value. Both may find nothing, because the
// load may return what was there before the insertion. An atomic write, or a mutex, between
// the insertion and the load prevents that.
//
// The pool does not synchronize access to a value. Goroutines that share one *T, one of
// them writing, need a mutex or atomics, as with any pointer. Get, Take, Drain and
// WriteTo read the value without synchronization.
//
// # Reuse and memory
//
// With [LIFO], the default, slots that were reclaimed last are reused first, while they are in
// the cache. With [FIFO] it is the slot that was removed longest ago, in each shard. A slot has at most
// 2^31 − 1 lives. Then it is exhausted, and another takes its place. So no stale handle becomes
// valid, and a pool does not end, however long a program runs.
//
// A value lives in an array of its pool. So a *T keeps the whole page reachable, weak pointers to it
// stay valid until Trim gives the page back, and runtime.SetFinalizer does not take it. What a value
// points to is collected as ever.
//
// A pool keeps its pages for the next peak. [Pool.Trim] returns unused ones to the Go
// heap. Loops, Len, Stats and snapshots read every slot that has memory. Epochs end after
// 2^48, which is nine years at a million advances a second. From then on slots are reused only
// while no guard is pinned.
//
// # Testing and monitoring
//
// Package [coatcheck/pool/pooltest] fails a test that leaves something in a pool. With the
// build tag coatcheck_debug, a pool records the stacks of the calls that use it.
// [Pool.Explain], [Pool.ExplainOpen] and the panics of MustGet and guards show them. The pool
// also panics if a value was written to after its slot was reclaimed, and if two goroutines
// use a Worker at once.
//
// [Pool.Stats] describes a pool. Package [coatcheck/pool/poolhttp] shows its figures on a page,
// as JSON and through expvar, and module coatcheck/pool/metrics exports them to Prometheus and
// OpenTelemetry.
//
// DESIGN.md has the protocol, its proof, and the papers that it is based on.
package pool
