// Package workload holds the questions that the benchmarks answer: what programs do
// with such a store, on every peer that can do it.
package workload

import "coatcheck/bench/suite"

// All returns the questions in the order of the report.
func All() []suite.Question {
	return []suite.Question{
		pair(), churn(), read(), hot(), mix(), handoff(), burst(), sizes(), latency(),
		scalePair(), scaleRead(), scaleMix(),
		iterate(), pins(), memory(), collector(), caches(),
	}
}
