package figures_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/internal/states"
	"coatcheck/pool/metrics/internal/figures"
)

// TestEachFigureIsCollected: each field of Stats is a figure, a state of slots, or in this list.
func TestEachFigureIsCollected(t *testing.T) {
	elsewhere := map[string]bool{
		"Allocated": true, // the sum of the states
		"OldestPin": true, // oldest_pin_seconds says it in time
	}
	typ := reflect.TypeFor[pool.Stats]()
	for i := range typ.NumField() {
		var st pool.Stats
		switch f := reflect.ValueOf(&st).Elem().Field(i); {
		case f.CanInt():
			f.SetInt(7_000_000_000)
		case f.CanUint():
			f.SetUint(7)
		default:
			f.SetFloat(0.7)
		}
		collected := false
		for _, f := range figures.All {
			collected = collected || f.Of(st) != f.Of(pool.Stats{})
		}
		for _, s := range states.All {
			collected = collected || s.Of(st) != 0
		}
		require.Equal(t, !elsewhere[typ.Field(i).Name], collected, typ.Field(i).Name)
	}
}
