// Package pending names calls that wait for an answer.
//
// A client sends requests over a connection, and answers come back in any order, late, twice
// or not at all. So each request carries a number, and a table has the caller that waits for
// it. Such a table goes wrong where both sides act at once: a caller's deadline passes while
// its answer is being delivered. One side must remove the entry, and one may use its channel
// again. If both do, or neither, a caller waits without end, or gets the answer of another
// call.
//
//	calls := pending.Must[Reply](nil)         // one for each connection
//
//	call, err := calls.Start()               // a caller
//	send(request{ID: call.ID(), …})
//	reply, err := call.Wait(ctx)
//
//	calls.Deliver(answer.ID, answer.Reply)   // the goroutine that reads the connection
//	calls.Close(err)                         // it can read no more
//
// A call ends exactly once: by [Calls.Deliver], Fail, FailAll or Close, by [Call.Cancel],
// or when the context or the timeout of its Wait ends. The first of them decides, and the
// others learn that they came too late. If Deliver returns true, Wait returns its answer, even if
// the context is done by then. Ids are never issued again: no late answer reaches another.
//
// Use one Calls for each connection. Then FailAll fails what that connection lost, and a peer
// that guesses ids answers none but its own calls. In JSON send ids as strings: there many
// programs read numbers of 53 bits.
//
// [Calls.All] ranges over the outstanding calls, with their ages if Options.Ages is set.
// [Calls.Stats] has their figures, which package poolhttp shows.
//
// # The protocol
//
// The table is a pool of waiters, each with room for one answer. The goroutine that takes the handle
// of a call out of the pool decides how the call ends, and answers exactly once, which never blocks:
// it stores the answer, and rings if a Wait sleeps. The waiting side alone may use the waiter again,
// after it has the answer or has taken the handle itself: then no answer is on its way. Before it
// answers, whoever took the handle closes the channel of [Call.Done], if there is one.
//
// # What it costs
//
// In the steady state a call allocates nothing, unless its Wait has to sleep: then Wait makes a
// channel of 112 bytes, and [Call.WaitTimeout] a timer too, together 360 bytes. A context with a
// deadline costs more than all the rest. docs/performance.md compares calls with a map under a mutex.
package pending
