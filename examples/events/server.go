//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// options of a server.
type options struct {
	table    func(capacity int) operators
	loops    int           // that many goroutines wait for events
	capacity int           // connections at a time; more are turned away
	idle     time.Duration // a connection that sends nothing for so long is ended
	life     time.Duration // and one that has lived so long, whatever it does
	sweep    time.Duration // deadlines are looked at so often
	judge    *judge        // may be nil
}

// server sends back what it receives. Its connections are ended by their clients, which
// a loop learns from an event, and by their deadlines, at which another goroutine ends
// them, whatever events of theirs a loop has still to look at.
type server struct {
	options
	operators operators
	address   netip.AddrPort
	begun     time.Time
	loopsOf   []*loop
	working   sync.WaitGroup
	stop      chan struct{}

	live atomic.Int64 // connections

	counts counts
}

// counts of what a server did.
type counts struct {
	accepted, turnedAway, failed atomic.Int64 // failed: accepting did
	events, stale                atomic.Int64 // stale: refused
	buffers                      atomic.Int64 // operators that were new
	gone, broken, late           atomic.Int64 // ended by the client, by an error, by a deadline
}

// serve starts a server on a port of its own.
func serve(o options) (*server, error) {
	s := &server{options: o, operators: o.table(o.capacity), begun: time.Now(), stop: make(chan struct{}),
		address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)}
	for range o.loops {
		l, err := s.newLoop()
		if err != nil {
			s.release()
			return nil, err
		}
		s.loopsOf = append(s.loopsOf, l)
	}
	return s, nil
}

// run starts the server's goroutines.
func (s *server) run() {
	s.working.Add(1 + len(s.loopsOf))
	for _, l := range s.loopsOf {
		go func() {
			defer s.working.Done()
			l.run()
		}()
	}
	go func() {
		defer s.working.Done()
		tick := time.NewTicker(s.sweep)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				s.expire()
			}
		}
	}()
}

// now is the server's time.
func (s *server) now() int64 { return int64(time.Since(s.begun)) }

// expire ends the connections whose deadline has passed.
func (s *server) expire() {
	now := s.now()
	s.operators.each(func(o *operator) {
		if now >= min(o.idle, o.end) {
			s.end(o, &s.counts.late)
		}
	})
}

// begin makes an operator for a descriptor, which it closes if it fails.
func (s *server) begin(fd, epoll int) error {
	if s.live.Add(1) > int64(s.capacity) {
		s.live.Add(-1)
		s.counts.turnedAway.Add(1)
		return unix.Close(fd)
	}
	err := s.operators.add(fd, func(o *operator) error {
		now := s.now()
		o.idle, o.end = now+int64(s.idle), now+int64(s.life)
		if o.buffer == nil {
			o.buffer = make([]byte, bufferSize)
			s.counts.buffers.Add(1)
		}
		s.judge.opened(o.word, fd)
		err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, eventOf(o.word, unix.EPOLLIN))
		if err != nil {
			s.judge.closed(o.word)
		}
		return err
	})
	if err != nil {
		s.live.Add(-1)
		return errors.Join(err, unix.Close(fd))
	}
	s.counts.accepted.Add(1)
	return nil
}

// end ends the connection of an operator that is locked. The lock keeps everybody from
// the descriptor, whose number may be another connection's as soon as it is closed.
func (s *server) end(o *operator, why *atomic.Int64) {
	fd := o.fd
	o.fd = -1
	s.judge.closed(o.word)
	s.operators.remove(o)
	_ = unix.Close(fd) // takes it out of its epoll
	why.Add(1)
	s.live.Add(-1)
}

// close stops the server, ends all connections, and waits until that is done.
func (s *server) close() error {
	close(s.stop)
	var err error
	for _, l := range s.loopsOf {
		_, failed := unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		err = errors.Join(err, failed)
	}
	s.working.Wait()
	s.release()
	if n := s.live.Load(); n != 0 {
		err = errors.Join(err, fmt.Errorf("%d connections are left", n))
	}
	return err
}

// release closes what is open, when nothing runs.
func (s *server) release() {
	s.operators.each(func(o *operator) { s.end(o, &s.counts.gone) })
	for _, l := range s.loopsOf {
		l.release()
	}
}
