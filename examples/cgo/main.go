// Command cgo gives Go values to C by handles. First C is a library of timers, whose
// sessions end before their timers fire. Then C calls back a million times, for a table
// of the costs beside runtime/cgo.Handle.
//
//	go -C examples/cgo run .
//	go -C examples/cgo run ./sqlite # the same for a real program: go-sqlite3
//
// All calls come from C: a loop calls back a Go function for each name, as a library
// does. Such a call costs more than most look-ups, so the table shows its cost
// separately.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"coatcheck/examples/internal/rounds"
)

func main() {
	many := flag.Int("rounds", 21, "measuring `rounds`; 0: the timers only")
	flag.Parse()
	demonstrate()
	if *many > 0 {
		measure(*many)
	}
}

func measure(many int) {
	fmt.Printf("\nns a call from C, the median of %d rounds; %s, %d processors\n\n", many, runtime.Version(), runtime.GOMAXPROCS(0))
	rows := [][]string{{"a call that", "live", "goroutines"}}
	for _, s := range sides {
		rows[0] = append(rows[0], s.name)
	}
	rows[0] = append(rows[0], "Handle to runtime/cgo", "Table to runtime/cgo")
	var chart []string
	for _, live := range []int{1, 100, 10_000, 1_000_000} {
		for _, goroutines := range []int{1, 2} {
			fmt.Fprintf(os.Stderr, "%d live, %d at a time …\n", live, goroutines)
			looks, replaces := timesOf(many, live, goroutines)
			for op, times := range [][][]float64{looks, replaces} {
				row := []string{[]string{"looks up", "replaces"}[op], fmt.Sprint(live), fmt.Sprint(goroutines)}
				for _, of := range times {
					row = append(row, fmt.Sprintf("%.0f", rounds.Median(of)))
				}
				rows = append(rows, append(row, rounds.Ratio(times[2], times[1]), rounds.Ratio(times[3], times[1])))
				if goroutines == 1 {
					chart = append(chart, fmt.Sprintf("\n%s, among %s", row[0], row[1]))
					chart = append(chart, bars(times)...)
				}
			}
		}
	}
	rounds.Table(os.Stdout, rows)
	fmt.Println("\nIn parentheses: the quartiles over the rounds. Below 1 the pool is ahead.\n\nns that a name adds to the call, one goroutine")
	for _, line := range chart {
		fmt.Println(line)
	}
}

// timesOf measures with one number of names and one of goroutines.
func timesOf(many, live, goroutines int) (looks, replaces [][]float64) {
	var look, replace []rounds.Work
	for _, s := range sides {
		parts := s.hand(live, goroutines)
		defer s.end(parts)
		look, replace = append(look, s.look(parts)), append(replace, s.replace(parts))
	}
	const length = time.Millisecond
	return rounds.Times(many, length, look...), rounds.Times(many, length, replace...)
}

// bars returns a line for each side but the first, which is subtracted from the others.
func bars(times [][]float64) (lines []string) {
	var more []float64
	for _, of := range times {
		more = append(more, rounds.Median(of)-rounds.Median(times[0]))
	}
	for i := 1; i < len(sides); i++ {
		lines = append(lines, fmt.Sprintf("  %-12s%5.0f %s", sides[i].name, more[i], rounds.Bar(more[i], slices.Max(more))))
	}
	return lines
}
