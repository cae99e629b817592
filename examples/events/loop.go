//go:build linux

package main

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// The words that name no connection: the zero handle, and one of a generation that no
// slot reaches.
const (
	wakeWord   = 0
	listenWord = 1<<64 - 1
)

const (
	eventsAtOnce  = 128
	acceptsAtOnce = 64 // at one event, so that other connections need not wait
)

// loop is one goroutine with an epoll and its own part of the connections.
type loop struct {
	*server
	epoll   int
	batch   batch
	events  []unix.EpollEvent
	cookies []uint64 // the judge's
	stopped bool
}

// addLoop makes a loop that accepts connections, and ends when the server does.
func (s *server) addLoop() error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	l := &loop{server: s, epoll: epoll, batch: s.operators.batches(), events: make([]unix.EpollEvent, eventsAtOnce)}
	s.loopsOf = append(s.loopsOf, l)
	return errors.Join(l.register(unix.EPOLL_CTL_ADD, s.accepting, listenWord, unix.EPOLLIN|unix.EPOLLEXCLUSIVE),
		l.register(unix.EPOLL_CTL_ADD, s.wake, wakeWord, unix.EPOLLIN))
}

// register changes the events of a descriptor in the loop's epoll.
func (l *loop) register(op, fd int, word uint64, events uint32) error {
	return unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(uint32(word)), Pad: int32(word >> 32)})
}

// run handles events until the server wakes the loop.
func (l *loop) run() error {
	timeout := -1
	for !l.stopped {
		n := l.wait(timeout)
		if timeout = 0; n == 0 {
			timeout = -1 // the next wait blocks; first yield the thread
			runtime.Gosched()
			continue
		}
		l.handle(l.events[:n])
	}
	return nil
}

// wait fills l.events and returns their number. The judge notes the connections at this
// moment: they may end before their events are handled.
func (l *loop) wait(timeout int) int {
	for {
		n, err := unix.EpollWait(l.epoll, l.events, timeout)
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				panic(err) // a bug: not an epoll descriptor
			}
			l.cookies = l.judge.meant(l.events[:n], l.cookies)
			return n
		}
	}
}

// handle handles the events of one wait. Handling one of them, here or on another
// goroutine, may end the connection of a later one, whose descriptor may then belong to a
// new connection. Such an event is stale: it is counted and ignored.
func (l *loop) handle(events []unix.EpollEvent) {
	l.counts.events.Add(int64(len(events)))
	l.batch.begin()
	for i := range events {
		switch word := wordOf(&events[i]); word {
		case wakeWord:
			l.stopped = true
		case listenWord:
			l.accept()
		default:
			o := l.batch.find(word)
			if o == nil {
				l.counts.stale.Add(1)
				continue
			}
			l.judge.acts(l.cookies, i, o.fd)
			l.echo(o)
			o.mu.Unlock()
		}
	}
	l.batch.end()
}

// accept makes an operator for each waiting connection, up to a limit.
func (l *loop) accept() {
	for range acceptsAtOnce {
		fd, _, err := unix.Accept4(l.accepting, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
			if l.begin(fd, l) != nil {
				l.counts.failed.Add(1)
			}
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
		default: // no descriptors, or no memory
			l.counts.failed.Add(1)
			time.Sleep(5 * time.Millisecond) // else every wait returns at once
			return
		}
	}
}

// echo sends the rest of the buffer, or else receives and sends. The operator is locked,
// and its descriptor is ready for one of the two, or broken.
func (l *loop) echo(o *operator) {
	waiting := o.to > o.from
	if !waiting {
		n, err := unix.Read(o.fd, o.buffer)
		switch {
		case again(err):
			return
		case err != nil:
			l.end(o, &l.counts.broken)
			return
		case n == 0:
			l.end(o, &l.counts.gone)
			return
		}
		o.from, o.to = 0, n
	}
	n, err := unix.Write(o.fd, o.buffer[o.from:o.to])
	if err != nil && !again(err) {
		l.end(o, &l.counts.broken)
		return
	}
	o.from += max(n, 0)
	// While a client does not read, the server does not read from it, so one buffer is
	// enough.
	if left := o.to > o.from; left != waiting {
		interest := uint32(unix.EPOLLIN)
		if left {
			interest = unix.EPOLLOUT
		}
		if l.register(unix.EPOLL_CTL_MOD, o.fd, o.word, interest) != nil {
			l.end(o, &l.counts.broken)
		}
	}
}

// again reports whether a call would have to wait, or was interrupted. epoll is
// level-triggered, so the event comes again.
func again(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) }
