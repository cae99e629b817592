//go:build !race

package cgohandle_test

import (
	"fmt"
	"os"
	"syscall"

	"coatcheck/pool"
)

// The code of docs/handles.md.

type conn struct {
	fd   int
	name string
}

// watchConn gives epoll the whole handle: eight bytes, in two fields of Go's struct.
func watchConn(epoll int, conns *pool.Pool[conn], c conn) (pool.Handle[conn], error) {
	h, err := conns.Insert(c)
	if err != nil {
		return 0, err
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(h.Index()), Pad: int32(h.Generation())}
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, c.fd, &event); err != nil {
		conns.Remove(h)
		return 0, err
	}
	return h, nil
}

// connOf returns the connection that an event is for, and false if it is gone.
func connOf(conns *pool.Pool[conn], event syscall.EpollEvent) (conn, bool) {
	h := pool.Handle[conn](uint64(uint32(event.Pad))<<32 | uint64(uint32(event.Fd)))
	return conns.Get(h)
}

func Example_epoll() {
	conns := pool.Must[conn](nil)
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer syscall.Close(epoll)
	var hs []pool.Handle[conn]
	for _, name := range []string{"alice", "bob"} {
		r, w, _ := os.Pipe()
		defer r.Close()
		defer w.Close()
		h, err := watchConn(epoll, conns, conn{int(r.Fd()), name})
		if err != nil {
			fmt.Println(err)
			return
		}
		hs = append(hs, h)
		_, _ = w.WriteString("ready")
	}

	// One wait returns both events. Handling the first one closes the second's
	// connection, whose file descriptor may belong to another by now.
	events := make([]syscall.EpollEvent, 8)
	n, _ := syscall.EpollWait(epoll, events, -1)
	for i, event := range events[:n] {
		if _, ok := connOf(conns, event); ok {
			fmt.Println("event", i, "is for a connection")
			conns.RemoveBatch(hs)
		} else {
			fmt.Println("event", i, "is too late")
		}
	}
	// Output:
	// event 0 is for a connection
	// event 1 is too late
}

// ring stands for io_uring: entries go in and completions come out with the user data
// that they went in with.
type ring struct{ queue []entry }

type entry struct{ UserData uint64 }

func (r *ring) submit(e entry)     { r.queue = append(r.queue, e) }
func (r *ring) completed() []entry { return append(r.queue, r.queue...) } // each twice

// read is an operation under way. Its entry in the pool keeps its buffer alive.
type read struct {
	file   string
	buffer []byte
}

func submitRead(r *ring, reads *pool.Pool[read], op read) (pool.Handle[read], error) {
	h, err := reads.Insert(op)
	if err == nil {
		r.submit(entry{UserData: uint64(h)})
	}
	return h, err
}

// complete ends the operation that a completion is for: once, however often it comes.
func complete(reads *pool.Pool[read], c entry) (read, bool) {
	return reads.Take(pool.Handle[read](c.UserData))
}

func Example_ioUring() {
	reads := pool.Must[read](nil)
	var r ring
	for _, file := range []string{"a", "b"} {
		if _, err := submitRead(&r, reads, read{file, make([]byte, 512)}); err != nil {
			fmt.Println(err)
		}
	}
	r.submit(entry{}) // a foreign one, without user data
	for _, c := range r.completed() {
		if op, ok := complete(reads, c); ok {
			fmt.Println("read", op.file, len(op.buffer))
		}
	}
	// Output:
	// read a 512
	// read b 512
}
