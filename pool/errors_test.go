//go:build !race

package pool_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
	"coatcheck/pool/table"
)

// TestErrorsNameWhose: in a program with many pools, each error names the structure and its type,
// which is the one that the caller has.
func TestErrorsNameWhose(t *testing.T) {
	type seat struct{ N int }
	full := pool.Must(&pool.Options[seat]{Capacity: 1})
	_, _ = full.Insert(seat{})
	store := dense.Must(&dense.Options[seat]{Capacity: 1})
	_, _ = store.Create(seat{})
	seats := table.Must[string, seat](table.SoA)
	var saved, savedStore, savedTable bytes.Buffer
	two := pool.Must[seat](nil)
	testkit.MustInsert(t, two, seat{})
	testkit.MustInsert(t, two, seat{})
	_, err := two.WriteTo(&saved)
	require.NoError(t, err)
	store.Refresh()
	_, err = store.WriteTo(&savedStore)
	require.NoError(t, err)
	_, err = seats.WriteTo(&savedTable)
	require.NoError(t, err)

	read := func(name string, data []byte) error {
		var err error
		switch name {
		case "pool":
			_, err = pool.ReadFrom[seat](bytes.NewReader(data), nil)
		case "dense":
			_, err = dense.ReadFrom[seat](bytes.NewReader(data), nil)
		case "table":
			_, err = seats.ReadFrom(bytes.NewReader(data))
		}
		return err
	}
	for name, do := range map[string]func() error{
		"pool: full": func() error { _, err := full.Insert(seat{}); return err },
		"pool: Capacity": func() error {
			_, err := pool.ReadFrom(bytes.NewReader(saved.Bytes()), &pool.Options[seat]{Capacity: 1})
			return err
		},
		"pool: short":    func() error { return read("pool", saved.Bytes()[:9]) },
		"pool: corrupt":  func() error { return read("pool", bytes.Repeat([]byte{1}, 100)) },
		"pool: write":    func() error { _, err := two.WriteTo(refuses{}); return err },
		"pool: type":     func() error { _, err := pool.ReadFrom[int](bytes.NewReader(saved.Bytes()), nil); return err },
		"dense: full":    func() error { _, err := store.Create(seat{}); return err },
		"dense: short":   func() error { return read("dense", savedStore.Bytes()[:20]) },
		"dense: corrupt": func() error { return read("dense", append(savedStore.Bytes()[:30:30], make([]byte, 40)...)) },
		"dense: write":   func() error { _, err := store.WriteTo(refuses{}); return err },
		"table: short":   func() error { return read("table", savedTable.Bytes()[:40]) },
		"table: corrupt": func() error { return read("table", append(savedTable.Bytes()[:25:25], make([]byte, 99)...)) },
		"table: write":   func() error { _, err := seats.WriteTo(refuses{}); return err },
	} {
		err := do()
		require.Error(t, err, name)
		whose := map[string]string{"pool": "Pool[pool_test.seat]", "dense": "Store[pool_test.seat]", "table": "Table[string, pool_test.seat]"}[strings.Split(name, ":")[0]]
		if name == "pool: type" {
			whose = "Pool[int]"
		}
		require.Contains(t, err.Error(), "; "+whose, name)
		require.Equal(t, 1, strings.Count(err.Error(), "; "+whose), name)
		for _, other := range []string{"Pool[", "Store[", "Table["} {
			if !strings.HasPrefix(whose, other) {
				require.NotContains(t, err.Error(), other, name)
			}
		}
	}
}

type refuses struct{}

func (refuses) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }
