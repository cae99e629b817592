// Package cgohandle names Go values where Go pointers cannot be held: in C code, the
// kernel, a file. It is what runtime/cgo.Handle is, on a pool.
//
// C takes a callback and a word of user data, and hands the word back later. A Go
// pointer must not be that word: the collector does not see it there. A [Handle] may: it
// is a number, and names a Go value until Delete.
//
//	h := cgohandle.New(session)
//	C.watch(fd, C.uintptr_t(h))     // C keeps the number
//	…
//	//export onEvent
//	func onEvent(h C.uintptr_t) {
//		if s, ok := cgohandle.Handle(h).Lookup(); ok {
//			s.(*Session).ready()
//		} // or the session ended, and the event comes too late
//	}
//
// The verbs are those of runtime/cgo: [New], [Handle.Value] and [Handle.Delete], which
// panic on a handle that is not live. There the panic is the only way to learn of it.
// [Handle.Lookup] reports it, because a callback that comes too late is no bug: an event
// that epoll has queued, a timer that has fired, a completion that was under way. The
// panics say what the handle was; in a program that is built with the tag
// coatcheck_debug also who made it, who deleted it, and when.
//
// A [Table] has the same verbs for values of one type: no interface, no type assertion,
// and no part in the table that everybody else's Handles share.
//
// # Which C type
//
// uintptr_t, for every API that is yours. On 64-bit platforms uint64_t serves as well:
// epoll_data_t.u64 and io_uring's user_data are such.
//
// void*, where somebody else's API has nothing but that: cast in C, on the way in and on
// the way out,
//
//	static void go_watch(int fd, uintptr_t h) { watch(fd, trampoline, (void *)h); }
//	static void trampoline(void *data)        { onEvent((uintptr_t)data); }
//
// and never in Go. unsafe.Pointer(uintptr(h)) compiles, and vet's unsafeptr says
// "possible misuse of unsafe.Pointer". It is right. A number in a pointer's place is an
// address to the collector, and it stops the program with "found bad pointer in Go heap"
// if the address happens to lie in memory of the heap that is not in use. So does a Go
// function that C calls with a void* parameter: declare uintptr_t, and cast in C. With
// that, Go has integers only: the collector looks at none, checkptr has no conversion to
// check, and cgo's rules for passing pointers have nothing to say. Nor has anybody to
// pin a Handle, or to keep it alive.
//
// # On 32 bits
//
// A pool's handle has 64 bits, 32 of them generation, and a uintptr of 64 bits carries
// it whole. Where a uintptr has 32 bits, it carries an index of 20 bits and 12 for the
// life of that slot. A slot is retired after 4,095 lives, so that a stale handle is
// refused for ever there too; the price is that a table has at most 2^20 handles live at
// a time, and 2^32 − 2^20 in all, after which New panics. The original has 2^32 − 1 in
// all. All tables begin with the same numbers there, so that one may take another's
// handle for its own. A program that needs more gives C the uint64_t that a pool.Handle
// is, on any platform, and a pool of its own.
//
// # What it costs
//
// On amd64 a look-up is two loads of the slot's word and the copy of the value. It
// writes nothing shared, and costs the same beside a million others, but for misses of
// the cache. Elsewhere, and under the race detector, it is two locked instructions more.
// A New with its Delete is three locked instructions, and four elsewhere. Neither
// allocates, but for pages of slots; New's conversion to any allocates where the value is
// no pointer, as everywhere. A Handle's slot takes 24 bytes, an empty table 4 KiB a
// processor. Memory of slots stays for the next peak.
//
// # When the value goes
//
// A Handle keeps its value alive until Delete. After that the slot still has the value
// until it is reclaimed: after some dozens of other Deletes, or by the garbage collector
// within two of its cycles (pool.Pool's Remove tells more). The original lets go within
// Delete. If a value is so heavy that it should not wait, put a pointer into the table
// and clear what it points to before Delete.
//
// # What is ordered before what
//
// What was written before New is visible to every goroutine that is given the handle, by whatever way
// C gave it on, and looks it up.
package cgohandle
