//go:build !race

package pool_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// drawnReplay is a program of drawn calls of one goroutine on a pool with Origin and one shard. It
// returns what the calls returned. If clears is true, the collector's part is done between them;
// depth is how deep in the stack it runs.
func drawnReplay(seed uint64, clears bool, depth int) (log []string) {
	if depth > 0 {
		var frame [4096]byte
		frame[seed%4096] = 1
		log = drawnReplay(seed, clears, depth-1)
		return log[:len(log)+int(frame[seed%4096])-1]
	}
	rnd, moments := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	opts := &pool.Options[*int]{Shards: 1, Origin: 1, Reuse: pool.Reuse(rnd.IntN(2))}
	switch rnd.IntN(3) {
	case 0:
		opts.Capacity = 100 + rnd.IntN(2000)
	case 1:
		opts.MaxLimbo = 100 + rnd.IntN(2000)
	}
	p := pool.Must(opts)
	w := p.Worker()
	defer w.Close()
	byWorker := rnd.IntN(3) == 0
	var live []pool.Handle[*int]
	var guards []*pool.Guard[*int]
	var refs []*pool.Ref[*int]
	value := new(int)
	note := func(x ...any) { log = append(log, fmt.Sprint(x...)) }
	for range 400 {
		if clears && moments.IntN(3) == 0 {
			pool.ClearExpired(p)
		}
		insert, remove := p.Insert, p.Remove
		if byWorker && rnd.IntN(3) == 0 {
			insert, remove = w.Insert, w.Remove
		}
		n := 1 + rnd.IntN(1<<rnd.IntN(8))
		switch k := rnd.IntN(12); k {
		case 0, 1, 2, 3:
			for range n {
				h, err := insert(value)
				if note(h); err != nil {
					break
				}
				live = append(live, h)
			}
		case 4, 5, 6:
			for range min(n, len(live)) {
				j := rnd.IntN(len(live))
				note(remove(live[j]))
				live[j] = live[len(live)-1]
				live = live[:len(live)-1]
			}
		case 7:
			n = min(n, len(live))
			note(p.RemoveBatch(live[:n]))
			live = live[n:]
		case 8:
			if len(guards) < 50 {
				g := p.Pin()
				guards = append(guards, &g)
			}
		case 9:
			if len(guards) > 0 {
				j := rnd.IntN(len(guards))
				guards[j].Unpin()
				guards = append(guards[:j], guards[j+1:]...)
			}
		case 10:
			if len(live) > 0 && rnd.IntN(2) == 0 {
				r, _ := p.Hold(live[rnd.IntN(len(live))])
				refs = append(refs, r)
			} else if len(refs) > 0 {
				j := rnd.IntN(len(refs))
				refs[j].Release()
				refs = append(refs[:j], refs[j+1:]...)
			}
		case 11:
			switch rnd.IntN(3) {
			case 0:
				note(p.Synchronize(testkit.Done()) == nil)
			case 1:
				note(p.Trim())
			case 2:
				w.Flush()
			}
		}
	}
	return log
}

// TestDrawnReplaysAreTheSame: a program of one goroutine gets the same handles, whenever values are
// let go and wherever its stack lies.
func TestDrawnReplaysAreTheSame(t *testing.T) {
	rnd := testkit.Rand(t)
	for range testkit.Long(800) {
		seed := rnd.Uint64()
		want := drawnReplay(seed, false, 0)
		require.Equal(t, want, drawnReplay(seed, true, 0), "seed %d, with values let go", seed)
		require.Equal(t, want, drawnReplay(seed, false, 3), "seed %d, deeper in the stack", seed)
	}
}
