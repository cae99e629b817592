package main

import (
	"runtime"
	"sync"
	"time"
)

// gave measures how many processors the machine gives to that many goroutines: how much
// more of a loop that shares nothing they do than one does alone. On a busy machine, or
// where two processors share a core, it is less than their number, and no program can be
// faster than that by more workers. It takes a fifth of a second.
func gave(workers int) float64 {
	alone := spin()
	turns := make([]uint64, workers)
	var all sync.WaitGroup
	for i := range turns {
		all.Add(1)
		go func() {
			defer all.Done()
			turns[i] = spin()
		}()
	}
	all.Wait()
	sum := uint64(0)
	for _, n := range turns {
		sum += n
	}
	return float64(sum) / float64(alone)
}

// spin returns how many turns of a loop a goroutine does in a tenth of a second.
func spin() (turns uint64) {
	x := uint64(1)
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); turns++ {
		for range 1000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	runtime.KeepAlive(x) // or the compiler may leave the loop out
	return turns
}
