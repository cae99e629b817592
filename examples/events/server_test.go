//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// careless is byHand without the comparison of generations, and the control: it handles a
// stale event for the connection that has the operator now.
type careless struct{ *byHand }

func newCareless() operators { return careless{newByHand().(*byHand)} }

func (t careless) batches() batch { return t }

func (t careless) find(word uint64) *operator {
	return t.byHand.find(t.all[uint32(word)].Load().word)
}

// started returns a server for tests. It is closed at the end of the test, and must leave
// no connection.
func started(t *testing.T, o options, run bool) *server {
	if o.life == 0 {
		o.life = time.Hour
	}
	o.loops, o.judge = 1, newJudge()
	s, err := serve(o)
	require.NoError(t, err)
	if run {
		s.run()
	}
	t.Cleanup(func() {
		require.NoError(t, s.close())
		require.Empty(t, s.judge.cookies, "a connection was not closed")
	})
	return s
}

func dialled(t *testing.T, s *server) *client {
	c, err := dial(context.Background(), s.listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// eventually waits until so returns true.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	require.Eventually(t, so, patience, time.Millisecond)
}

// TestStaleEventIsRefused: one wait returns the events of two connections. The second
// connection ends before its event is handled, and a third gets its descriptor.
func TestStaleEventIsRefused(t *testing.T) {
	for _, test := range []struct {
		name         string
		table        func() operators
		stale, wrong int
	}{
		{"handles", newHandles, 1, 0},
		{"by hand", newByHand, 1, 0},
		{"careless", newCareless, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := started(t, options{table: test.table}, false)
			l := s.loopsOf[0]
			turn := func() { l.handle(l.events[:l.wait(0)]) }
			alice, bob := dialled(t, s), dialled(t, s)
			eventually(t, func() bool { turn(); return s.counts.accepted.Load() == 2 })
			require.NoError(t, alice.send())
			require.NoError(t, bob.send())
			eventually(t, func() bool { return l.wait(0) == 2 })

			carol := dialled(t, s) // its descriptor in this process, not in the server
			require.NoError(t, carol.send())
			l.batch.begin()
			ended := l.batch.find(wordOf(&l.events[1]))
			fd := ended.fd
			s.end(ended, &s.counts.late)
			ended.mu.Unlock()
			l.batch.end()
			l.accept()
			reused := false
			s.operators.each(func(o *operator) { reused = reused || o.fd == fd })
			require.True(t, reused, "no connection has descriptor %d", fd)

			l.handle(l.events[:2])
			require.EqualValues(t, test.stale, s.counts.stale.Load())
			require.EqualValues(t, test.wrong, s.judge.wrong.Load())
			turn()
			require.NoError(t, carol.receive(), "another connection's event harmed it")
		})
	}
}

func TestConnectionsDieInTheMiddleOfEvents(t *testing.T) {
	for _, c := range contestants {
		t.Run(c.name, func(t *testing.T) {
			s, err := mortal(context.Background(), c.table, settings{conns: 50, deaths: 1000})
			require.NoError(t, err)
			require.Zero(t, s.judge.wrong.Load())
			require.NotZero(t, s.judge.looked.Load())
			require.NotZero(t, s.counts.late.Load())
			require.NotZero(t, s.counts.broken.Load())
			require.Empty(t, s.judge.cookies)
			require.Zero(t, s.counts.failed.Load())
			require.Less(t, s.counts.buffers.Load(), s.counts.accepted.Load(), "no operator was recycled")
			if h, ok := s.operators.(handles); ok {
				require.Zero(t, h.pool.Len())
			}
		})
	}
}

// TestSlowReaderWaits: the server does not read from a client that does not read, and the
// client gets everything in the end.
func TestSlowReaderWaits(t *testing.T) {
	for _, c := range contestants {
		t.Run(c.name, func(t *testing.T) {
			s := started(t, options{table: c.table}, true)
			conn := dialled(t, s)
			sent := make([]byte, 16<<20) // more than sockets buffer
			_, _ = rand.NewChaCha8([32]byte{}).Read(sent)
			written := make(chan error, 1)
			go func() {
				_, err := conn.Write(sent)
				written <- err
			}()
			eventually(t, func() (full bool) {
				s.operators.each(func(o *operator) { full = full || o.to > o.from })
				return full
			})
			got := make([]byte, len(sent))
			_, err := io.ReadFull(conn, got)
			require.NoError(t, err)
			require.NoError(t, <-written)
			require.True(t, bytes.Equal(sent, got), "what was received should be what was sent")
			require.NoError(t, conn.ask(), "it waits for input again")
		})
	}
}

func TestProgram(t *testing.T) {
	var out, progress bytes.Buffer
	set := settings{conns: 10, rounds: 1, deaths: 500, length: 50 * time.Millisecond}
	require.NoError(t, run(context.Background(), set, &out, &progress))
	require.Regexp(t, `requests a second +\| +[1-9]\d* +\| +[1-9]\d* `, out.String())
	require.Regexp(t, `acted upon for another connection +\| +0 +\| +0 `, out.String())
	require.Contains(t, progress.String(), "500 connections end")
}
