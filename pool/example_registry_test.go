package pool_test

import (
	"fmt"
	"log"
	"sync"
	"time"

	"coatcheck/pool"
)

// A registry of connections, which any goroutine may use, and one removes when they are idle.
// A goroutine may wait for the mutex of a connection that another one closes and removes. So a
// connection is used after its handle is stale, and the pool keeps pointers.
//
// "Look up, then remove if it is idle" must be one step, or a connection is closed while another
// goroutine begins to use it. DeleteFunc looks and removes in two steps. Here the connection
// itself decides, under its mutex: it is used, or closed, and never used again.
func Example_registry() {
	conns := registry{pool.Must[*connection](nil)}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	alice, err := conns.Add("alice", noon)
	if err != nil {
		log.Fatal(err)
	}
	bob, err := conns.Add("bob", noon)
	if err != nil {
		log.Fatal(err)
	}
	greet := func(name string) error {
		_, err := fmt.Println("hello,", name)
		return err
	}
	fmt.Println(conns.Use(bob, noon.Add(time.Minute), greet))
	fmt.Println("idle:", conns.CloseIdle(noon.Add(30*time.Second)))
	fmt.Println(conns.Use(alice, noon.Add(time.Minute), greet))
	// Output:
	// hello, bob
	// <nil>
	// bye, alice
	// idle: 1
	// the connection is gone
}

// registry names connections by handles.
type registry struct{ conns *pool.Pool[*connection] }

// connection is an object that goroutines share.
type connection struct {
	name string

	mu     sync.Mutex
	last   time.Time // when it was used
	closed bool
}

func (r registry) Add(name string, now time.Time) (pool.Handle[*connection], error) {
	return r.conns.Insert(&connection{name: name, last: now})
}

// Use calls f, and returns its error, unless the connection is gone. One call per connection
// runs at a time.
func (r registry) Use(h pool.Handle[*connection], now time.Time, f func(name string) error) error {
	if c, ok := r.conns.Get(h); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			c.last = now
			return f(c.name)
		}
	}
	return fmt.Errorf("the connection is gone")
}

// CloseIdle removes and closes the connections that nobody has used since a time. It returns how
// many they are. The loop holds a pin, so what may block comes after it.
func (r registry) CloseIdle(since time.Time) int {
	var idle []*connection
	for h, c := range r.conns.All() {
		if (*c).end(since) && r.conns.Remove(h) {
			idle = append(idle, *c)
		}
	}
	for _, c := range idle {
		fmt.Println("bye,", c.name) // here a real one closes its socket
	}
	return len(idle)
}

// end makes all later calls of Use fail, if the connection is idle, and reports whether it has.
func (c *connection) end(since time.Time) bool {
	if !c.mu.TryLock() {
		return false // it is in use
	}
	defer c.mu.Unlock()
	c.closed = c.closed || c.last.Before(since)
	return c.closed
}
