// Package poolotel observes the figures of pools with OpenTelemetry.
//
//	poolhttp.Register("conns", conns)
//	poolotel.Observe(otel.GetMeterProvider())
package poolotel

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"coatcheck/pool"
	"coatcheck/pool/internal/states"
	"coatcheck/pool/metrics/internal/figures"
	"coatcheck/pool/poolhttp"
)

// The attributes of the observations.
const (
	Name  = attribute.Key("coatcheck.pool.name")  // as registered
	State = attribute.Key("coatcheck.slot.state") // of coatcheck.pool.slot.count: "live", "free", and so on
)

const prefix = "coatcheck.pool."

// Observe makes instruments that observe all pools registered with package poolhttp,
// present and future, until the registration is unregistered. They are named
// coatcheck.pool.slot.count and so on. A figure that can be summed over pools and
// processes is an UpDownCounter, or a Counter if it only grows; the others are gauges.
//
// A collection costs one call of [pool.Pool.Stats] for each pool. The counters restart
// when another pool gets the name.
//
// If Observe is called for a provider again, the pools are observed once, until all of its
// registrations are unregistered.
func Observe(provider metric.MeterProvider) (metric.Registration, error) {
	if !reflect.TypeOf(provider).Comparable() {
		return observe(provider)
	}
	observed.Lock()
	defer observed.Unlock()
	shared := observed.providers[provider]
	if shared == nil {
		registered, err := observe(provider)
		if err != nil {
			return nil, err
		}
		shared = &observation{Registration: registered, provider: provider}
		observed.providers[provider] = shared
	}
	shared.users++
	return &user{observation: shared}, nil
}

// observed has the observations of all providers.
var observed = struct {
	sync.Mutex
	providers map[metric.MeterProvider]*observation
}{providers: map[metric.MeterProvider]*observation{}}

// observation is that of a provider, which several calls of Observe share. Two would add up.
type observation struct {
	metric.Registration
	provider metric.MeterProvider
	users    int
}

// user is what a call of Observe returns.
type user struct {
	*observation
	once sync.Once
}

// Unregister ends the observation if no other call of Observe shares it. A second one does nothing.
func (u *user) Unregister() (err error) {
	u.once.Do(func() {
		observed.Lock()
		defer observed.Unlock()
		if u.users--; u.users == 0 {
			delete(observed.providers, u.provider)
			err = u.Registration.Unregister()
		}
	})
	return err
}

func observe(provider metric.MeterProvider) (metric.Registration, error) {
	meter := provider.Meter("coatcheck/pool/metrics/poolotel")
	var (
		errs        []error
		instruments []metric.Observable
		observes    []func(o metric.Observer, name metric.MeasurementOption, st pool.Stats)
	)
	add := func(i metric.Observable, err error, observe func(o metric.Observer, name metric.MeasurementOption, st pool.Stats)) {
		errs, instruments, observes = append(errs, err), append(instruments, i), append(observes, observe)
	}
	slots, err := meter.Int64ObservableUpDownCounter(prefix+"slot.count", metric.WithUnit("{slot}"), metric.WithDescription(figures.Slots))
	add(slots, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) {
		for _, s := range states.All {
			o.ObserveInt64(slots, int64(s.Of(st)), name, metric.WithAttributes(State.String(s.Name)))
		}
	})
	for _, f := range figures.All {
		unit, description := metric.WithUnit(f.Unit), metric.WithDescription(f.What)
		if f.Kind == figures.Gauge || f.Kind == figures.Seconds {
			var i metric.Float64Observable
			var err error
			if f.Kind == figures.Gauge {
				i, err = meter.Float64ObservableGauge(prefix+f.OpenTelemetry, unit, description)
			} else {
				i, err = meter.Float64ObservableCounter(prefix+f.OpenTelemetry, unit, description)
			}
			add(i, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) {
				o.ObserveFloat64(i, f.Of(st), name)
			})
			continue
		}
		var i metric.Int64Observable
		var err error
		if f.Kind == figures.Counter {
			i, err = meter.Int64ObservableCounter(prefix+f.OpenTelemetry, unit, description)
		} else {
			i, err = meter.Int64ObservableUpDownCounter(prefix+f.OpenTelemetry, unit, description)
		}
		add(i, err, func(o metric.Observer, name metric.MeasurementOption, st pool.Stats) {
			o.ObserveInt64(i, int64(f.Of(st)), name)
		})
	}

	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, st := range poolhttp.All() {
			attributes := metric.WithAttributes(Name.String(name))
			for _, observe := range observes {
				observe(o, attributes, st)
			}
		}
		return nil
	}, instruments...)
}
