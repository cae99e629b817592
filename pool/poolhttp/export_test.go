package poolhttp

import (
	"bytes"
	"reflect"
	"time"

	"coatcheck/pool"
)

// Recorded says whether the program has the tag that records stacks.
const Recorded = recorded

// FiguresNotOnPage returns the fields of Stats that change nothing on a card.
func FiguresNotOnPage() []string {
	page := func(change func(v reflect.Value)) string {
		st := pool.Stats{Live: 3, Allocated: 1000, Capacity: 2000, Bytes: 100_000, MaxLimbo: 500, Pinned: 1}
		change(reflect.ValueOf(&st).Elem())
		var b bytes.Buffer
		if err := pageTemplate.Execute(&b, pageOf(st)); err != nil {
			panic(err)
		}
		return b.String()
	}
	missing := []string{}
	before := page(func(reflect.Value) {})
	for i := range reflect.TypeFor[pool.Stats]().NumField() {
		if before == page(func(v reflect.Value) { raise(v.Field(i)) }) {
			missing = append(missing, reflect.TypeFor[pool.Stats]().Field(i).Name)
		}
	}
	return missing
}

// raise makes a figure greater.
func raise(v reflect.Value) {
	switch {
	case v.CanInt() && v.Kind() == reflect.Int64 && v.Type().Name() == "Duration":
		v.SetInt(90_000_000_000)
	case v.CanInt():
		v.SetInt(2*v.Int() + 70)
	case v.CanUint():
		v.SetUint(v.Uint() + 70)
	default:
		v.SetFloat(0.7)
	}
}

func pageOf(st pool.Stats) page {
	var past history
	return page{Pools: []card{cardOf("name", "int", st, past.add(sampled(time.Unix(1, 0), st)))}}
}

// Entry returns the registry's entry of a name, its pool collected or not, or nil.
func Entry(name string) (e *entry) {
	registry.locked(func(entries map[string]*entry) { e = entries[name] })
	return e
}
