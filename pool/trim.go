package pool

// Trim gives the memory of unused pages to the Go heap, and returns the number of bytes. A page is
// unused if all of its slots are vacant, and no Worker keeps one. No stale handle becomes valid.
// Under FIFO the other slots keep their order.
//
// Other goroutines may use the pool meanwhile. Insertions that find no vacant slot wait for Trim,
// and so do Stats, Synchronize, another Trim, and Workers that give slots back.
//
// Trim reads every slot that has memory. If it finds unused pages, each vacant slot loses one of
// its lives. A pool with Preallocate, or with one page, keeps its memory.
func (p *Pool[T]) Trim() int64 { return p.trim() }

func (c *core) trim() int64 {
	c.pages()
	return c.arena.Trim()
}
