package pool

// Trim gives the memory of unused pages back to the Go heap, and returns the number of bytes. A
// page is unused if all of its slots are vacant, and no Worker keeps one. No stale handle becomes
// valid. Under FIFO, the other slots keep their order.
//
// Other goroutines may use the pool meanwhile. These wait for Trim: insertions that find no
// vacant slot, Stats, Synchronize, another Trim, and Workers that give slots back.
//
// Trim reads every slot that has memory. If it finds unused pages, each vacant slot loses one
// life. A pool with Preallocate, or with only one page, keeps its memory.
func (p *Pool[T]) Trim() int64 { return p.trim() }

func (c *core) trim() int64 {
	c.pages()
	return c.arena.Trim()
}
