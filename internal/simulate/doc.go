// Package simulate runs programs on a simulated machine of many processors.
//
// A benchmark on two cores says nothing about 64. The cost of shared words grows with the
// number of processors: a cache line that many write is in one cache at a time, and the
// other processors queue. The cost can be counted if the accesses of each operation are
// known. So the real code of pool, shard and epoch runs on virtual processors, each with a
// clock. An access to a shared word advances the clock by its cost, and the processor with
// the earliest clock runs next.
//
// The types, in order of use: [Costs] are the costs of accesses; a [Machine] has processors
// and cache lines; a [Processor] is a coroutine with a clock. A line is 64 bytes of memory,
// and is in the caches of some processors (cache.go). A transfer moves a line to a
// processor's cache, or invalidates all other copies because the processor writes.
//
// With the build tag simulate, the types of package atom call [Access]. The few plain
// accesses to values are announced by atom.PlainRead and atom.PlainWrite. Everything else
// that an operation does is one figure for each program, fitted to one processor.
//
// Modelled are the states of lines (MESI); transfers of a line, one after another; locked
// instructions, which wait for their line and for earlier stores; other stores, which do
// not wait; loads at a constant stride, which overlap; clusters and sockets; Go's mutexes
// by their algorithm, with the cost of parking a goroutine.
//
// Not modelled are cache capacity, bandwidth, lines fetched in pairs, other overlapping
// loads, speculation, the operating system, more goroutines than processors, and garbage
// collections. So figures for one processor are fitted; how they change with the number of
// processors is predicted.
//
// A run is almost deterministic: one coroutine runs at a time, a seed draws the addresses
// of stacks (see [Stack]), and only the addresses within an object distinguish lines. Under
// load one run in some dozens differed by some hundredths where processors contend. The
// reason is unknown.
//
// During a run no other goroutine may access hooked words, a finalizer for instance: the
// running processor would be charged.
package simulate
