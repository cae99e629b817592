package pool_test

import (
	"fmt"
	"math/rand/v2"

	"coatcheck/pool"
)

// A server lists its sessions page by page. The client sends the cursor back with its next request. Between two
// requests values may come and go, and Trim may run: what lives all the while is listed once.
func ExamplePool_IndexBound() {
	sessions := pool.Must[string](nil)
	var hs []pool.Handle[string]
	for _, name := range []string{"Ann", "Bob", "Cid", "Dee", "Eve"} {
		h, err := sessions.Insert(name)
		if err != nil {
			return
		}
		hs = append(hs, h)
	}

	for names, cursor := listFrom(sessions, 0, 2); len(names) > 0; names, cursor = listFrom(sessions, cursor, 2) {
		fmt.Println(names)
		sessions.Remove(hs[3]) // Dee leaves between two requests
	}
	// Output:
	// [Ann Bob]
	// [Cid Eve]
}

// listFrom returns up to n values, the first of which has an index of at least cursor, and the next cursor.
func listFrom(p *pool.Pool[string], cursor uint32, n int) (names []string, next uint32) {
	for ; cursor < p.IndexBound() && len(names) < n; cursor++ {
		if h, ok := p.At(cursor); ok {
			if name, ok := p.Get(h); ok { // nobody has removed it since
				names = append(names, name)
			}
		}
	}
	return names, cursor
}

// A random live value, each with the same chance. If a share s of the slots is live, the loop makes 1/s turns
// on average; after some turns without a value, range over All instead.
func ExamplePool_IndexBound_random() {
	p := pool.Must[string](nil)
	for _, name := range []string{"Ann", "Bob", "Cid"} {
		if _, err := p.Insert(name); err != nil {
			return
		}
	}
	for range 100_000 {
		h, ok := p.At(rand.Uint32N(p.IndexBound())) // the pool has had a value, so the bound is not 0
		if !ok {
			continue
		}
		_, ok = p.Get(h)
		fmt.Println(ok)
		break
	}
	// Output: true
}
