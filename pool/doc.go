// Package pool provides a concurrent pool whose values are named by handles that
// cannot dangle.
//
// A [Handle] names one value. Once the value is removed, the pool refuses the handle, even when
// another value has its place, which is called a slot.
//
//	p := pool.Must[*Conn](nil)
//	h, err := p.Insert(conn) // 64 bits, comparable, without pointers
//	…
//	c, ok := p.Get(h)        // false if it was removed
//	p.Remove(h)              // true for exactly one caller
//
// # Who removes it
//
//   - Nobody refers to the value: keep it in a slice.
//   - Only your goroutine can remove it while it uses it: [Pool.Pointer].
//   - Others may, and you need it for a moment: [Pool.View]. For many look-ups: [Pool.Pin] and
//     [Guard.Pointer].
//   - Others may, and you need it for long: [Pool.Hold], which returns a [Ref].
//   - The value is small and does not change: [Pool.Get], which returns a copy.
//   - The objects are on the heap anyway, or are still used after their removal: a Pool[*T],
//     and Get, which copies the pointer.
//
// None of these locks a value. If several goroutines use one and one of them writes it, they need a
// mutex or atomics in T, even under Guards.
//
// Get, Take, Drain, WriteTo and Clone copy values without synchronization. If a field of a T changes
// after its insertion, even an atomic one, such a copy is a data race.
//
// # Choosing
//
//   - A value with its own handle or a mutex: [Pool.InsertFunc], or [Pool.TryInsertFunc] if it may
//     fail. A handle before its value: [Pool.Reserve].
//   - Buffers that survive from one value to the next: [Options].Reset with InsertFunc.
//   - An index by name, or counts: Options.OnInsert and OnRemove.
//   - To wait for a slot while a bounded pool is full: [Pool.InsertWait]. A semaphore does not
//     suffice, since slots also wait for guards.
//   - All values: [Pool.All]; [Guard.All] in a hot loop; [Pool.Each] in parallel.
//   - The same handles after a restart: [Pool.WriteTo], beside all other calls, then [ReadFrom],
//     or [ReadFromFunc] if the type of the values has changed.
//   - The same handles in a copy in memory, to go back to an earlier state: [Pool.Clone].
//   - Values side by side: [coatcheck/pool/dense]. Records that loops read field by field:
//     [coatcheck/pool/table]. A hierarchy: [coatcheck/pool/tree]. Commands for the end of a frame:
//     [coatcheck/pool/command]. Names for C and the kernel: [coatcheck/pool/cgohandle]. Requests
//     that wait for an answer: [coatcheck/pool/pending]. Names of 16 or 32 bits: [Pool.At].
//
// # Memory model
//
// The insertion of a value synchronizes before every look-up and every loop that finds the value.
// The return of its Options.OnInsert synchronizes before them too, and before its OnRemove, whose
// return synchronizes before the next use of the slot.
//
// Insert, Remove, Take, Get, Contains and At are linearizable. Insert does not order your other
// atomics: do not build "insert, then check closed" on it; take a mutex.
//
// # Memory
//
// A *T into the pool keeps a whole page of values reachable. runtime.SetFinalizer does not accept
// it, and a cleanup of runtime.AddCleanup does not run when the value is removed. A pool keeps its
// pages for the next peak, until [Pool.Trim].
//
// # Testing and monitoring
//
// Package [coatcheck/pool/pooltest] fails a test that leaves something in a pool. With the
// build tag coatcheck_debug, a pool records the stacks of the calls that use it, and panics if a
// value was written to too late, or if two goroutines use a Worker at once. Package
// [coatcheck/pool/poolhttp] and module coatcheck/pool/metrics export [Pool.Stats].
package pool
