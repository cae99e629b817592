//go:build linux

package main

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// judge detects that an event was handled for the wrong connection. It does not use
// operators. It asks the kernel for the cookie of a socket, which no other socket ever
// has, when the socket is registered and when it is used.
type judge struct {
	mu      sync.Mutex
	cookies map[uint64]uint64 // of the open connections, by user data

	// looked counts the events that were judged, and wrong those of another connection.
	//
	//	writers  the loops
	//	readers  the results, after the server's close
	//	moves    up by one
	//	orders   nothing: the end of a loop does
	looked, wrong atomic.Int64
}

func newJudge() *judge { return &judge{cookies: make(map[uint64]uint64)} }

func cookieOf(fd int) uint64 {
	c, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		return 0 // not a socket, or closed
	}
	return c
}

// opened is called before a descriptor is registered with that user data; closed is
// called before it is closed. A nil judge does nothing.
func (j *judge) opened(word uint64, fd int) {
	if j != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.cookies[word] = cookieOf(fd)
	}
}

func (j *judge) closed(word uint64) {
	if j != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.cookies, word)
	}
}

// meant returns the cookies of the events' connections at the time of the wait.
func (j *judge) meant(events []unix.EpollEvent, cookies []uint64) []uint64 {
	cookies = cookies[:0]
	if j != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		for i := range events {
			cookies = append(cookies, j.cookies[wordOf(&events[i])])
		}
	}
	return cookies
}

// acts is called before the i-th event is handled, with the descriptor that is used.
func (j *judge) acts(cookies []uint64, i, fd int) {
	if j != nil {
		j.looked.Add(1)
		if c := cookieOf(fd); c == 0 || c != cookies[i] {
			j.wrong.Add(1)
		}
	}
}
