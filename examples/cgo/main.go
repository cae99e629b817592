// Command cgo gives Go values to C by handles. First C is a library of timers, whose
// sessions end before their timers fire. Then C calls back a million times, for a table
// of the costs beside runtime/cgo.Handle.
//
//	go -C examples/cgo run .
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
	"time"

	"coatcheck/internal/turns"
)

func main() {
	most := flag.Int("rounds", 21, "measuring `rounds`; 0: the timers only")
	flag.Parse()
	demonstrate()
	if *most > 0 {
		measure(*most)
	}
}

func measure(most int) {
	fmt.Printf("\nNanoseconds of a call from C to Go, by how many names are live and how many goroutines call.\n%s, %d processors. %s\n\n", runtime.Version(), runtime.GOMAXPROCS(0), turns.Caption(most))
	rows := [][]string{{"a call that", "live", "goroutines"}}
	for _, s := range sides {
		rows[0] = append(rows[0], s.name)
	}
	rows[0] = append(rows[0], "Handle to runtime/cgo", "Table to runtime/cgo")
	for _, live := range []int{1, 100, 10_000, 1_000_000} {
		for _, goroutines := range []int{1, 2} {
			fmt.Fprintf(os.Stderr, "measuring with %d live names and goroutines: %d\n", live, goroutines)
			looks, replaces := timesOf(most, live, goroutines)
			for op, times := range [][][]float64{looks, replaces} {
				row := []string{[]string{"looks up", "replaces"}[op], fmt.Sprint(live), fmt.Sprint(goroutines)}
				handle, table := turns.Pair{Of: times[2], To: times[1]}, turns.Pair{Of: times[3], To: times[1]}
				for _, of := range times {
					row = append(row, fmt.Sprintf("%.0f", of[handle.Middle()]))
				}
				rows = append(rows, append(row, handle.Ratio(), table.Ratio()))
			}
		}
	}
	turns.Table(os.Stdout, rows)
	fmt.Println("\nThe last two columns are ratios: below 1, the pool is faster.")
}

// timesOf measures with one number of names and one of goroutines.
func timesOf(most, live, goroutines int) (looks, replaces [][]float64) {
	var look, replace []turns.Loop
	for _, s := range sides {
		parts := s.hand(live, goroutines)
		defer s.end(parts)
		look, replace = append(look, s.calls(parts, 0)), append(replace, s.calls(parts, 1))
	}
	const length = time.Millisecond
	return turns.Times(most, length, look...), turns.Times(most, length, replace...)
}
