package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"os"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"coatcheck/examples/internal/jobs"
	"coatcheck/pool"
	"coatcheck/pool/pending"
)

const (
	seats = 256 // packages that are with workers, or wait for one, at a time
	tries = 5   // workers that may get a package, one after the other
)

// coordinator has packages checked by workers. It implements jobs.Work.
//
// A job takes a member from idle, and puts it back when it has the answer. If there is none,
// the member is lost.
type coordinator struct {
	url      string
	nc       *nats.Conn
	units    []*jobs.Unit
	deadline time.Duration
	members  *pool.Pool[*member]
	idle     chan *member // lost ones included

	// By unit: as in jobs.Checker, the scheduler orders reads and writes.
	exports [][]byte
	digests []string

	done, retried, refused atomic.Int64
	working, waiting       atomic.Int64 // nanoseconds, of the tries that were answered
}

// member is a worker. When it is lost it leaves the pool, its call fails, and its answer is
// refused. If the worker asks again, it is another member.
type member struct {
	handle pool.Handle[*member]
	inbox  string                 // of the worker, and the name of its connection
	calls  *pending.Calls[[]byte] // one at a time, with a name of its own for each try
	has    map[*jobs.Unit]bool    // what the worker was sent
}

// newCoordinator connects, for packages that jobs.Load finds.
func newCoordinator(ctx context.Context, url string, deadline time.Duration, patterns ...string) (*coordinator, error) {
	units, err := jobs.Load(ctx, patterns, os.Stderr)
	if err != nil {
		return nil, err
	}
	c := &coordinator{url: url, units: units, deadline: deadline, members: pool.Must[*member](nil)}
	c.idle, c.exports, c.digests = make(chan *member, 1024), make([][]byte, len(units)), make([]string, len(units))
	c.nc, err = connect(url, nats.DisconnectErrHandler(func(*nats.Conn, error) {
		c.lose(errors.New("the connection to the server was lost"), func(*member) bool { return true })
	}))
	if err != nil {
		return nil, err
	}
	_, err1 := c.nc.Subscribe(askSubject, c.asked)
	_, err2 := c.nc.Subscribe(answerSubject+"*.*", c.answered)
	_, err3 := c.nc.Subscribe("$SYS.ACCOUNT.*.DISCONNECT", func(m *nats.Msg) {
		var event server.DisconnectEventMsg
		if json.Unmarshal(m.Data, &event) == nil {
			c.lose(errors.New(event.Reason), func(m *member) bool { return m.inbox == event.Client.Name })
		}
	})
	return c, errors.Join(err1, err2, err3)
}

// lose removes members, and fails their calls at once.
func (c *coordinator) lose(err error, which func(*member) bool) {
	for h, at := range c.members.All() {
		if m := *at; which(m) && c.members.Remove(h) {
			m.calls.Close(fmt.Errorf("worker %s: %w", m.inbox, err))
		}
	}
}

// asked makes a worker a member, if it is none. If that fails, the worker asks again.
func (c *coordinator) asked(ask *nats.Msg) {
	for _, at := range c.members.All() {
		if (*at).inbox == ask.Reply {
			return
		}
	}
	m := &member{inbox: ask.Reply, calls: pending.Must[[]byte](nil), has: map[*jobs.Unit]bool{}}
	var err error
	if m.handle, err = c.members.Insert(m); err == nil {
		c.idle <- m
	}
}

// answered gives the call what a worker found.
func (c *coordinator) answered(m *nats.Msg) {
	var from, call uint64 // zero is refused, as all that names nothing
	_, _ = fmt.Sscanf(m.Subject, answerSubject+"%d.%d", &from, &call)
	member, ok := c.members.Get(pool.Handle[*member](from))
	accepted := ok && member.calls.Deliver(call, m.Data)
	if !accepted && len(m.Data) > 0 { // the server has none: it says that no connection has the inbox
		c.refused.Add(1)
	}
}

// Parse leaves the file to the worker that gets the package.
func (c *coordinator) Parse(*jobs.Unit, int) error { return nil }

// Check has a worker check u, and another if that is lost or late.
func (c *coordinator) Check(ctx context.Context, u *jobs.Unit) error {
	for try := 1; ; try++ {
		a, err := c.try(ctx, u, c.deadline<<(try-1))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && a.Error != "":
			return errors.New(a.Error)
		case err == nil:
			c.exports[u.Index], c.digests[u.Index] = a.Export, a.Digest
			c.done.Add(1)
			return nil
		case try == tries:
			return fmt.Errorf("package %s went to %d workers in vain: %w", u.Path, tries, err)
		}
		c.retried.Add(1)
	}
}

// try gives u to the next idle member, and waits for the answer.
func (c *coordinator) try(ctx context.Context, u *jobs.Unit, deadline time.Duration) (a answer, err error) {
	var m *member
	var call pending.Call[[]byte]
	for call.ID() == 0 {
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case m = <-c.idle:
			call, _ = m.calls.Start() // refused if the member is lost
		}
	}
	begun := time.Now()
	o, err := c.order(m, u)
	if err == nil {
		err = c.nc.PublishRequest(m.inbox, fmt.Sprintf("%s%d.%d", answerSubject, uint64(m.handle), call.ID()), encode(o))
	}
	if err != nil { // so it would be with another worker
		return answer{Error: fmt.Sprintf("package %s: %v", u.Path, err)}, nil
	}
	ctx, stop := context.WithTimeout(ctx, deadline)
	defer stop()
	data, err := call.Wait(ctx)
	if err == nil {
		err = decode(data, &a)
	}
	if err != nil {
		c.lose(err, func(other *member) bool { return other == m })
		return a, err
	}
	c.waiting.Add(int64(time.Since(begun)))
	c.working.Add(int64(a.Took))
	c.idle <- m
	return a, nil
}

// order makes the order to check u for a member.
func (c *coordinator) order(m *member, u *jobs.Unit) (o order, err error) {
	o = order{u.Path, build.Default.GOARCH, u.Files, make([][]byte, len(u.Files)), map[string][]byte{}, map[string]string{}}
	for i, file := range u.Files {
		if o.Sources[i], err = os.ReadFile(file); err != nil {
			return o, err
		}
	}
	for spelt, v := range u.BySpell {
		o.Imports[spelt] = v.Path
		if !m.has[v] {
			o.Packages[v.Path], m.has[v] = c.exports[v.Index], true
		}
	}
	return o, nil
}
