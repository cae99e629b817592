package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// In a pool with a Capacity, Reservations of all slots meet each value that Reset has kept, once.
func TestReservationsMeetWhatResetKept(t *testing.T) {
	const n = 3000
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{n, 2 * n} {
			for _, shards := range []int{1, 8} {
				p := pool.Must(&pool.Options[object]{Reuse: reuse, Capacity: capacity, Shards: shards, Reset: resetObject})
				testkit.Together(4, func(k int) {
					var hs []pool.Handle[object]
					for range n / 4 {
						h, _ := p.InsertFunc(func(_ pool.Handle[object], v *object) { v.buf = append(v.buf, 1) })
						hs = append(hs, h)
					}
					p.RemoveBatch(hs)
				})
				require.NoError(t, p.Synchronize(t.Context()))
				kept := 0
				_, values := pool.Image(p)
				for _, v := range values {
					if v.buf != nil {
						kept++
					}
				}
				require.Positive(t, kept)
				var vacant []*pool.Reservation[object]
				for {
					r, err := p.Reserve()
					if err != nil {
						require.ErrorIs(t, err, pool.ErrFull)
						require.NotErrorIs(t, err, pool.ErrStalled)
						break
					}
					if v := r.Pointer(); v.buf != nil {
						v.buf = nil
						kept--
					}
					vacant = append(vacant, r)
				}
				require.Len(t, vacant, capacity)
				require.Zero(t, kept, "buffers that no Reservation has met")
				for _, r := range vacant {
					r.Cancel()
				}
				require.NoError(t, p.Synchronize(t.Context()))
				_, values = pool.Image(p)
				for _, v := range values {
					require.Nil(t, v.buf)
				}
			}
		}
	}
}
