// Package poolprom collects the figures of pools for Prometheus.
//
//	poolhttp.Register("conns", conns)
//	prometheus.MustRegister(poolprom.NewCollector())
package poolprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

// slots has a series for each state. Their sum is what is allocated.
var slots = describe("slots", "Slots that memory is held for, by what they are.", "state")

var states = []struct {
	name string
	of   func(pool.Stats) int
}{
	{"live", func(s pool.Stats) int { return s.Live }},
	{"free", func(s pool.Stats) int { return s.Free }},
	{"limbo", func(s pool.Stats) int { return s.Limbo }},
	{"cached", func(s pool.Stats) int { return s.Cached }},
	{"reserved", func(s pool.Stats) int { return s.Reserved }},
	{"exhausted", func(s pool.Stats) int { return s.Exhausted }},
}

var metrics = []struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(pool.Stats) float64
}{
	{describe("capacity_slots", "Most slots that there may be."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return float64(s.Capacity) }},
	{describe("memory_bytes", "Memory of the pool, without what values point to."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return float64(s.Bytes) }},
	{describe("worn_ratio", "Share of its generations that the most worn slot has used up."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return s.Worn }},
	{describe("refs", "Refs that were not released."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return float64(s.Held) }},
	{describe("workers", "Open Workers."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return float64(s.Workers) }},
	{describe("guards", "Guards that are pinned."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return float64(s.Pinned) }},
	{describe("oldest_pin_epochs", "Epochs that the oldest pinned guard lies back."),
		prometheus.GaugeValue, func(s pool.Stats) float64 { return float64(s.OldestPin) }},
	{describe("epochs_total", "Epochs that have passed."),
		prometheus.CounterValue, func(s pool.Stats) float64 { return float64(s.Epoch) }},
	{describe("dropped_total", "Reservations and Workers that were dropped and that the garbage collector gave back."),
		prometheus.CounterValue, func(s pool.Stats) float64 { return float64(s.Dropped) }},
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("coatcheck_pool_"+name, help, append([]string{"pool"}, labels...), nil)
}

type collector struct{}

// NewCollector returns a collector of all pools that are registered with package
// poolhttp, those included that will be. Each series has the pool's name as the label
// "pool". A scrape costs one call of [pool.Pool.Stats] for each pool.
//
// The counters begin anew when another pool gets the name.
func NewCollector() prometheus.Collector { return collector{} }

func (collector) Describe(to chan<- *prometheus.Desc) {
	to <- slots
	for _, m := range metrics {
		to <- m.desc
	}
}

func (collector) Collect(to chan<- prometheus.Metric) {
	for name, st := range poolhttp.All() {
		for _, s := range states {
			to <- prometheus.MustNewConstMetric(slots, prometheus.GaugeValue, float64(s.of(st)), name, s.name)
		}
		for _, m := range metrics {
			to <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(st), name)
		}
	}
}
