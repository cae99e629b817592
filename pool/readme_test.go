package pool_test

import (
	"fmt"

	"coatcheck/pool"
)

// The README's example.
func Example() {
	type Conn struct {
		Name string
		Peer pool.Handle[Conn] // a reference that cannot dangle
	}
	conns := pool.Must[Conn](nil)

	alice, _ := conns.Insert(Conn{Name: "alice"})
	bob, _ := conns.Insert(Conn{Name: "bob", Peer: alice})

	conns.View(bob, func(c *Conn) {
		peer, ok := conns.Get(c.Peer)
		fmt.Println(peer.Name, ok)
	})

	conns.Remove(alice)                         // true for exactly one caller
	_, _ = conns.Insert(Conn{Name: "carol"})    // whichever slot she gets …
	_, ok := conns.Get(conns.MustGet(bob).Peer) // … alice's handle is refused for ever
	fmt.Println(ok)
	// Output:
	// alice true
	// false
}
