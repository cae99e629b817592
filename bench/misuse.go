package main

import (
	"errors"

	"coatcheck/bench/peer"
	"coatcheck/bench/report"
)

// misuses misuses every peer, as its users may, and says what came of it.
func misuses(quick bool) (found []report.Misuse, err error) {
	for _, p := range peer.All[peer.Rest16]() {
		var f peer.Findings
		var failed error
		if quick {
			f, failed = peer.ProbeFor(p, 1<<10)
		} else {
			f, failed = peer.Probe(p)
		}
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		found = append(found, report.Misuse{
			Impl: p.Name, What: p.What,
			Stale: outcome(f.Stale), Reused: outcome(f.Reused), Revive: f.Revive,
			Double: outcome(f.Double), Late: outcome(f.Late), Other: outcome(f.Other),
			Allocs: f.Allocs, Bytes: f.Bytes,
		})
	}
	return found, err
}

func outcome(v peer.Verdict) report.Found {
	switch {
	case v == peer.Untried:
		return report.NotTried
	case v.Caught():
		return report.Caught
	}
	return report.Missed
}
