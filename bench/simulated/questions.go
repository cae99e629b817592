//go:build simulate

package main

import "coatcheck/bench/suite"

// questions are those of the report. The chart of docs/many-processors.md is the first.
var questions = []suite.Question{
	question("Pair", "a value is inserted and removed at once"),
	question("Churn", "one of 1,000 values of a processor's own is replaced"),
	question("Get", "one of 1,000 values that all share is looked up"),
	question("Hot", "one value is looked up by all"),
	question("Mix", "of 1,000 values that all share, 95 % of operations look one up and 5 % replace one"),
	question("Handover", "every second processor inserts, and the next one removes"),
	question("Grow", "values are inserted, and none removed"),
	question("FIFO", "a value is inserted and removed, and the slot that was removed first is reused"),
	question("Pin", "a guard is pinned and unpinned"),
	question("Guards", "every processor keeps 16 guards and renews one beside each insertion and removal"),
	question("Trim", "processors replace values while one calls Trim repeatedly"),
	question("Counter", "a counter is incremented, one for all or one for each"),
	question("Pass", "two processors increment a word in turns"),
}

func question(id, title string) suite.Question {
	return suite.Question{
		ID:    prefix + id,
		Title: "Simulated: " + title,
		About: "Simulated, not measured; see docs/many-processors.md.",
		Front: id == "Pair" || id == "Get" || id == "Mix",
		Roles: map[string]suite.Role{"pool": suite.Ours, "worker": suite.Ours, "guard": suite.Ours, "fifo": suite.Ours},
		Charts: []suite.Chart{
			{Kind: suite.Lines, Unit: "ops/s", More: true, X: "goroutines"},
			{Kind: suite.Lines, Unit: "transfers/op", X: "goroutines", Title: "Simulated: transfers of cache lines"},
		},
	}
}
