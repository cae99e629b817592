// Package testkit is what the tests and benchmarks of several packages need: seeds
// that can be set, waiting for the collector, panics as results, memory, and benchmarks
// in pairs. It is for tests alone. How long tests are is for package length.
package testkit
