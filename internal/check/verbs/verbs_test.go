//go:build !race

package verbs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// TestTableIsWhole requires an entry for each exported method of a pool, and of the types
// that it returns. The methods named here change nothing, or are parts of other verbs.
func TestTableIsWhole(t *testing.T) {
	type T = struct{}
	others := map[string]bool{
		"Pool.Cap": true, "Pool.IndexBound": true, "Pool.Len": true, "Pool.Ptr": true, // with Stats, Grow and others
		"Pool.Worker":  true,                                                                                                                   // Open
		"Pool.WriteTo": true, "Pool.Clone": true, "Pool.Explain": true, "Pool.ExplainOpen": true, "Pool.String": true, "Ptr.MarshalText": true, // tests of their own
		"Guard.Unpin": true, "Ref.Release": true, // Unpin
		"Ref.Pointer": true, "Ref.Handle": true, "Reservation.Pointer": true, "Reservation.Handle": true,
	}
	table := verbs.Table[T]()
	for of, with := range map[string]reflect.Type{
		"Pool": reflect.TypeFor[*pool.Pool[T]](), "Worker": reflect.TypeFor[*pool.Worker[T]](), "Guard": reflect.TypeFor[*pool.Guard[T]](),
		"Ref": reflect.TypeFor[*pool.Ref[T]](), "Reservation": reflect.TypeFor[*pool.Reservation[T]](),
		"Ptr": reflect.TypeFor[pool.Ptr[T]](),
	} {
		for i := range with.NumMethod() {
			name := of + "." + with.Method(i).Name
			short := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "Pool."), "Worker."), "Reservation.")
			in := slices.ContainsFunc(table, func(v verbs.Verb[T]) bool {
				return v.Name == short && (of != "Worker" || v.Needs&verbs.Any != 0) && (of != "Reservation" || v.Needs&verbs.Reservation != 0)
			})
			switch {
			case !in && !others[name]:
				t.Errorf("no judge draws %s: enter it in Table, or name it here if it changes nothing (CONTRIBUTING.md says how)", name)
			case in && others[name]:
				t.Errorf("%s is in Table, and named here as well", name)
			}
		}
	}
}
