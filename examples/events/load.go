//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	messageSize = 64
	patience    = 10 * time.Second // the longest wait for an answer
)

// client is a connection to the server. Its messages have a number that was drawn for it, so it
// recognizes another client's answer.
type client struct {
	net.Conn
	sent, got [messageSize]byte
}

func dial(ctx context.Context, address string) (*client, error) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn}
	binary.LittleEndian.PutUint64(c.sent[:], rand.Uint64())
	return c, nil
}

var errMixed = errors.New("an answer is another connection's")

// send sends the next message; receive waits until it comes back.
func (c *client) send() error {
	number := c.sent[8:16]
	binary.LittleEndian.PutUint64(number, binary.LittleEndian.Uint64(number)+1)
	_, err := c.Write(c.sent[:])
	return err
}

func (c *client) receive() error {
	if _, err := io.ReadFull(c, c.got[:]); err != nil {
		return err
	}
	if !bytes.Equal(c.sent[:], c.got[:]) {
		return errMixed
	}
	return nil
}

func (c *client) ask() error {
	if err := c.send(); err != nil {
		return err
	}
	return c.receive()
}

// steady is a load of that many connections, each of which sends a message when it has
// its answer. It returns the times of all answers, sorted. A slow server gets fewer requests,
// so the times are those of this load, not of one that arrives by itself.
func steady(ctx context.Context, address string, conns int, warm, length time.Duration) ([]time.Duration, error) {
	times := make([][]time.Duration, conns)
	group, ctx := errgroup.WithContext(ctx)
	begin := time.Now().Add(warm)
	end := begin.Add(length)
	for i := range times {
		group.Go(func() error {
			c, err := dial(ctx, address)
			if err != nil {
				return err
			}
			defer c.Close()
			_ = c.SetDeadline(end.Add(patience))
			for at := time.Now(); at.Before(end) && ctx.Err() == nil; {
				if err := c.ask(); err != nil {
					return err
				}
				now := time.Now()
				if at.After(begin) {
					times[i] = append(times[i], now.Sub(at))
				}
				at = now
			}
			return context.Cause(ctx)
		})
	}
	err := group.Wait()
	all := slices.Concat(times...)
	slices.Sort(all)
	return all, err
}

// dying is a load of connections that die while the server handles their events: by a
// reset right after a message, by a reset after some answers, or by the server's deadline
// while they send. It ends after that many deaths.
func dying(ctx context.Context, address string, conns, deaths int) error {
	group, ctx := errgroup.WithContext(ctx)
	var begun atomic.Int64 // the connections so far, those under way included
	for i := range conns {
		group.Go(func() error {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			for ctx.Err() == nil && begun.Add(1) <= int64(deaths) {
				if err := die(ctx, address, r); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
	}
	return group.Wait()
}

// die makes one connection and ends it.
func die(ctx context.Context, address string, r *rand.Rand) error {
	c, err := dial(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	_ = c.Conn.(*net.TCPConn).SetLinger(0) // a close is a reset
	const untilDeadline = 1 << 30
	for range []int{0, r.IntN(20), untilDeadline}[r.IntN(3)] {
		if err := c.ask(); err != nil {
			return ended(err)
		}
	}
	return ended(c.send())
}

// ended returns nil for an error that means that the server ended the connection.
func ended(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer for %v: %w", patience, err)
	}
	return err
}
