package linearize

import (
	"math/rand/v2"

	"go.uber.org/atomic"
)

// shown is how many handles the board has room for. The fewer, the more threads
// meet on one handle.
const shown = 6

// board is where threads learn each other's handles, live or not.
type board struct {
	places  [shown]*atomic.Uint64
	waiting *atomic.Uint64 // the handle at which somebody waits for company, or 0
}

func newBoard() *board {
	b := &board{waiting: atomic.NewUint64(0)}
	for i := range b.places {
		b.places[i] = atomic.NewUint64(0)
	}
	return b
}

func (b *board) show(r *rand.Rand, h Handle) { b.places[r.IntN(shown)].Store(uint64(h)) }

func (b *board) look(r *rand.Rand) Handle { return Handle(b.places[r.IntN(shown)].Load()) }

// join returns the handle at which somebody waits, who then goes on at the same
// moment; 0 if nobody does.
func (b *board) join() Handle {
	if b.waiting.Load() == 0 {
		return 0
	}
	return Handle(b.waiting.Swap(0))
}

// await returns when another thread has come to try h, or after a moment; a
// second thread that waits sends the first one on. Operations take a fraction of
// a microsecond: left to chance, two threads are hardly ever at one live handle
// at once.
func (b *board) await(h Handle) {
	b.waiting.Store(uint64(h))
	for range moment {
		if b.waiting.Load() != uint64(h) {
			return
		}
		pause()
	}
	b.waiting.CompareAndSwap(uint64(h), 0)
}
