package table_test

import (
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

var layouts = []table.Layout{table.SoA, table.AoS}

// each runs f under either layout.
func each(t *testing.T, f func(t *testing.T, l table.Layout)) {
	t.Helper()
	for _, l := range layouts {
		t.Run(l.String(), func(t *testing.T) { f(t, l) })
	}
}

// of returns an empty table.
func of[K comparable, R any](l table.Layout) *table.Table[K, R] {
	return table.Must[K, R](l)
}

// forHandles returns an empty table by handles of p.
func forHandles[R, T any](p *pool.Pool[T], l table.Layout) *table.Table[pool.Handle[T], R] {
	return table.MustForHandles[T, R](p, l)
}

// requirePanicText requires that f panics with a text of this package that contains each
// of parts.
func requirePanicText(t testing.TB, f func(), parts ...string) {
	t.Helper()
	testkit.RequirePanicText(t, f, append(parts, "table: ")...)
}

type pair struct{ A, B int }

// nested is a field that is a struct, with pointers at odd offsets.
type nested struct {
	A   uint8
	gap uint64 // not beside A: there is padding between
	S   string
	b   [3]uint16
	c   uint16 // beside b: the two are copied as one
}
