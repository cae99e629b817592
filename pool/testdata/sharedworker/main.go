// Command sharedworker uses one Worker from two goroutines at once, which it must not.
package main

import "coatcheck/pool"

func main() {
	w := pool.Must[[4]int](nil).Worker()
	use := func() {
		for range 100_000_000 {
			if h, err := w.Insert([4]int{}); err == nil {
				w.Remove(h)
			}
		}
	}
	go use()
	use()
}
