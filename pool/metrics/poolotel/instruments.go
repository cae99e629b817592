// Package poolotel observes the figures of pools with OpenTelemetry.
//
//	poolhttp.Register("conns", conns)
//	poolotel.Observe(otel.GetMeterProvider())
package poolotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"coatcheck/pool"
	"coatcheck/pool/poolhttp"
)

// The attributes of what is observed.
const (
	Name  = attribute.Key("coatcheck.pool.name")  // as registered
	State = attribute.Key("coatcheck.slot.state") // of coatcheck.pool.slot.count: "live", "free", and so on
)

var states = []struct {
	state attribute.KeyValue
	of    func(pool.Stats) int
}{
	{State.String("live"), func(s pool.Stats) int { return s.Live }},
	{State.String("free"), func(s pool.Stats) int { return s.Free }},
	{State.String("limbo"), func(s pool.Stats) int { return s.Limbo }},
	{State.String("cached"), func(s pool.Stats) int { return s.Cached }},
	{State.String("reserved"), func(s pool.Stats) int { return s.Reserved }},
	{State.String("exhausted"), func(s pool.Stats) int { return s.Exhausted }},
}

// Observe makes instruments that observe all pools that are registered with package
// poolhttp, those included that will be, until the registration is given up. They are
// named coatcheck.pool.slot.count and so on. What can be added up over pools and
// processes is an UpDownCounter, or a Counter if it only grows; the rest are gauges.
//
// A collection costs one call of [pool.Pool.Stats] for each pool. The counters begin
// anew when another pool gets the name.
func Observe(provider metric.MeterProvider) (metric.Registration, error) {
	meter := provider.Meter("coatcheck/pool/metrics/poolotel")
	var (
		errs     []error
		all      []metric.Observable
		observes []func(o metric.Observer, name metric.MeasurementOption, st pool.Stats)
	)
	add := func(i metric.Observable, err error, observe func(o metric.Observer, name metric.MeasurementOption, st pool.Stats)) {
		errs, all, observes = append(errs, err), append(all, i), append(observes, observe)
	}
	counter := func(name, unit, what string, of func(pool.Stats) int64) {
		i, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
		add(i, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) { o.ObserveInt64(i, of(st), name) })
	}
	upDown := func(name, unit, what string, of func(pool.Stats) int64) {
		i, err := meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
		add(i, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) { o.ObserveInt64(i, of(st), name) })
	}
	gauge := func(name, unit, what string, of func(pool.Stats) float64) {
		i, err := meter.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(what))
		add(i, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) {
			o.ObserveFloat64(i, of(st), name)
		})
	}

	slots, err := meter.Int64ObservableUpDownCounter("coatcheck.pool.slot.count", metric.WithUnit("{slot}"),
		metric.WithDescription("Slots that memory is held for, by what they are."))
	add(slots, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) {
		for _, s := range states {
			o.ObserveInt64(slots, int64(s.of(st)), name, metric.WithAttributes(s.state))
		}
	})
	upDown("coatcheck.pool.slot.limit", "{slot}", "Most slots that there may be.",
		func(s pool.Stats) int64 { return int64(s.Capacity) })
	upDown("coatcheck.pool.memory.usage", "By", "Memory of the pool, without what values point to.",
		func(s pool.Stats) int64 { return s.Bytes })
	upDown("coatcheck.pool.ref.count", "{ref}", "Refs that were not released.",
		func(s pool.Stats) int64 { return int64(s.Held) })
	upDown("coatcheck.pool.worker.count", "{worker}", "Open Workers.",
		func(s pool.Stats) int64 { return int64(s.Workers) })
	upDown("coatcheck.pool.guard.count", "{guard}", "Guards that are pinned.",
		func(s pool.Stats) int64 { return int64(s.Pinned) })
	gauge("coatcheck.pool.oldest_pin.age", "{epoch}", "Epochs that the oldest pinned guard lies back.",
		func(s pool.Stats) float64 { return float64(s.OldestPin) })
	gauge("coatcheck.pool.worn", "1", "Share of its generations that the most worn slot has used up.",
		func(s pool.Stats) float64 { return s.Worn })
	counter("coatcheck.pool.epochs", "{epoch}", "Epochs that have passed.",
		func(s pool.Stats) int64 { return int64(s.Epoch) })
	counter("coatcheck.pool.dropped", "{object}", "Reservations and Workers that were dropped and that the garbage collector gave back.",
		func(s pool.Stats) int64 { return int64(s.Dropped) })

	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, st := range poolhttp.All() {
			with := metric.WithAttributes(Name.String(name))
			for _, observe := range observes {
				observe(o, with, st)
			}
		}
		return nil
	}, all...)
}
