//go:build linux

// Command events is a server on epoll whose events carry handles.
//
//	go -C examples/events run .
//
// The kernel returns user data with each event: 8 bytes that were registered with the
// descriptor. One wait returns many events. While the first of them is handled, the
// connection of another may end, at its deadline or on another goroutine. Its descriptor
// may belong to a new connection before its event is handled. That event is stale. With a
// descriptor as user data the new connection would get it; with a pointer, whatever has
// the memory now. A handle is refused.
//
// The state of a connection, its operator, is in a pool, and is recycled with its buffer:
// Options.Reset keeps the buffer, TryInsertFunc finds it. A guard is pinned while the
// events of one wait are handled, so no operator is recycled during a loop. The same
// server runs with pointers and generations by hand (byhand.go) for comparison.
//
// Read operator.go and server.go, loop.go for the events, handles.go and byhand.go for
// the two tables. load.go is the load, judge.go asks the kernel which connection a
// descriptor belongs to.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"time"

	"coatcheck/internal/turns"
)

// settings say how much is measured.
type settings struct {
	conns, rounds, deaths int
	length                time.Duration
}

// contestants are the two tables.
var contestants = []struct {
	name  string
	table func() operators
}{{"handles", newHandles}, {"by hand", newByHand}}

func main() {
	set := settings{conns: 200}
	flag.IntVar(&set.rounds, "rounds", 7, "`rounds` of measuring, the servers in turns")
	flag.DurationVar(&set.length, "time", time.Second, "`time` of a server in a round")
	flag.IntVar(&set.deaths, "deaths", 20_000, "`connections` that end while events of theirs wait")
	flag.Parse()
	if flag.NArg() > 0 || set.rounds < 1 || set.length <= 0 || set.deaths < 0 {
		fmt.Fprintln(os.Stderr, "events: one round and some time at least; and no arguments")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, set, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, set settings, out, progress io.Writer) error {
	fmt.Fprintf(out, "%s, %d processors, which the servers share with the load: %d connections on the loopback address, messages of %d bytes\n\n",
		runtime.Version(), runtime.GOMAXPROCS(0), set.conns, messageSize)
	if err := race(ctx, set, out, progress); err != nil {
		return err
	}
	rows := [][]string{{fmt.Sprintf("%d connections end", set.deaths)}, {"of them at their deadline"}, {"events"}, {"refused, since the connection had ended"},
		{"acted upon, and checked with the kernel"}, {"acted upon for another connection"}, {"buffers allocated"}}
	for _, c := range contestants {
		fmt.Fprintf(progress, "%s: %d connections end\n", c.name, set.deaths)
		s, err := mortal(ctx, c.table, set)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		n := &s.counts
		rows[0] = append(rows[0], c.name)
		for i, x := range []*atomic.Int64{&n.late, &n.events, &n.stale, &s.judge.looked, &s.judge.wrong, &n.buffers} {
			rows[i+1] = append(rows[i+1], fmt.Sprint(x.Load()))
		}
		if wrong := s.judge.wrong.Load(); wrong != 0 {
			return fmt.Errorf("%s: %d stale events were acted upon", c.name, wrong)
		}
	}
	fmt.Fprintln(out)
	turns.Table(out, rows)
	return nil
}

// during runs a server while f runs.
func during(o options, f func(s *server) error) (*server, error) {
	s, err := serve(o)
	if err != nil {
		return nil, err
	}
	s.run()
	err = f(s)
	return s, errors.Join(err, s.close())
}

// mortal makes connections end, some of them by a deadline.
func mortal(ctx context.Context, table func() operators, set settings) (*server, error) {
	o := options{table: table, loops: 2, life: 20 * time.Millisecond, judge: newJudge()}
	return during(o, func(s *server) error { return dying(ctx, s.listener.Addr().String(), set.conns, set.deaths) })
}

// race measures the servers alternately.
func race(ctx context.Context, set settings, out, progress io.Writer) error {
	names := []string{"requests a second", "p50, µs", "p99, µs", "p99.9, µs"}
	figuresOf := func(sorted []time.Duration) (figures []float64) {
		figures = []float64{float64(len(sorted)) / set.length.Seconds()}
		for _, part := range []float64{0.5, 0.99, 0.999} {
			at := sorted[int(part*float64(len(sorted)-1))]
			figures = append(figures, float64(at)/float64(time.Microsecond))
		}
		return figures
	}
	all := make([][2][]float64, len(names)) // by figure, contestant and round
	for r, at := range turns.Order(set.rounds, len(contestants)) {
		o := options{table: contestants[at].table, loops: max(1, runtime.GOMAXPROCS(0)/2), life: time.Hour} // the load needs the other processors
		_, err := during(o, func(s *server) error {
			times, err := steady(ctx, s.listener.Addr().String(), set.conns, set.length/5, set.length)
			if err == nil && len(times) == 0 {
				err = errors.New("no answer within the time")
			}
			if err != nil {
				return err
			}
			for f, x := range figuresOf(times) {
				all[f][at] = append(all[f][at], x)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", contestants[at].name, err)
		}
		fmt.Fprintf(progress, "round %d of %d, %s\n", r+1, set.rounds, contestants[at].name)
	}
	rows := [][]string{{"", contestants[0].name, contestants[1].name, "ratio"}}
	for f, of := range all {
		both := turns.Pair{Of: of[0], To: of[1]}
		at := both.Middle()
		rows = append(rows, []string{names[f], fmt.Sprintf("%.0f", both.Of[at]), fmt.Sprintf("%.0f", both.To[at]), both.Ratio()})
	}
	turns.Table(out, rows)
	fmt.Fprintf(out, "\n%s\n", turns.Caption(set.rounds))
	return nil
}
