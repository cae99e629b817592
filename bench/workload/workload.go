// Package workload holds the questions that the benchmarks answer: what people do
// with such a store, on every peer that can do it.
package workload

import (
	"slices"

	"coatcheck/bench/suite"
)

// All returns the questions in the order of the report.
func All() []suite.Question { return slices.Concat(operations(), lifetimes()) }
