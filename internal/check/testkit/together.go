package testkit

import "sync"

// Together runs f on each of n goroutines, and waits for them. They stay until all are done:
// the race detector soon forgets the accesses of a goroutine that has ended. If they run out of
// Patience, it ends the tests with a dump.
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
	defer limited("a test whose goroutines run together", Patience())()
	ended.Wait()
}
