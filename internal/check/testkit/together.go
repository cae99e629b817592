package testkit

import "sync"

// Together runs f on each of n goroutines, and waits for them. They stay until all are done:
// the race detector soon forgets the accesses of a goroutine that has ended.
func Together(n int, f func(i int)) {
	var done, ended sync.WaitGroup
	done.Add(n)
	ended.Add(n)
	for i := range n {
		go func() {
			defer ended.Done()
			defer done.Wait()
			defer done.Done()
			f(i)
		}()
	}
	ended.Wait()
}
