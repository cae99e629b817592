// Package pool provides a concurrent pool whose values are named by handles that
// cannot dangle.
//
// A [Handle] names one value. Once the value is removed, the pool refuses the handle, even when
// another value has its place, which is called a slot. In the same way a coat check refuses an old
// ticket, even when another coat hangs on the hook.
//
//	p := pool.Must[*Conn](nil)
//	h, err := p.Insert(conn) // 64 bits, comparable, without pointers
//	…
//	c, ok := p.Get(h)        // false if it was removed
//	p.Remove(h)              // true for exactly one caller
//
// Use it for jobs, entities, connections, timers: values that come and go, and refer to one another. A
// pointer keeps its value alive and does not tell that the value was removed. An index into a slice
// also names the next value in that place. A handle does neither.
//
// # Who removes it
//
// Decide this first, because it tells which call to use.
//
//   - Nobody else, while you use the value: [Pool.Pointer].
//   - Others, and you need it for a moment: [Pool.View]. For many look-ups: [Pool.Pin] and
//     [Guard.Pointer].
//   - Others, and you need it for long: [Pool.Hold], which returns a [Ref].
//   - The value is small and does not change: [Pool.Get], which returns a copy.
//   - You allocate the objects anyway, or use them after their handles are stale: a Pool[*T],
//     and Get, which copies the pointer. The garbage collector scans the pool and the objects.
//
// None of these locks a value. If several goroutines use one and one of them writes it, they need a
// mutex or atomics in T, even under Guards.
//
// # Using a pool
//
// Get, Take, Drain and WriteTo copy values without synchronization. If a field of a T changes
// after its insertion, even an atomic one, such a copy is a data race. WriteTo also reads the
// objects that a value points to: none may change while it writes, unless its MarshalBinary method
// takes its mutex. Vet does not report that these calls copy a mutex or an atomic. With the build
// tag coatcheck_debug, Get, MustGet and Take log the first such copy of each T; go test shows the
// log with -v.
//
// [Pool.Insert], Get and [Pool.Remove] take amortized constant time. Get never waits. DESIGN.md lists
// under Liveness what waits, and for what.
//
// Pin a Guard for a burst of look-ups, not for a lifetime:
//
//	g := p.Pin()
//	if c, ok := g.Pointer(h); ok {
//		c.hits.Add(1)
//	}
//	g.Unpin()
//
// A [Worker] makes insertions and removals faster for one goroutine at a time, because it keeps
// vacant slots of its own. A [Reservation], from [Pool.Reserve], has a handle before there is a
// value.
//
// # Choosing
//
//   - A value that contains its own handle: [Pool.InsertFunc], or [Pool.TryInsertFunc] if it may
//     fail.
//   - Buffers that survive from one value to the next: [Options].Reset with InsertFunc. There, a
//     copy is valid only under a guard.
//   - An index by name, counts, or what another system keeps beside each value: Options.OnInsert and
//     OnRemove, which are called once for each life, whichever call begins or ends it.
//   - A fixed number of values without later allocation: Options.Capacity with Preallocate.
//   - To wait for a slot while a bounded pool is full: [Pool.InsertWait]. A semaphore of Capacity
//     does not suffice, because slots also wait for guards.
//   - All values: [Pool.All]; [Guard.All] in a hot loop; [Pool.Each] in parallel.
//   - The same handles after a restart: [Pool.WriteTo], beside all other calls, then [ReadFrom],
//     or [ReadFromFunc] if the type of the values has changed.
//   - Values side by side that come and go by phases: [coatcheck/pool/dense]. Records that loops
//     read field by field: [coatcheck/pool/table]. A hierarchy: [coatcheck/pool/tree]. Creation and
//     removal put off to the end of a frame: [coatcheck/pool/command].
//   - Values under handles that another process has issued, as in replication: a
//     [coatcheck/pool/table] with these handles as keys. A pool itself chooses its handles.
//   - Names for Go values in C, epoll, io_uring or shared memory: [coatcheck/pool/cgohandle].
//     Numbers for requests that wait for an answer: [coatcheck/pool/pending]. Names of 16 or 32
//     bits: [Handle.Index] and [Pool.At].
//
// # Memory model
//
// In the terms of the Go memory model, the insertion of a value synchronizes before every
// look-up and every loop that finds the value. So they see all that was written to it before. The
// return of its Options.OnInsert synchronizes before them too, and before its OnRemove, whose return
// synchronizes before the next use of the slot.
//
// Insert, Remove, Take, Get, Contains and At are linearizable: each takes effect at one point
// between its call and its return.
//
// An insertion is not an atomic flag. Suppose one goroutine inserts a value and then loads a
// flag, and another sets the flag and then looks for the value. Both may find nothing. An atomic
// write or a mutex between the insertion and the load prevents that.
//
// # Reuse and memory
//
// [Options].Reuse chooses which slot is reused first. After at most 2^31 − 1 lives a slot is
// exhausted, and another takes its place. So no stale handle becomes valid, and a pool does not
// end.
//
// A value lives in a page, an array of its pool. So a *T into the pool keeps the whole page
// reachable, weak pointers to it stay valid until Trim gives the page back,
// runtime.SetFinalizer does not accept it, and runtime.AddCleanup does, but the cleanup does not run
// when the value is removed.
//
// A pool keeps its pages for the next peak. [Pool.Trim] returns unused ones to the Go
// heap. Loops, Len, Stats and snapshots read every slot that has memory.
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
