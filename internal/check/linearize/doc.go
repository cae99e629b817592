// Package linearize judges histories of the pool with porcupine: it checks whether all
// results together can be explained by operations that take effect one after the other,
// each between its call and its return. It is a module of its own, so that the pool does
// not depend on the checker.
//
//	go test .                                                               # 1,000 histories of 8 × 200 operations
//	go test -v -run Linearizable -histories 100000 -timeout 0 .             # the long run
//	go test -race .                                                         # 200 histories
//	go test -run 'Linearizable/^fifo$' -histories 1 -seed 4711 .            # what a failure prints
//
// Flags: -histories, -threads, -ops (for each thread) and -seed. A failure prints all that was
// done with the handle whose life has no explanation.
//
// # How it works
//
// A [Layout] describes a pool: tiny, FIFO, a few generations before exhaustion. A [Plan] is a
// layout with threads, operations and a seed. Its threads draw operations, and record each
// call, its result and two times from one counter: that is a [History]. [History.Judge]
// splits it by handle, since lives of different handles are independent. Each life is
// unborn → reserved → live with one value → dead (spec.go). What concerns several handles is
// counted (count.go): never more than Capacity values, no impossible handle, and at the end
// as many values removed as inserted.
//
// Threads exchange handles by a board that all of them read and write. They also use handles
// that they should not know: of open Reservations and running constructors, of the next
// incarnation of a slot, and of generations that never live. Batches and loops are split
// into records of each handle: a handle that Drain did not yield was not live at some moment
// of that Drain.
//
// Operations are short, so by chance alone two threads would hardly ever use one live handle
// at once. A thread that has just inserted a value, or is about to publish one, therefore
// waits some microseconds for another thread at its handle, and both continue at the same
// moment (board.go). Values have 8 KiB, so that copying them takes time and a page has 32
// slots. Overlaps are counted: a pair is two threads' overlapping operations on one handle.
// It is contended if one of them changed the handle's life. With two idle processors a
// history has some dozens; a run with hardly any fails. On one processor hardly any overlap;
// the schedules of internal/check/explore need no processors.
//
// # Controls
//
// The pools of wrong_test.go are wrong on purpose: removal by load and store, look-ups that
// ignore the generation, a handle that is issued twice, a handle that is live while its
// constructor runs, loops that leave a value out, more values than Capacity, and the like.
// Each must be refuted for the stated reason. If the bug is in the results of one verb, the
// life must have an explanation without these.
//
// # What is not checked
//
// ErrFull and the errors that wrap it are always allowed: the pool only promises that no free
// slot was reachable. The counts of RemoveBatch, Clear and DeleteFunc are checked as a sum
// over the history, not for each call. The counter of the times orders the threads, so the
// race detector finds less here than in storms, and it may hide an order that only weak
// memory would show. A reading is a locked instruction, after which other threads see every
// store that the thread has made, release stores included. So an operation takes effect
// before its Return here; DESIGN.md tells what holds without such an instruction.
package linearize
