// Package figures lists the figures of a pool that are no counts of slots, for both
// collectors.
package figures

import "coatcheck/pool"

// Kind says what can be done with a figure.
type Kind uint8

const (
	Gauge   Kind = iota // it says something of one pool
	Sum                 // it can be added up over pools and processes
	Counter             // so it can, and it only grows
)

// Figure is a figure, with its names for Prometheus and OpenTelemetry.
type Figure struct {
	Prometheus, OpenTelemetry string // behind coatcheck_pool_ and coatcheck.pool.
	Unit                      string // in the notation of OpenTelemetry
	What                      string
	Kind                      Kind
	Of                        func(pool.Stats) float64 // whole numbers, but for gauges
}

// Slots describes the counts of package states. Their sum is what is allocated.
const Slots = "Slots that memory is held for, by what they are."

// All are the others.
var All = []Figure{
	{"capacity_slots", "slot.limit", "{slot}", "Most slots that there may be.",
		Sum, func(s pool.Stats) float64 { return float64(s.Capacity) }},
	{"memory_bytes", "memory.usage", "By", "Memory of the pool, without what values point to.",
		Sum, func(s pool.Stats) float64 { return float64(s.Bytes) }},
	{"refs", "ref.count", "{ref}", "Refs that were not released.",
		Sum, func(s pool.Stats) float64 { return float64(s.Held) }},
	{"workers", "worker.count", "{worker}", "Open Workers.",
		Sum, func(s pool.Stats) float64 { return float64(s.Workers) }},
	{"guards", "guard.count", "{guard}", "Guards that are pinned.",
		Sum, func(s pool.Stats) float64 { return float64(s.Pinned) }},
	{"oldest_pin_epochs", "oldest_pin.age", "{epoch}", "Epochs that the oldest pinned guard lies back.",
		Gauge, func(s pool.Stats) float64 { return float64(s.OldestPin) }},
	{"worn_ratio", "worn", "1", "Share of its generations that the most worn slot has used up.",
		Gauge, func(s pool.Stats) float64 { return s.Worn }},
	{"epochs_total", "epochs", "{epoch}", "Epochs that have passed.",
		Counter, func(s pool.Stats) float64 { return float64(s.Epoch) }},
	{"dropped_total", "dropped", "{object}", "Reservations and Workers that were dropped and that the garbage collector gave back.",
		Counter, func(s pool.Stats) float64 { return float64(s.Dropped) }},
}
