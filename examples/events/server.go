//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// options of a server.
type options struct {
	table func() operators
	loops int           // the number of goroutines that wait for events
	life  time.Duration // the longest life of a connection
	judge *judge        // may be nil
}

// server sends back what it receives. Clients end connections, which a loop learns from
// an event. Deadlines end them too, on another goroutine, although a loop may have events
// of theirs still to handle.
type server struct {
	options
	operators operators
	listener  *net.TCPListener
	accepting int // the listener's descriptor
	wake      int // the descriptor that ends all loops
	loopsOf   []*loop
	working   errgroup.Group
	stop      chan struct{}

	counts counts
}

// counts are the counts of a server.
//
//	writers  the loops and the sweep
//	readers  the results, after the server's close, and tests at any time
//	moves    up
//	orders   nothing, except that end counts before the client can see the end
type counts struct {
	accepted, failed   atomic.Int64 // failed: accept failed
	events, stale      atomic.Int64 // stale: refused
	buffers            atomic.Int64 // operators that were new
	gone, broken, late atomic.Int64 // ended by the client, by an error, by a deadline
}

// serve starts a server on an unused port.
func serve(o options) (*server, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	s := &server{options: o, operators: o.table(), listener: listener, wake: -1, stop: make(chan struct{})}
	raw, err := listener.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { s.accepting = int(fd) })
	}
	if err == nil {
		s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC)
	}
	for range o.loops {
		if err == nil {
			err = s.addLoop()
		}
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// run starts the server's goroutines.
func (s *server) run() {
	for _, l := range s.loopsOf {
		s.working.Go(l.run)
	}
	s.working.Go(func() error {
		tick := time.NewTicker(s.life / 20)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return nil
			case <-tick.C:
				s.expire()
			}
		}
	})
}

// expire ends the connections whose deadline has passed.
func (s *server) expire() {
	now := time.Now()
	s.operators.each(func(o *operator) {
		if now.After(o.end) {
			s.end(o, &s.counts.late)
		}
	})
}

// begin makes an operator for a descriptor. If it fails it closes the descriptor.
func (s *server) begin(fd int, l *loop) error {
	err := s.operators.add(fd, func(o *operator) error {
		o.end = time.Now().Add(s.life)
		if o.buffer == nil {
			o.buffer = make([]byte, bufferSize)
			s.counts.buffers.Add(1)
		}
		s.judge.opened(o.word, fd)
		err := l.register(unix.EPOLL_CTL_ADD, fd, o.word, unix.EPOLLIN)
		if err != nil {
			s.judge.closed(o.word)
		}
		return err
	})
	if err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	s.counts.accepted.Add(1)
	return nil
}

// end ends the connection of a locked operator. The lock excludes other uses of the
// descriptor, whose number may belong to another connection as soon as it is closed.
func (s *server) end(o *operator, why *atomic.Int64) {
	fd := o.fd
	o.fd = -1
	s.judge.closed(o.word)
	s.operators.remove(o)
	why.Add(1)         // first, so that a goroutine that sees the end of the connection sees it counted
	_ = unix.Close(fd) // removes it from its epoll
}

// close stops the server, ends all connections, and waits for that.
func (s *server) close() error {
	close(s.stop)
	_, err := unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	err = errors.Join(err, s.working.Wait())
	s.release()
	c := &s.counts
	if n := c.accepted.Load() - c.gone.Load() - c.broken.Load() - c.late.Load(); n != 0 {
		err = errors.Join(err, fmt.Errorf("%d connections are left", n))
	}
	return err
}

// release closes everything that is open. Nothing else may run.
func (s *server) release() {
	s.operators.each(func(o *operator) { s.end(o, &s.counts.gone) })
	for _, l := range s.loopsOf {
		_ = unix.Close(l.epoll)
	}
	_ = unix.Close(s.wake)
	_ = s.listener.Close()
}
