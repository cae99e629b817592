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
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"coatcheck/examples/internal/rounds"
)

// settings are the settings on the command line.
type settings struct {
	conns, rounds, deaths int
	length                time.Duration
}

// contestants are the two tables.
var contestants = []struct {
	name  string
	table func(int) operators
}{{"handles", newHandles}, {"by hand", newByHand}}

func main() {
	var set settings
	flag.IntVar(&set.conns, "conns", 200, "`connections` at a time")
	flag.IntVar(&set.rounds, "rounds", 7, "`rounds` of measuring, the servers in turns")
	flag.DurationVar(&set.length, "time", time.Second, "`time` of a server in a round")
	flag.IntVar(&set.deaths, "deaths", 20_000, "`connections` that die in the middle of events")
	flag.Parse()
	if flag.NArg() > 0 || set.conns < 1 || set.rounds < 1 || set.length <= 0 || set.deaths < 0 {
		fmt.Fprintln(os.Stderr, "events: one connection, one round and some time at least; and no arguments")
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
	if set.deaths == 0 {
		return nil
	}
	rows := [][]string{{fmt.Sprintf("%d connections die", set.deaths)}, {"by their deadline"}, {"events"}, {"stale, refused"}, {"looked at by the judge"}, {"another connection's"}, {"operators made"}}
	for _, c := range contestants {
		fmt.Fprintf(progress, "%s: %d connections die\n", c.name, set.deaths)
		s, err := mortal(ctx, c.table, set)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		n := &s.counts
		rows[0] = append(rows[0], c.name)
		for i, x := range []int64{n.late.Load(), n.events.Load(), n.stale.Load(), s.judge.looked.Load(), s.judge.wrong.Load(), n.buffers.Load()} {
			rows[i+1] = append(rows[i+1], fmt.Sprint(x))
		}
		if wrong := s.judge.wrong.Load(); wrong != 0 {
			return fmt.Errorf("%s: %d stale events were acted upon", c.name, wrong)
		}
	}
	fmt.Fprintln(out)
	rounds.Table(out, rows)
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

// mortal makes connections die, some of them by a deadline.
func mortal(ctx context.Context, table func(int) operators, set settings) (*server, error) {
	o := options{table: table, loops: 2, capacity: 2 * set.conns, idle: patience, life: 20 * time.Millisecond, sweep: time.Millisecond, judge: newJudge()}
	return during(o, func(s *server) error { return dying(ctx, s.address, set.conns, set.deaths) })
}

// race measures the servers alternately.
func race(ctx context.Context, set settings, out, progress io.Writer) error {
	all := make([][]*hdrhistogram.Histogram, len(contestants))
	for r := range set.rounds {
		for i := range contestants {
			at := (r + i) % len(contestants)
			o := options{table: contestants[at].table, loops: max(1, runtime.GOMAXPROCS(0)/2), // the load needs the other processors
				capacity: 2 * set.conns, idle: patience, life: time.Hour, sweep: 100 * time.Millisecond}
			_, err := during(o, func(s *server) error {
				h, err := steady(ctx, s.address, set.conns, set.length/5, set.length)
				all[at] = append(all[at], h)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", contestants[at].name, err)
			}
			fmt.Fprintf(progress, "round %d of %d, %s: %d requests\n", r+1, set.rounds, contestants[at].name, all[at][r].TotalCount())
		}
	}
	rows := [][]string{{"", contestants[0].name, contestants[1].name, "ratio, and half of the rounds"}}
	for _, f := range []struct {
		name string
		of   func(*hdrhistogram.Histogram) float64
	}{
		{"requests a second", func(h *hdrhistogram.Histogram) float64 { return float64(h.TotalCount()) / set.length.Seconds() }},
		{"p50, µs", func(h *hdrhistogram.Histogram) float64 { return float64(h.ValueAtQuantile(50)) / 1e3 }},
		{"p99, µs", func(h *hdrhistogram.Histogram) float64 { return float64(h.ValueAtQuantile(99)) / 1e3 }},
		{"p99.9, µs", func(h *hdrhistogram.Histogram) float64 { return float64(h.ValueAtQuantile(99.9)) / 1e3 }},
	} {
		row, xs := []string{f.name}, make([][]float64, len(contestants))
		for i := range contestants {
			for _, h := range all[i] {
				xs[i] = append(xs[i], f.of(h))
			}
			row = append(row, fmt.Sprintf("%.0f", rounds.Median(xs[i])))
		}
		rows = append(rows, append(row, rounds.Ratio(xs[0], xs[1])))
	}
	rounds.Table(out, rows)
	fmt.Fprintf(out, "\nMedians of %d rounds.\n", set.rounds)
	return nil
}
