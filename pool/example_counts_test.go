package pool_test

import (
	"fmt"
	"log"
	"sync"
	"sync/atomic"

	"coatcheck/pool"
)

// How many values of each kind live: a loop over the pool would count them in O(n), and each counter here is one
// load. OnRemove finds the value as it was, also where Clear removes it.
func Example_counts() {
	type animal struct{ kind int }
	const (
		hare = iota
		fox
		kinds
	)
	var live [kinds]atomic.Int64
	animals := pool.Must(&pool.Options[animal]{
		OnInsert: func(_ pool.Handle[animal], a *animal) { live[a.kind].Add(1) },
		OnRemove: func(_ pool.Handle[animal], a *animal) { live[a.kind].Add(-1) },
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := animals.Worker()
			defer w.Close()
			for i := range 100 {
				h, err := w.Insert(animal{i % kinds})
				if err != nil {
					log.Fatal(err)
				}
				if i%4 == fox {
					w.Remove(h)
				}
			}
		}()
	}
	wg.Wait()
	fmt.Println(live[hare].Load(), live[fox].Load())
	animals.Clear()
	fmt.Println(live[hare].Load(), live[fox].Load())
	// Output:
	// 200 100
	// 0 0
}
