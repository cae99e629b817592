// Package simulate runs programs on a machine of many processors that there need not be.
//
// A benchmark on two cores says nothing about 64. What changes on the way there is what
// shared words cost: a line of memory that many write is at one of them at a time, and the
// others queue. That can be counted, if it is known which words each operation touches,
// and the real code knows that best. So the real code runs, of pool, shard and epoch, on
// virtual processors with a clock each. Whenever it accesses a shared word, its clock goes
// on by what the access costs, and the processor whose clock is earliest goes on.
//
// The nouns, in order of use: [Costs] say what accesses cost; a [Machine] has so many
// processors and all lines; a [Processor] is a coroutine with a clock; a line is 64 bytes
// of memory, and is at home in the caches of those who have it (cache.go); a transfer is a
// line that comes to a processor, or leaves all others because it writes.
//
// The words announce themselves: package atom has types, under the build tag simulate,
// that call [Access]. Plain accesses to values are announced by hooks in the few places
// that make them (atom.PlainRead and atom.PlainWrite). All else that takes time is one
// figure for each operation of a program, fitted to one processor.
//
// What is modelled: which caches have a line and who may write it (MESI); that a line moves
// to one processor after another; that a locked instruction waits for it and for all
// stores before; that other stores do not wait; that loads at a steady stride overlap;
// processors that are near each other or in another socket; Go's mutexes, by their
// published algorithm, with the price of parking a goroutine.
//
// What is not: caches that are too small, bandwidth, lines that are fetched in pairs, loads
// that overlap otherwise, speculation, the operating system, more goroutines than
// processors, garbage collections. So figures for one processor are fitted, not
// predicted; what is predicted is how they change with the number of processors.
//
// A run is the same each time, or nearly: one coroutine runs at a time, where stacks lie is
// drawn by a seed (see [Stack]), and lines are told apart by addresses, of which only those
// within an object matter. Under load one run in some dozens differed where processors
// contend, by some hundredths; why is not known.
//
// The use that tempts and is wrong: to let a goroutine that is no virtual processor touch
// hooked words while a run is under way, a finalizer say. It would be taken for the
// processor that runs.
package simulate
