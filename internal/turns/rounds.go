package turns

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Pair is two contestants. Each has a figure in each round.
type Pair struct{ Of, To []float64 }

// Middle returns the round with the median ratio. Tables have the figures of this round. A reader
// who divides them finds the ratio; of the medians of each contestant he might find another.
func (p Pair) Middle() int { return p.quantile(0.5) }

// quantile returns the round whose ratio is above that part of the ratios.
func (p Pair) quantile(part float64) (round int) {
	byRatio := make([]int, len(p.Of))
	for i := range byRatio {
		byRatio[i] = i
	}
	slices.SortFunc(byRatio, func(i, j int) int { return cmp.Compare(p.ratio(i), p.ratio(j)) })
	return byRatio[int(part*float64(len(byRatio)-1)+0.5)]
}

func (p Pair) ratio(round int) float64 { return p.Of[round] / p.To[round] }

// Quartiles returns the first and the last quartile of the rounds' ratios, rounded as Ratio
// prints them.
func (p Pair) Quartiles() (low, high float64) {
	at := func(part float64) float64 { return math.Round(100*p.ratio(p.quantile(part))) / 100 }
	return at(0.25), at(0.75)
}

// Ratio formats the median of the rounds' ratios, and the quartiles if there are several rounds.
func (p Pair) Ratio() string {
	median := p.ratio(p.Middle())
	if len(p.Of) == 1 {
		return fmt.Sprintf("%.2f", median)
	}
	low, high := p.Quartiles()
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median, low, high)
}

// Caption says what is in a table of that many rounds.
func Caption(rounds int) string {
	if rounds == 1 {
		return "One round, so the figures may be noise."
	}
	return fmt.Sprintf("Of %d rounds, each row shows the one with the median ratio. In parentheses: the interquartile range of the ratios.", rounds)
}

// Loop does n operations, and cannot fail.
type Loop func(n int)

// stretches is how many times a work is timed in a round. The shortest time counts, since
// other load can only add to it.
const stretches = 5

// Times measures the works in that many rounds, each starting with the next work, in
// stretches of about this length. It returns the nanoseconds an operation for each work
// and round.
func Times(rounds int, length time.Duration, works ...Loop) [][]float64 {
	clock := func(w Loop, n int) time.Duration {
		start := time.Now()
		w(n)
		return time.Since(start)
	}
	sizes, times := make([]int, len(works)), make([][]float64, len(works))
	for i, w := range works {
		sizes[i], _ = Calibrate(length, func(n int) (int, time.Duration, error) { return n, clock(w, n), nil })
	}
	for _, i := range Order(rounds, len(works)) {
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
