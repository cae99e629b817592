package pool

// Trim gives the memory of pages in which nothing is live, held, reserved, cached
// by a Worker or in limbo back to the Go heap, and returns how many bytes that is.
// Others may insert, remove, read and iterate meanwhile. No handle comes back to
// life: what is left of a page is the generation from which its slots go on.
//
// It costs a look at every slot that has memory and, if there are pages to give
// up, some nanoseconds more for each vacant one, a cache miss each where they were
// removed in random order; and it uses up one of the 2^31 lives of each of these.
// It delays insertions that find no vacant slot while it runs, and other calls of
// Trim; nobody else. What stays is reused in the order that it had before. Memory
// comes back when insertions need it: a page, and with it a 64th as many as there
// are.
//
// Pages are what the pool allocates: between 64 and 128 KiB, at least 1,024
// slots. One value that lives keeps its page, and so does a slot whose generation
// has passed 2^32 − 2^28: its last 2^27 lives are kept for values. Under FIFO, where all
// slots age alike, one such slot keeps everything. Guards and Workers that are open
// may keep the memory of what is given up until they are unpinned or flushed. A
// pool with Preallocate, or with a single page, keeps what it has.
func (p *Pool[T]) Trim() int64 {
	p.pages()
	return p.arena.Trim()
}
