// Package poolprom collects the figures of pools for Prometheus.
//
//	poolhttp.Register("conns", conns)
//	prometheus.MustRegister(poolprom.NewCollector())
package poolprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"coatcheck/pool/internal/states"
	"coatcheck/pool/metrics/internal/figures"
	"coatcheck/pool/poolhttp"
)

// slots has a series for each state of slots.
var slots = describe("slots", figures.Slots, "state")

// descs describes figures.All.
var descs = func() (ds []*prometheus.Desc) {
	for _, f := range figures.All {
		ds = append(ds, describe(f.Prometheus, f.What))
	}
	return ds
}()

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("coatcheck_pool_"+name, help, append([]string{"pool"}, labels...), nil)
}

type collector struct{}

// NewCollector returns a collector of all pools registered with package poolhttp, present
// and future. Each series has the pool's name as the label "pool". A scrape costs one
// call of [coatcheck/pool.Pool.Stats] for each pool.
//
// The counters restart when another pool gets the name.
func NewCollector() prometheus.Collector { return collector{} }

func (collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- slots
	for _, d := range descs {
		ch <- d
	}
}

func (collector) Collect(ch chan<- prometheus.Metric) {
	for name, st := range poolhttp.All() {
		for _, s := range states.All {
			ch <- prometheus.MustNewConstMetric(slots, prometheus.GaugeValue, float64(s.Of(st)), name, s.Name)
		}
		for i, f := range figures.All {
			kind := prometheus.GaugeValue
			if f.Kind == figures.Counter || f.Kind == figures.Seconds {
				kind = prometheus.CounterValue
			}
			ch <- prometheus.MustNewConstMetric(descs[i], kind, f.Of(st), name)
		}
	}
}
