// Package cgohandle names Go values where Go pointers cannot be held: in C code, the
// kernel, a file. It is runtime/cgo.Handle on a pool.
//
// C takes a callback and a word of user data, and passes the word back later. The word
// must not be a Go pointer, because the garbage collector does not see it there. A
// [Handle] is a number, and names a Go value until Delete.
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
// The functions are those of runtime/cgo: [NewHandle], or [New] for short, [Handle.Value] and
// [Handle.Delete], so only the import changes. runtime/cgo.Incomplete stays where it is: it has nothing
// to do with handles, and its name here would link each program that uses this package with C's
// library. Value and Delete panic on a handle that is not live. [Handle.Lookup] returns false
// instead. Use it where a late callback is no bug: epoll had queued the event, a timer had fired, a
// completion was under way. The panics describe the handle. In a program built with the tag
// coatcheck_debug they also tell which calls made and deleted it, and when.
//
// A [Table] has the same methods for values of one type. It needs no interface and no
// type assertion, and is separate from the table that all Handles share.
//
// # Which C type
//
// uintptr_t, for every API of your own. On 64-bit platforms uint64_t serves as well:
// epoll_data_t.u64 and io_uring's user_data have that type.
//
// void*, for a foreign API that has only that: cast in C, on the way in and on the way
// out,
//
//	static void go_watch(int fd, uintptr_t h) { watch(fd, trampoline, (void *)h); }
//	static void trampoline(void *data)        { onEvent((uintptr_t)data); }
//
// and never in Go. unsafe.Pointer(uintptr(h)) compiles, and vet's unsafeptr reports
// "possible misuse of unsafe.Pointer". It is right. To the collector a number in a
// pointer's place is an address. If that address happens to lie in unused memory of the
// heap, the collector stops the program with "found bad pointer in Go heap". The same
// happens in a Go function that C calls with a void* parameter: declare uintptr_t, and
// cast in C. Then Go has integers only. The collector ignores them, checkptr has no
// conversion to check, and cgo's rules for passing pointers do not apply. A Handle needs
// no pinning and no KeepAlive.
//
// # On 32 bits
//
// A pool's handle has 64 bits, 32 of them generation, and a uintptr of 64 bits carries it
// whole. A uintptr of 32 bits carries an index of 20 bits and the life of that slot in
// 12. A slot is exhausted after 4,095 lives, so a stale handle stays refused there
// too. The price is that a table has at most 2^20 live handles, and 2^32 − 2^20 in all,
// after which New panics. runtime/cgo has 2^32 − 1 in all. All tables begin with the same
// numbers there, so one may accept another's handle. A program that needs more can give C
// the uint64_t of a pool.Handle, on any platform, and use a pool of its own.
//
// # What it costs
//
// On amd64 a look-up is two loads of the slot's word and the copy of the value. It writes
// nothing shared. Among a million handles it costs the same, cache misses aside.
// Elsewhere, and under the race detector, it takes two locked instructions more. A New
// with its Delete takes three locked instructions, and four elsewhere. Neither allocates,
// except for pages of slots; New's conversion to any allocates if the value is not a
// pointer. A Handle's slot takes 24 bytes, an empty table 2 KB, on any number of processors. The memory
// of slots stays for the next peak, until [Trim] or [Table.Trim]; on 32 bits for good.
//
// # When the value is released
//
// A Handle keeps its value alive until Delete. Then the slot still has the value until
// the slot is reclaimed: by a later New that finds no vacant slot, or within two cycles of the
// garbage collector (see Remove of pool.Pool). runtime/cgo releases it within Delete. If
// a value is too large to wait, put a pointer into the table and clear what it points to
// before Delete.
//
// # Memory model
//
// A goroutine that gets a handle back, by whatever way through C, and looks it up sees all that was
// written before its New.
package cgohandle
