// Command starve runs the pool where goroutines starve, and judges its refusals.
//
//	go -C bench run ./starve            # 40 seconds
//	go -C bench run ./starve -time 1m   # a minute for each subject of each run
//	go -C bench run ./starve -run 'one|guards'
//
// 64 goroutines work on two processors, beside processes that take both; on one
// processor, and on sixteen that are two; on values of a megabyte; beside ten thousand
// guards that come and go; and on a pool of one slot. Each run has three subjects that
// do the same work in turns: the pool, the pool under FIFO, and a slot map under a
// mutex. The table shows how long operations took, the longest above all, as single
// calls and as ratios to the mutex map's. A time is no verdict: a goroutine that loses
// its processor within an operation makes that operation long, whatever it is.
//
// A false refusal is one, and the program then exits with 1. An insertion may be refused
// only if that is true at some moment of its call. A tenure is the time from the call of
// an insertion that succeeds to the return of the removal of its value. The rule:
//
//   - ErrFull is true if at some moment of the call Capacity tenures were under way.
//   - ErrStalled is true where a guard was pinned at some moment of the call. In the run
//     with guards there is one always, elsewhere never.
//   - ErrExhausted is false: no slot lives that often in a run (see longest).
//   - Between rounds, when nothing is under way or pinned, the subject takes exactly
//     Capacity values, whatever happened before.
//
// The rule accuses nobody wrongly. ErrFull says that there was a moment of the call at
// which no slot was free: each was live, or in the hands of a call under way. Take that
// moment. A live slot has a tenure: its insertion has been called, and its removal has
// not returned. So has a slot in the hands of an insertion that will succeed, or of a
// removal. No other calls have slots in their hands here: an insertion that will be
// refused claims none; a slot that another goroutine reclaims counts as waiting, and not
// as used (DESIGN.md, L11); and slots are on their way from the table to a shard only
// while the pool is filled for the first time, by one goroutine. Looking values up takes
// none. So Capacity tenures were under way at that moment.
//
// Tenures and refusals are judged after the fact, by the clock readings that the figures
// need anyway, so judging disturbs nothing. What happens in a call happens between its
// readings. The second one waits for the loads and the locked instructions before it: a
// removal ends in a locked one. An insertion begins behind a locked one, which keeps its
// loads behind the first reading. The clock is the system's monotonic one, which all
// processors read alike; where readings are equal the refusal counts as true.
//
// In most runs the goroutines together cannot have Capacity tenures beside an insertion.
// No refusal is true there, and nobody need write tenures down.
//
// What this misses: in the run with one slot, a refusal beside a tenure that was not its
// reason (of refusals that are made up there, some eight in ten are found); ErrStalled
// beside guards, which may be due to any of them; and Workers, whose slots are out of
// others' reach.
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

// longest is the most that -time may be. A slot lives 2^31 times, which takes one alone
// more than seven minutes.
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
	each := set.Duration("time", 2*time.Second, "how long each subject of each run works")
	only := set.String("run", "", "a regular expression for the `names` of runs")
	set.Usage = func() {
		fmt.Fprintf(stderr, "starve runs the pool where goroutines starve, and judges its refusals.\n\nRuns:\n")
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
