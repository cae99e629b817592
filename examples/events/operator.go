//go:build linux

package main

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bufferSize is the most that a connection may have received and not sent back.
const bufferSize = 4 << 10

// operator is the server's state of a connection. Operators are recycled, with their
// buffers: one serves many connections in succession.
type operator struct {
	word uint64 // the user data of its events

	mu sync.Mutex // guards the fields below, and the use of the descriptor

	fd       int       // -1 when the connection has ended
	end      time.Time // the connection's deadline
	buffer   []byte
	from, to int // the part of buffer still to be sent
}

// recycle prepares o for the next connection: it keeps only the buffer.
func recycle(o *operator) {
	o.fd, o.end, o.from, o.to = -1, time.Time{}, 0, 0
}

// operators is a table of operators by user data. A word names one connection, and is
// stale once that has ended.
type operators interface {
	// add gives an operator, with its word, to a new connection. init fills it in before
	// it is visible; if init fails, the operator is given back.
	add(fd int, init func(o *operator) error) error

	// remove makes o's word stale, and lets o be recycled. The caller holds o.mu.
	remove(o *operator)

	// each calls f with each operator that has a connection, locked.
	each(f func(o *operator))

	// batches returns a loop's means to find operators.
	batches() batch
}

// batch is for the events that one wait returned. Between begin and end an operator that
// find returned is not recycled.
type batch interface {
	begin()
	find(word uint64) *operator // locked; nil if the word is stale
	end()
}

// wordOf returns the user data of an event.
func wordOf(e *unix.EpollEvent) uint64 { return uint64(uint32(e.Pad))<<32 | uint64(uint32(e.Fd)) }
