// Package block has waits while a pool is pinned, and others.
package block

import (
	"context"
	"database/sql"
	"net"
	"net/http"
	"sync"
	"time"

	"coatcheck/pool"
)

type thing struct{ N int }

type (
	p = *pool.Pool[thing]
	h = pool.Handle[thing]
)

func underAGuard(p p, h h, ch chan int, c net.Conn, wg *sync.WaitGroup, ctx context.Context) {
	g := p.Pin()
	defer g.Unpin()
	v, _ := g.Pointer(h)
	v.N = <-ch                            // want `coatblock: a receive from a channel may block while the Guard g of line \d+ pins the pool, so no removed slot is used again: unpin before, or use Hold`
	ch <- v.N                             // want `coatblock: a send on a channel may block`
	time.Sleep(time.Second)               // want `time.Sleep may block`
	wg.Wait()                             // want `sync.WaitGroup.Wait may block`
	_, _ = c.Read(nil)                    // want `net.Conn.Read may block`
	_, _ = http.Get("http://example.com") // want `net/http.Get may block`
	_, _ = p.InsertWait(ctx, *v)          // want `InsertWait may block`
	_ = p.Synchronize(ctx)                // want `Synchronize may block`
	select {
	case <-ch: // want `a receive from a channel may block`
	case <-ctx.Done():
	}
	for range ch { // want `a loop over a channel may block`
	}
}

func onTheNetwork(p p, h h, db *sql.DB, tx *sql.Tx, rows *sql.Rows, client *http.Client, rq *http.Request, ctx context.Context) {
	g := p.Pin()
	defer g.Unpin()
	g.Pointer(h)
	_, _ = db.QueryContext(ctx, "") // want `database/sql.DB.QueryContext may block`
	_ = db.QueryRow("")             // want `database/sql.DB.QueryRow may block`
	_, _ = db.Exec("")              // want `database/sql.DB.Exec may block`
	_, _ = db.Prepare("")           // want `database/sql.DB.Prepare may block`
	_ = db.Ping()                   // want `database/sql.DB.Ping may block`
	_, _ = db.Begin()               // want `database/sql.DB.Begin may block`
	_ = rows.Next()                 // want `database/sql.Rows.Next may block`
	_ = tx.Commit()                 // want `database/sql.Tx.Commit may block`
	_ = tx.Rollback()               // want `database/sql.Tx.Rollback may block`
	_, _ = client.Do(rq)            // want `net/http.Client.Do may block`
	_, _ = net.Dial("tcp", "")      // want `net.Dial may block`
}

func inALoop(p p, ch chan int) {
	for _, v := range p.All() {
		ch <- v.N // want `a send on a channel may block while the loop of line \d+ over All pins`
	}
}

func inView(p p, h h, ch chan int) {
	p.View(h, func(v *thing) { ch <- v.N })                                      // want `a send on a channel may block while View pins`
	p.DeleteFunc(func(_ pool.Handle[thing], v *thing) bool { return <-ch == 0 }) // want `a receive from a channel may block while DeleteFunc pins`
}

func ofTheCaller(g *pool.Guard[thing], h h) {
	g.Pointer(h)
	time.Sleep(time.Second) // want `time.Sleep may block while g of the caller pins`
}

// What is right.

func underARef(p p, h h, ch chan int) {
	if r, ok := p.Hold(h); ok {
		ch <- r.Pointer().N // a Ref is for this
		time.Sleep(time.Second)
		r.Release()
	}
}

func try(p p, ch chan int, ctx context.Context) {
	g := p.Pin()
	select {
	case ch <- 1:
	default:
	}
	g.Unpin()
	<-ctx.Done()
	for _, v := range p.All() {
		v.N++
	}
	<-ch
}

func forkJoin(p p, hs []h) {
	g := p.Pin()
	var wg sync.WaitGroup
	for _, h := range hs {
		wg.Go(func() {
			if v, ok := g.Pointer(h); ok {
				v.N++
			}
		})
	}
	wg.Wait()
	g.Unpin()
}

type job struct{ g *pool.Guard[thing] }

func (j job) run() { j.g.Pointer(0) }

func jobs(p p) {
	g := p.Pin()
	var wg sync.WaitGroup
	for _, j := range []job{{&g}, {&g}} {
		wg.Go(j.run)
	}
	wg.Wait()
	g.Unpin()
}
