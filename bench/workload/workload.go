// Package workload holds the questions that the benchmarks answer: what programs do
// with such a store, on every peer that can do it.
package workload

import (
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// All returns the questions in the order of the report: first programs, then what they consist of.
func All() []suite.Question {
	qs := []suite.Question{
		pair(), churn(), change(), read(), hot(), mix(), handoff(), sizes(), iterate(), memory(), collector(), calls(), others(),
	}
	for i := range qs {
		qs[i].Roles = roles()
	}
	return append(programs(), qs...)
}

// roles returns the roles of all contestants of all questions.
func roles() map[string]suite.Role {
	roles := map[string]suite.Role{NameLocked: suite.Floor, uncontended: suite.Floor, NamePointers: suite.Ours}
	for _, p := range peer.All[peer.Rest16]() {
		roles[p.Name] = p.Role
	}
	return roles
}
