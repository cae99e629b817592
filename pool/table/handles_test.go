package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

type handle = pool.Handle[int]

// TestPoolChangesMeanwhile: other goroutines may use the pool of a table. A handle that
// dies meanwhile is found or not, and its record is never another's.
func TestPoolChangesMeanwhile(t *testing.T) {
	type entity struct{ h handle }
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must[int](nil)
		tb := forHandles[entity](p, l)
		handles := make(chan handle, 64)
		go func() { // values come and go
			defer close(handles)
			var mine [32]handle
			for i := range testkit.Long(40_000) {
				p.Remove(mine[i%32])
				if h, err := p.Insert(i); err == nil {
					mine[i%32] = h
					handles <- h
				}
			}
		}()
		var known [16]handle
		i := 0
		for h := range handles {
			i++
			known[i%16] = h
			old := known[i*5%16]
			switch i % 4 {
			case 0:
				tb.Add(h, entity{h})
			case 1:
				before := tb.Len()
				if !tb.AddBatch([]handle{h, old}, []entity{{h}, {old}}) {
					require.Equal(t, before, tb.Len(), "a refused batch leaves records")
				}
			case 2:
				tb.Remove(old)
			}
			if r, err := tb.Copy(old); err == nil && r.h != old {
				t.Errorf("%v finds the record of %v", old, r.h)
			}
			if i%1000 == 0 {
				tb.RemoveDead()
			}
		}
		for h, r := range tb.All() {
			require.Equal(t, h, r.h)
			require.Equal(t, p.Contains(h), tb.Lookup(h).IsSet())
		}
	})
}
