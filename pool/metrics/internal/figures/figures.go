// Package figures lists the figures of a pool that are not counts of slots, for both
// collectors.
package figures

import "coatcheck/pool"

// Kind says how a figure can be aggregated.
type Kind uint8

const (
	Gauge   Kind = iota // not at all
	Sum                 // by summing over pools and processes
	Counter             // like Sum, and it only grows
	Seconds             // like Counter, but a time, and not a whole number
)

// Figure is a figure, with its names for Prometheus and OpenTelemetry.
type Figure struct {
	Prometheus, OpenTelemetry string // after coatcheck_pool_ and coatcheck.pool.
	Unit                      string // in the notation of OpenTelemetry
	What                      string
	Kind                      Kind
	Of                        func(pool.Stats) float64 // whole numbers, except for Gauge and Seconds
}

// Slots describes the counts of package states. Their sum is the number of allocated
// slots.
const Slots = "Slots that have memory, by state."

// All are the other figures.
var All = []Figure{
	{"capacity_slots", "slot.limit", "{slot}", "The greatest number of slots.",
		Sum, func(s pool.Stats) float64 { return float64(s.Capacity) }},
	{"memory_bytes", "memory.usage", "By", "Memory of the pool, without what values point to.",
		Sum, func(s pool.Stats) float64 { return float64(s.Bytes) }},
	{"refs", "ref.count", "{ref}", "Open Refs.",
		Sum, func(s pool.Stats) float64 { return float64(s.Held) }},
	{"workers", "worker.count", "{worker}", "Open Workers.",
		Sum, func(s pool.Stats) float64 { return float64(s.Workers) }},
	{"guards", "guard.count", "{guard}", "Guards that are pinned.",
		Sum, func(s pool.Stats) float64 { return float64(s.Pinned) }},
	{"oldest_pin_seconds", "oldest_pin.age", "s", "How long the oldest pin has lasted, at least.",
		Gauge, func(s pool.Stats) float64 { return s.PinAge.Seconds() }},
	{"limbo_limit_slots", "limbo.limit", "{slot}", "Slots in limbo at which insertions that need new memory are refused.",
		Sum, func(s pool.Stats) float64 { return float64(s.MaxLimbo) }},
	{"inserted_total", "inserted", "{value}", "Values that ever went live, and those that a snapshot brought.",
		Counter, func(s pool.Stats) float64 { return float64(s.Inserted) }},
	{"refused_full_total", "refused.full", "{insertion}", "Insertions that were refused because all slots were in use.",
		Counter, func(s pool.Stats) float64 { return float64(s.RefusedFull) }},
	{"refused_stalled_total", "refused.stalled", "{insertion}", "Insertions that were refused because slots waited for guards or Refs.",
		Counter, func(s pool.Stats) float64 { return float64(s.RefusedStalled) }},
	{"refused_exhausted_total", "refused.exhausted", "{insertion}", "Insertions that were refused because all slots were exhausted.",
		Counter, func(s pool.Stats) float64 { return float64(s.RefusedExhausted) }},
	{"waiting_calls", "waiting.count", "{call}", "Calls that wait for a slot now.",
		Sum, func(s pool.Stats) float64 { return float64(s.Waiting) }},
	{"waited_total", "waited", "{call}", "Calls that have waited for a slot.",
		Counter, func(s pool.Stats) float64 { return float64(s.Waited) }},
	{"waited_seconds_total", "waited.time", "s", "How long calls have waited for slots, together.",
		Seconds, func(s pool.Stats) float64 { return s.WaitedFor.Seconds() }},
	{"worn_ratio", "worn", "1", "Share of its generations that the most worn slot has used up.",
		Gauge, func(s pool.Stats) float64 { return s.Worn }},
	{"epochs_total", "epochs", "{epoch}", "Epochs that have passed.",
		Counter, func(s pool.Stats) float64 { return float64(s.Epoch) }},
	{"dropped_total", "dropped", "{object}", "Reservations and Workers that were dropped and closed by the garbage collector.",
		Counter, func(s pool.Stats) float64 { return float64(s.Dropped) }},
}
