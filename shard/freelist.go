package shard

// freelist is how a shard keeps its vacant slots: in a stack (LIFO) or in a queue (FIFO).
// Both are linked through the slots' words from shard.free on, and Pop takes from both.
type freelist[T any] interface {
	// fill provides what the list never hands out, n slots for the reserve among it.
	fill(n int)

	// hold lets the caller alone move slots into a queue, from the seal to the append, so
	// that they keep their order. It tries, or waits; release ends it. Any number of
	// goroutines may hold a stack. What is below down to keepLess is done under it.
	hold(wait bool) bool
	release()

	// put makes the slots of c vacant for all, the first one first.
	put(c chain[T])

	// splice makes the whole of b vacant for all, without a look at each slot. It reports
	// whether it could: a stack must be empty.
	splice(b *batch[T]) bool

	// turn brings slots of b into the order in which the list wants them, up to the given
	// number. It returns how many it visited, and whether all are in order.
	turn(b *batch[T], most uint32) (visited uint32, done bool)

	// keepLess makes up to reclaimMost slots available that the list keeps back and need
	// not. It reports whether there were any.
	keepLess() bool

	// recipient returns the shard that gets what is reclaimed for to.
	recipient(to *shard[T]) *shard[T]

	bare() bool         // there is no slot for an insertion
	kept() uint32       // how many slots are kept back
	keepsTooMuch() bool // these are more than the reserve wants
	dummies() uint32    // how many slots are there for the list's own sake
	needs() uint32      // how many it must have when Trim leaves

	// enter is hold for Trim: it tries, and refuses a list that cannot be taken whole.
	enter() bool

	// take moves all slots to l, and the shard's range if it is wanted.
	take(t *trimmer[T], l *taken[T])
}
