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
	"time"
)

// longest is the most that -time may be. Using up the 2^31 generations of a slot takes more
// than seven minutes.
const longest = 5 * time.Minute

func main() {
	burnIfTold()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start is the program. It returns the exit status.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("starve", flag.ContinueOnError)
	set.SetOutput(stderr)
	each := set.Duration("time", 2*time.Second, "how long each subject of each run takes")
	only := set.String("run", "", "a regular expression for the `names` of runs")
	set.Usage = func() {
		fmt.Fprintf(stderr, "starve runs the pool under starvation, and judges its refusals.\n\nRuns:\n")
		for _, r := range runs {
			fmt.Fprintf(stderr, "  %-10s %s\n", r.name, r.about)
		}
		fmt.Fprintln(stderr, "\nFlags:")
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return 2
	}
	named, err := regexp.Compile(*only)
	if err != nil || *each <= 0 || *each > longest || set.NArg() > 0 {
		fmt.Fprintf(stderr, "starve: -run takes a regular expression, and -time a duration up to %v; -h lists the runs\n", longest)
		return 2
	}

	asked := slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return !named.MatchString(r.name) })
	var all []figures
	for _, r := range asked {
		if ctx.Err() != nil || err != nil {
			break
		}
		fmt.Fprintln(stderr, r.name)
		var fs []figures
		fs, err = r.measure(ctx, *each, nil)
		all = append(all, fs...)
	}
	show(stdout, all)
	if err != nil {
		fmt.Fprintf(stderr, "starve: %v\n", err)
	}
	if err != nil || slices.ContainsFunc(all, func(f figures) bool { return f.false > 0 }) {
		return 1
	}
	return 0
}
