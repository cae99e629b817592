//go:build !coatcheck_debug

package pool_test

// Under the tag coatcheck_debug slots are kept from reuse, so carol gets a new connection.

import (
	"context"
	"fmt"
	"log"

	"coatcheck/pool"
)

// Connections that are kept when they are idle, and closed at the end. A connection in use is a live
// value. Reset keeps the connection of a removed one, so that a vacant slot has an idle connection,
// and the next user of the slot has it.
//
// Nothing visits vacant slots. But a Reservation is a vacant slot with what Reset left there. So
// whoever reserves all of them sees each idle connection once, while others go on.
func Example_idleConnections() {
	ctx := context.Background()
	conns := pool.Must(&pool.Options[conn]{Capacity: 100, Reset: func(c *conn) { c.user = "" }})
	use := func(user string) pool.Handle[conn] {
		h, err := conns.InsertFuncWait(ctx, func(_ pool.Handle[conn], c *conn) {
			if c.user = user; !c.connected {
				c.connected = true
				fmt.Println("connect for", user)
			}
		})
		if err != nil {
			log.Fatal(err)
		}
		return h
	}
	alice, bob := use("alice"), use("bob")
	conns.Remove(alice)
	conns.Remove(bob)
	if err := conns.Synchronize(ctx); err != nil { // what was removed is vacant then
		log.Fatal(err)
	}
	carol := use("carol") // has a connection that was idle
	fmt.Println("closed:", closeIdle(conns))
	conns.Remove(carol)
	_ = conns.Synchronize(ctx)
	fmt.Println("closed:", closeIdle(conns))
	// Output:
	// connect for alice
	// connect for bob
	// closed: 1
	// closed: 1
}

type conn struct {
	user      string
	connected bool
}

// closeIdle closes all idle connections, and returns how many there were. Workers must be closed or
// flushed before, since nobody else sees their slots. The pool must have a Capacity: without one,
// Reserve takes new memory without end.
func closeIdle(conns *pool.Pool[conn]) (closed int) {
	for {
		r, err := conns.Reserve()
		if err != nil {
			return closed // all slots are in use, or reserved here
		}
		defer r.Cancel() // after the loop
		if c := r.Pointer(); c.connected {
			*c = conn{} // where a program calls Close
			closed++
		}
	}
}
