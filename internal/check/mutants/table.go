package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const format = "%-56s %-24s %-64s %9s %5s  %s\n"

func printHead(w io.Writer) {
	fmt.Fprintf(w, format, "seed", "row, rule", "killed by", "schedules", "pre.", "time")
}

// printRow prints what became of one seed: the quickest scenario that killed it,
// the schedules and the time that it took to, and with how many preemptions.
func printRow(w io.Writer, s *seed, r *result, verbose bool) {
	if !r.killed() {
		fmt.Fprintf(w, format, s.name, s.target(), "SURVIVES", "", "", "")
		for _, v := range r.other {
			fmt.Fprintf(w, "    %s: %s: %s\n", v.name, v.kind, strings.TrimSpace(v.text))
		}
		return
	}
	for i, v := range r.kills {
		name, target := s.name, s.target()
		schedules, preemptions := fmt.Sprint(v.schedules), fmt.Sprint(v.preemptions)
		if !v.explores {
			schedules, preemptions = "", ""
		}
		if i > 0 {
			name, target = "", ""
		}
		fmt.Fprintf(w, format, name, target, v.name, schedules, preemptions, v.took)
		if verbose {
			fmt.Fprintf(w, "    %s\n", v.text)
		}
	}
	if verbose {
		fmt.Fprintf(w, "    (built in %.1fs)\n", r.build.Seconds())
	}
}

// target is what s attacks: the package, if it is not pool, or else the row, if any,
// and the rule.
func (s *seed) target() string {
	if s.in != "" {
		return strings.TrimPrefix(s.in, "pool/") + ": " + s.attacks
	}
	if s.row == 0 {
		return s.attacks
	}
	return fmt.Sprintf("%d, %s", s.row, s.attacks)
}

// printList prints the seeds, and the rows of the table.
func printList(w io.Writer, list []seed) {
	for i := range list {
		s := &list[i]
		quick := " "
		if s.quick {
			quick = "*"
		}
		fmt.Fprintf(w, "%s %-56s %-24s %s\n", quick, s.name, s.target(), strings.Join(slices.Concat(s.by, s.tests), "; "))
	}
	fmt.Fprintf(w, "\n* runs with -short\n\n")
	for i, r := range rows {
		fmt.Fprintf(w, "row %2d  %s\n", i+1, r.bug)
		if r.note != "" {
			fmt.Fprintf(w, "        %s\n", r.note)
		}
	}
}
