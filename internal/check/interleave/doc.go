// Package interleave runs small concurrent programs under every schedule that matters, one
// at a time.
//
// A stress test has only the schedules that the machine happens to produce, and protocols
// break in others. Here the threads of a program are coroutines, one of which runs at a time,
// and another may run at each access to a shared word. So a run is a sequence of choices,
// which can be enumerated and repeated. Go's atomics are sequentially consistent, so choices
// between accesses are sufficient, except for release stores, which others may see late
// (buffer.go).
//
// The nouns, in order of use: a [Setup] builds the state of one run and starts its threads.
// A [Thread] is one coroutine. A step is one access of a thread with all that it does until
// the next one. A [Schedule] is the thread of each step. A preemption is a switch from a
// thread that could have continued.
//
// [Search] visits all schedules with a bounded number of preemptions (Musuvathi's and
// Qadeer's CHESS, 2007): most bugs need one or two. [Sample] draws schedules with few
// preemptions, for programs that are too long for that. [Replay] repeats one and records it.
//
// Package interleave knows nothing of pools: the example explores a queue, and finds its bug
// (go test -v -tags interleave -run Example ./internal/check/interleave).
//
// The words call [Before] and [After]: those of package atom do under the build tag
// interleave. A goroutine that is no Thread, such as a finalizer's, must not access hooked
// words during a run. Its accesses would count as those of the running thread.
package interleave
