package shard_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/length"
	"coatcheck/shard"
)

// TestRefillLosesNoSlot lets goroutines empty and refill one shard's range at
// once. Every slot must be handed out exactly once. It catches a Refill that
// looks whether the range is empty before it has the lock and not again.
func TestRefillLosesNoSlot(t *testing.T) {
	const (
		slots      = 512
		goroutines = 4
		chunk      = 4
	)
	for round, end := 0, time.Now().Add(length.Of(4*time.Second)); round < 50 || time.Now().Before(end); round++ {
		r := newRig(t, setup[uint64]{slots: slots})
		s := r.shards[0]
		var taken [slots]atomic.Uint32
		var wg sync.WaitGroup
		take := func() bool {
			_, h := s.Fresh()
			if h == 0 {
				_, h = s.Refill(chunk)
			}
			if h == 0 {
				return false
			}
			taken[shard.Low(h)].Inc()
			return true
		}
		for range goroutines {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for take() {
				}
			}()
		}
		wg.Wait()
		for take() {
		}
		for i := range taken {
			require.EqualValues(t, 1, taken[i].Load(), "slot %d, round %d: times handed out", i, round)
		}
	}
}
