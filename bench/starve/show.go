package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// show prints the figures as a table, and the false refusals.
func show(w io.Writer, all []figures) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "run\tsubject\toperation\tcalls\tp50\tp99\tp99.9\tp99.99\tmax\tp99.99 ÷ mutex\tmax ÷ mutex\trefused\tfalsely\t")
	for i := range all {
		f := &all[i]
		for o, took := range f.took {
			if took.TotalCount() == 0 {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t", f.run, f.subject, operationNames[o], took.TotalCount())
			for _, q := range took.ValueAtPercentilesSlice([]float64{50, 99, 99.9, 99.99}) {
				fmt.Fprintf(t, "%v\t", rounded(q))
			}
			fmt.Fprintf(t, "%v\t", rounded(took.Max()))
			if m := mutexOf(all, f.run); m != nil && m != f && m.took[o].TotalCount() > 0 {
				fmt.Fprintf(t, "%.2g\t%.2g\t", ratio(took.ValueAtQuantile(99.99), m.took[o].ValueAtQuantile(99.99)), ratio(took.Max(), m.took[o].Max()))
			} else {
				fmt.Fprint(t, "\t\t")
			}
			if o == insert {
				fmt.Fprintf(t, "%d\t%d\t", f.refused, f.false)
			} else {
				fmt.Fprint(t, "\t\t")
			}
			fmt.Fprintln(t)
		}
	}
	t.Flush()
	for i := range all {
		if f := &all[i]; f.false > 0 {
			fmt.Fprintf(w, "FALSE REFUSALS: %s, %s: %d, among them from %v to %v: %v\n", f.run, f.subject, f.false, f.example.from, f.example.to, f.example.err)
		}
	}
}

// mutexOf returns the figures of the mutex map in a run.
func mutexOf(all []figures, run string) *figures {
	for i := range all {
		if all[i].run == run && all[i].subject == baseline {
			return &all[i]
		}
	}
	return nil
}

func ratio(a, b int64) float64 { return float64(a) / float64(b) }

// rounded rounds a latency to three digits.
func rounded(ns int64) time.Duration {
	d, unit := time.Duration(ns), time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
