// Command remote has other processes do the jobs of examples/jobs.
//
//	go -C examples/remote run .
//
// It is the same scheduler with the same pool of jobs. But packages are type-checked by
// workers, which may be on other machines, and get all that they need over NATS. Workers are
// killed, stall, and answer late or twice, and a connection loses what was on its way. Then a
// package goes to another worker, and what the first one still says must not count.
//
// So each try is a call of pool/pending, and its name on the wire, the last part of the
// answer's subject, is a handle. A call ends once: with its answer, at its deadline, or when
// the server tells that its worker's connection has ended. An answer to a call that has ended
// is refused by its generation. Workers are values in a pool as well.
//
// By itself the program starts a server on the loopback address, and two workers. Workers on
// other machines need a server that they reach, with one coordinator for an account:
//
//	remote -nats nats://host:4222 -workers 0 std      # here
//	remote -nats nats://host:4222 -worker             # on each of the others
//
// To tell of lost workers at once, that account imports the stream $SYS.ACCOUNT.*.DISCONNECT
// from the system account. Otherwise they are lost at their deadline.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"coatcheck/examples/internal/jobs"
)

func main() {
	url := flag.String("nats", "", "`URL` of a server, instead of one of its own")
	workers := flag.Int("workers", 2, "`number` of workers to start; others may join")
	deadline := flag.Duration("deadline", 10*time.Second, "`time` after which a package goes to another worker; it doubles each time")
	worker := flag.Bool("worker", false, "be a worker; without -nats it reads the URL from its input, and ends with that")
	jobs.Main("remote", func(ctx context.Context, patterns []string) error {
		if *worker {
			return beWorker(*url)
		}
		return run(ctx, *url, *workers, *deadline, patterns)
	})
}

// patience is how long a run goes on without progress, and a worker without a coordinator.
const patience = time.Minute

// beWorker works until there is no coordinator. The input of a worker that was started by a
// coordinator ends with that, even if it is killed.
func beWorker(url string) error {
	if url == "" {
		if _, err := fmt.Scan(&url); err != nil {
			return fmt.Errorf("reading the server's URL: %w", err)
		}
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	w, err := newWorker(url)
	if err != nil {
		return err
	}
	return w.work(patience)
}

// run checks packages, and prints a summary.
func run(ctx context.Context, url string, workers int, deadline time.Duration, patterns []string) error {
	if workers < 0 {
		return fmt.Errorf("-workers is %d; want 0 or more", workers)
	}
	if url == "" {
		s, own, err := serve(config)
		if err != nil {
			return err
		}
		defer s.Shutdown()
		url = own
		fmt.Fprintln(os.Stderr, "others may join: go -C examples/remote run . -worker -nats", url)
	}
	c, err := newCoordinator(ctx, url, deadline, patterns...)
	if err != nil {
		return err
	}
	defer c.nc.Close()
	start := time.Now()
	if err := c.coordinate(ctx, workers, os.Stderr); err != nil {
		return err
	}
	traffic, mean := c.nc.Stats(), func(all int64) float64 { return float64(all) / float64(len(c.units)) / 1e6 }
	_, err = fmt.Printf(`packages            %9d  also those that have only tests
declarations         %.8s  a digest of all of them, and of their types
sent again          %9d  packages whose worker was lost or late
answers refused     %9d  late, or doubled
a package           %7.2f ms of work, and %.2f ms on the way, encoding included
sent                %7.2f MB to workers, and %.2f MB back
wall time           %7.2f s
`, len(c.units), jobs.DigestAll(c.digests), c.retried.Load(), c.refused.Load(), mean(c.working.Load()), mean(c.waiting.Load()-c.working.Load()),
		float64(traffic.OutBytes)/1e6, float64(traffic.InBytes)/1e6, time.Since(start).Seconds())
	return err
}

// config has an account for jobs, to which the server tells which of its connections end.
const config = `
listen: "127.0.0.1:-1", max_payload: 64MB, system_account: SYS
accounts {
	SYS { exports: [{stream: "$SYS.ACCOUNT.JOBS.DISCONNECT"}] }
	JOBS {
		users: [{user: jobs, password: PASSWORD}]
		imports: [{stream: {account: SYS, subject: "$SYS.ACCOUNT.JOBS.DISCONNECT"}}]
	}
}`

// serve starts a server with a password of its own, and returns its URL.
func serve(config string) (*server.Server, string, error) {
	password, o := rand.Text(), &server.Options{NoSigs: true, NoLog: true}
	if err := o.ProcessConfigString(strings.Replace(config, "PASSWORD", password, 1)); err != nil {
		return nil, "", err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, "", err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, "", errors.New("the server does not start")
	}
	return s, fmt.Sprintf("nats://jobs:%s@%s", password, s.Addr()), nil
}

// coordinate starts workers, and has all that join check the units. It fails if the workers
// have ended and no other has joined.
func (c *coordinator) coordinate(ctx context.Context, workers int, stderr io.Writer) error {
	ctx, fail := context.WithCancelCause(ctx)
	var all, shown sync.WaitGroup
	defer all.Wait()
	defer fail(nil)
	ended, done := make(chan string, workers), make(chan struct{})
	for range workers {
		w, err := startWorker(ctx, c.url, stderr)
		if err != nil {
			return err
		}
		all.Go(func() {
			_ = w.Wait()
			ended <- w.ProcessState.String()
		})
	}
	shown.Go(func() { c.watch(done, ended, fail, stderr) })
	_, err := jobs.Schedule(ctx, c.units, seats, c)
	close(done)
	shown.Wait() // before the workers are killed, whom it counts
	return err
}

// startWorker starts a worker in a process of its own, which ends with ctx.
func startWorker(ctx context.Context, url string, stderr io.Writer) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, os.Args[0], "-worker")
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, _ = fmt.Fprintln(in, url) // as an argument all users of the machine could see it
	}
	return cmd, err
}

// watch shows the progress until the run is done. It fails the run if there is no progress, or if
// all workers that were started here have ended and no other is there. Each sends on ended how
// it did.
func (c *coordinator) watch(done <-chan struct{}, ended <-chan string, fail context.CancelCauseFunc, to io.Writer) {
	show := func() {
		fmt.Fprintf(to, "\r%d of %d packages, %d workers, %d sent again, %d answers refused ",
			c.done.Load(), len(c.units), c.members.Len(), c.retried.Load(), c.refused.Load())
	}
	last, since, busy := int64(-1), time.Now(), time.Now()
	for left := cap(ended); ; {
		if n := c.done.Load(); n != last {
			last, since = n, time.Now()
		} else if time.Since(since) > patience {
			fail(fmt.Errorf("nothing was done for %v, with %d workers", patience, c.members.Len()))
		}
		show()
		select {
		case <-done:
			show()
			fmt.Fprintln(to)
			return
		case how := <-ended:
			left--
			fmt.Fprintf(to, "\na worker has ended: %s\n", how)
		case <-time.After(time.Second / 10):
		}
		if left > 0 || cap(ended) == 0 || c.members.Len() > 0 {
			busy = time.Now()
		} else if time.Since(busy) > 2*askEvery { // in which another that lost its connection asks again
			fail(fmt.Errorf("no worker is left, with %d of %d packages done", c.done.Load(), len(c.units)))
		}
	}
}
