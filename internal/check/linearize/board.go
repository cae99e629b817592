package linearize

import (
	"math/rand/v2"

	"go.uber.org/atomic"
)

// shown is the number of handles on the board. With fewer, threads use the same handle more
// often.
const shown = 6

// board is where threads exchange handles, live or not.
type board struct {
	places  [shown]*atomic.Uint64
	waiting *atomic.Uint64 // the handle at which a thread waits for another, or 0
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

// join returns the handle at which a thread waits, and 0 if none does. That thread continues
// at the same moment.
func (b *board) join() Handle {
	if b.waiting.Load() == 0 {
		return 0
	}
	return Handle(b.waiting.Swap(0))
}

// await returns when another thread has joined at h or waits itself, or after a moment.
// Operations take a fraction of a microsecond: by chance alone, two threads would hardly
// ever use one live handle at once.
func (b *board) await(h Handle) {
	b.waiting.Store(uint64(h))
	for range moment {
		if b.waiting.Load() != uint64(h) {
			return
		}
	}
	b.waiting.CompareAndSwap(uint64(h), 0)
}
