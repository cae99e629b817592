// Package linearize judges histories of the pool with porcupine: it asks of
// every answer that the pool gave whether all of them together can be explained
// by operations that take effect one after the other, each between its call and
// its return. It is a module of its own, so that the pool does not depend on the
// checker.
//
//	go test .                                                               # 1,000 histories of 8 × 200 operations
//	go test -v -run Linearizable -histories 100000 -timeout 0 .             # the long run
//	go test -race .                                                         # 200 histories
//	go test -tags interleave .                                              # virtual threads: 300 histories of 8 × 40
//	go test -run 'Linearizable/^fifo$' -histories 1 -seed 4711 .            # what a failure prints
//
// Flags: -histories, -threads, -ops (for each thread), -seed, and -out, the
// folder that a failure leaves porcupine's visualisation in (the system's folder
// for temporary files by default). It is a page for a browser: the life of the
// handle that has no explanation, and how far it can be explained.
//
// # How it works
//
// A [Layout] describes a pool: tiny, FIFO, a few generations before exhaustion. A
// [Plan] is a layout with threads, operations and a seed. Its threads do as they
// please and write down each call, its answer and two times from one counter:
// that is a [History]. [History.Judge] splits it by handle, which is right because
// the lives of different handles have nothing to do with each other: each is
// unborn → reserved → live with one value → dead (spec.go). What does not split
// by handle is counted (count.go): never more than Capacity values, no handle
// that cannot be, and in the end as many removed as inserted.
//
// Threads know handles from a board that all of them read and write, and also
// those that they should not: of reservations and constructors under way, of the
// next incarnation of a slot, and of generations that never live. Batches and
// loops are split into what they say of each handle: one that Drain did not yield
// was not live at some moment of that Drain.
//
// Operations are short, so two threads are hardly ever at one live handle at once
// if that is left to chance. A thread that has just inserted a value, or is about
// to publish one, therefore waits some microseconds for another to come to its
// handle, and both go on in the same moment (board.go). Values are of 8 KiB, so
// that copying them takes time and a page has 32 slots. What came of it is
// counted: a pair is two threads' operations under way on one handle, contended
// if one of them changed its life. With two processors that have nothing else to
// do a history has some dozens; a run with next to none fails. On one processor
// only the virtual threads find anything.
//
// # With virtual threads
//
// Goroutines on a few processors are rarely stopped inside an operation. Under
// the build tag interleave the same plans run on virtual threads, which take
// turns at random at every access to a shared word, with batches of two in place
// of 64. Such a history depends on nothing but its seed. It is short: slots with
// four bits of generations left do not come to their end in it. Loops over pools
// without a Capacity are left out, and so is Preallocate, for the steps that they
// would take. A failure also leaves the steps of its threads.
//
// # Controls
//
// The pools of wrong_test.go are wrong on purpose: removal by load and store,
// look-ups that ignore the generation, a handle that is issued twice, a Get
// that answers after removal, a handle that is live before its value is there or
// while its constructor runs, loops that leave a value out or yield it twice,
// more values than Capacity, and the like. Each must be refuted, for the reason
// given, and leave its visualisation; where the fault lies in what one verb
// answers, the life must have an explanation once that verb is not believed.
//
// # What is not checked
//
// ErrFull and its kin are allowed always: the pool only promises that no free
// slot was reachable. What RemoveBatch, Clear and DeleteFunc count is checked as
// a sum over the history, not for each call. The counter that gives the times
// orders the threads, so that the race detector sees less here than in the
// storms, and an order that only weak memory would show may be hidden by it: a
// reading is a locked instruction, after which others see every store that the
// thread has made, release stores included. So an operation takes effect before
// its Return here; DESIGN.md says what holds without such an instruction.
package linearize
