// Package testkit has helpers for the tests and benchmarks of several packages: seeds that
// can be set, streams of drawn operations beside a model, waiting for the collector, panics as
// results, memory, and benchmarks in pairs.
package testkit
