//go:build linux

package main

import (
	"sync"

	"golang.org/x/sys/unix"
)

// bufferSize is how much of a connection is on its way back at most.
const bufferSize = 4 << 10

// operator is what a connection has in the server. Operators are recycled, with their
// buffers: one serves many connections, one after the other.
type operator struct {
	word uint64 // the user data of its events

	mu sync.Mutex // guards what follows, and the use of the descriptor

	fd       int   // -1 when the connection has ended
	idle     int64 // ends when nothing has come until then
	end      int64 // and then in any case; both in nanoseconds of the server
	buffer   []byte
	from, to int // the part of buffer that is still to be sent
}

// recycle is for the next connection: it leaves the buffer, and nothing else.
func recycle(o *operator) {
	o.fd, o.idle, o.end, o.from, o.to = -1, 0, 0, 0, 0
}

// operators is a table of operators by user data. A word names one connection, and is
// stale when that has ended.
type operators interface {
	// add gives an operator to a new connection, with its word. init fills it in before
	// anybody else looks; if init fails, it goes back.
	add(fd int, init func(o *operator) error) error

	// remove makes o's word stale, and lets o be recycled. The caller holds o.mu.
	remove(o *operator)

	// each calls f with each operator that has a connection, locked.
	each(f func(o *operator))

	// batches returns what one loop finds operators with.
	batches() batch
}

// batch is for the events that one wait returned. Between begin and end an operator that
// find returned is not recycled behind the loop's back.
type batch interface {
	begin()
	find(word uint64) *operator // locked; nil if the word is stale
	end()
}

// eventOf returns what epoll is to say of a connection, or of what has the word.
func eventOf(word uint64, events uint32) *unix.EpollEvent {
	return &unix.EpollEvent{Events: events, Fd: int32(uint32(word)), Pad: int32(word >> 32)}
}

// wordOf returns the user data of an event.
func wordOf(e *unix.EpollEvent) uint64 { return uint64(uint32(e.Pad))<<32 | uint64(uint32(e.Fd)) }
