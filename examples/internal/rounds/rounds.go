// Package rounds measures contestants in alternating rounds and prints the results.
//
// Other load hits the contestants of a round alike, so the ratios of a round are more
// reliable than its times.
package rounds

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"coatcheck/internal/turns"
)

// Ratios returns the quartiles of the ratios of two contestants in each round, rounded as
// Ratio prints them.
func Ratios(of, to []float64) (low, median, high float64) {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = math.Round(100*of[i]/to[i]) / 100
	}
	slices.Sort(ratios)
	at := func(part float64) float64 { return ratios[int(part*float64(len(ratios)-1)+0.5)] }
	return at(0.25), at(0.5), at(0.75)
}

// Ratio formats the median of the ratios, and the quartiles if there are several rounds.
func Ratio(of, to []float64) string {
	low, median, high := Ratios(of, to)
	if len(of) == 1 {
		return fmt.Sprintf("%.2f", median)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median, low, high)
}

// A Work does n operations.
type Work func(n int)

// stretches is how many times a work is timed in a round. The shortest time counts, since
// other load can only add to it.
const stretches = 5

// Times measures the works in that many rounds, each starting with the next work, in
// stretches of about this length. It returns the nanoseconds an operation for each work
// and round.
func Times(rounds int, length time.Duration, works ...Work) [][]float64 {
	clock := func(w Work, n int) time.Duration {
		start := time.Now()
		w(n)
		return time.Since(start)
	}
	sizes, times := make([]int, len(works)), make([][]float64, len(works))
	for i, w := range works {
		sizes[i], _ = turns.Calibrate(length, func(n int) (int, time.Duration, error) { return n, clock(w, n), nil })
	}
	for _, i := range turns.Order(rounds, len(works)) {
		best := clock(works[i], sizes[i])
		for range stretches - 1 {
			best = min(best, clock(works[i], sizes[i]))
		}
		times[i] = append(times[i], float64(best)/float64(sizes[i]))
	}
	return times
}

// Table writes rows, the first of them the heads of the columns, as a table in aligned
// Markdown.
func Table(out io.Writer, rows [][]string) {
	aligned := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	for n, row := range rows {
		fmt.Fprintf(aligned, "| %s\t|\n", strings.Join(row, "\t| "))
		if n == 0 {
			fmt.Fprintf(aligned, "|%s\n", strings.Repeat("---\t|", len(row)))
		}
	}
	_ = aligned.Flush() // a program that cannot print cannot report that either
}
