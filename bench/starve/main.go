// Command starve runs the pool under starvation, and judges its refusals.
//
//	go -C bench run ./starve            # 40 seconds
//	go -C bench run ./starve -time 1m   # a minute for each subject of each run
//	go -C bench run ./starve -run 'one|guards'
//
// 64 goroutines run on two processors, beside processes that keep both busy; on one
// processor, and with GOMAXPROCS 16; with values of a megabyte; beside 10,000 guards that
// come and go; and on a pool of one slot. In each run three subjects take turns with the
// same work: the pool, the pool under FIFO, and a slot map under a mutex. The table shows
// latencies, above all the longest, and their ratios to the mutex map's. They are no
// verdict: a goroutine that is preempted within an operation makes it long.
//
// A false refusal is one, and the program exits with 1. A refusal must be true at some
// moment of its call. A tenure lasts from the call of an insertion that succeeds to the
// return of the removal of its value. The rule:
//
//   - ErrFull is true if Capacity tenures overlap at some moment of the call.
//   - ErrStalled is true if a guard is pinned at some moment of the call: always in the
//     run with guards, never in another.
//   - ErrExhausted is false: no slot uses up its generations in a run (see longest).
//   - Between rounds, with nothing under way or pinned, a subject takes exactly Capacity
//     values.
//
// A refusal that the rule calls false is false. ErrFull says that at some moment of the
// call each slot was live or owned by a call. At that moment each slot has a tenure: it is
// live, or owned by an insertion that will succeed, or by a removal. No other call owns a
// slot. An insertion that will be refused owns none, and a look-up owns none. A slot that
// is being reclaimed counts as waiting (DESIGN.md, L11). Slots move from the page table to
// a shard only while one goroutine fills the pool for the first time.
//
// Judging follows each round and uses the clock readings of the latencies, so it disturbs
// nothing. The second reading of a call waits for the loads and locked instructions before
// it, and a removal ends in a locked one. A locked instruction before an insertion keeps
// its loads behind the first reading. All processors read the same monotonic clock; equal
// readings count as overlap.
//
// In most runs the goroutines cannot have Capacity tenures beside an insertion. There
// every refusal is false, and tenures are not recorded.
//
// Not found: in the run with one slot, a false refusal that overlaps a tenure by chance
// (some eight in ten made-up refusals are found); a false ErrStalled beside guards; and
// refusals due to Workers, which keep slots.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// longest is the most that -time may be. Using up the 2^31 generations of a slot takes more
// than seven minutes.
const longest = 5 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var names []string
	for _, r := range runs {
		names = append(names, r.name)
	}
	each := flag.Duration("time", 2*time.Second, "how long each subject of each run takes")
	only := flag.String("run", "", "a regular expression for the names of runs: "+strings.Join(names, ", "))
	flag.Parse()
	named, err := regexp.Compile(*only)
	if err != nil || *each <= 0 || *each > longest || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "starve: -run takes a regular expression, and -time a duration up to %v\n", longest)
		os.Exit(2)
	}
	var all []figures
	for _, r := range runs {
		if ctx.Err() != nil || err != nil || !named.MatchString(r.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, r.name)
		var fs []figures
		fs, err = r.measure(ctx, *each, nil)
		all = append(all, fs...)
	}
	show(os.Stdout, all)
	if err != nil {
		fmt.Fprintf(os.Stderr, "starve: %v\n", err)
	}
	if err != nil || slices.ContainsFunc(all, func(f figures) bool { return f.false > 0 }) {
		os.Exit(1)
	}
}

// show prints the figures as a table, and the false refusals.
func show(w io.Writer, all []figures) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "run\tsubject\toperation\tcalls\tp50\tp99\tp99.9\tp99.99\tmax\tp99.99 ÷ mutex\tmax ÷ mutex\trefused\tfalsely\t")
	for i := range all {
		f := &all[i]
		base := slices.IndexFunc(all, func(b figures) bool { return b.run == f.run && b.subject == baseline })
		for o, took := range f.took {
			if took.TotalCount() == 0 {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t", f.run, f.subject, operationNames[o], took.TotalCount())
			for _, q := range []float64{50, 99, 99.9, 99.99, 100} {
				fmt.Fprintf(t, "%v\t", rounded(took.ValueAtQuantile(q)))
			}
			for _, q := range []float64{99.99, 100} {
				ratio := ""
				if base >= 0 && base != i && all[base].took[o].TotalCount() > 0 {
					ratio = fmt.Sprintf("%.2g", float64(took.ValueAtQuantile(q))/float64(all[base].took[o].ValueAtQuantile(q)))
				}
				fmt.Fprintf(t, "%s\t", ratio)
			}
			if o == insert {
				fmt.Fprintf(t, "%d\t%d\t\n", f.refused, f.false)
			} else {
				fmt.Fprint(t, "\t\t\n")
			}
		}
	}
	t.Flush()
	for i := range all {
		if f := &all[i]; f.false > 0 {
			fmt.Fprintf(w, "FALSE REFUSALS: %s, %s: %d, among them from %v to %v: %v\n", f.run, f.subject, f.false, f.example.from, f.example.to, f.example.err)
		}
	}
}

// rounded rounds a latency to three digits.
func rounded(ns int64) time.Duration {
	d, unit := time.Duration(ns), time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
