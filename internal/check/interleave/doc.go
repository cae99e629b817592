// Package interleave runs small concurrent programs under every schedule that
// matters, one at a time.
//
// A stress test meets the schedules that the machine happens to produce, and a
// protocol breaks in those that it does not. Here the threads of a program are
// coroutines, of which one runs at a time, and each access to a shared word is a
// point at which another may be made to go on. A run is therefore a sequence of
// choices: it can be enumerated, and repeated exactly. Go's atomics are
// sequentially consistent, so choices between accesses are all there are; but for
// release stores, which others may see late (see buffer.go).
//
// The nouns, in order of use: a [Setup] builds the state of one run and starts
// its threads; a [Thread] is one coroutine; a step is one access of a thread and
// all that it does until its next one; a [Schedule] says which thread made each
// step; a preemption is a switch away from a thread that could have gone on.
//
// [Search] visits all schedules with at most so many preemptions (Musuvathi's
// and Qadeer's CHESS, 2007): most bugs need one or two. [PCT] draws schedules
// with random priorities and a few change points (Burckhardt et al., 2010), for
// programs that are too long for that. [Replay] repeats one and writes it down.
//
// The words announce themselves: package atom, under the build tag interleave,
// has types that call [Before] and [After]. The use that tempts and is wrong: to
// let a goroutine that is no Thread touch hooked words while a run is under way,
// a finalizer say. It would be taken for the thread that runs.
package interleave
