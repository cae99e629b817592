//go:build !race

package slots_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard/slots"
)

// TestStampListMatchesModel: it is a list, whose array is neither much too long nor longer than it need be. What was
// removed is in none.
func TestStampListMatchesModel(t *testing.T) {
	type entry = slots.Stamped[*int]
	rnd := testkit.Rand(t)
	for range testkit.Long(200) {
		var l slots.StampList[*int]
		var want []entry
		if l.Fixed = rnd.IntN(3) == 0; l.Fixed {
			l.List = make([]entry, 0, 20)
		}
		grows, room := true, cap(l.List)
		for range 600 {
			grows = grows != (rnd.IntN(150) == 0)
			stamp := rnd.Uint64N(20)
			if n := len(want); n > 0 {
				stamp += want[n-1].Stamp
			}
			longer, atFront := (rnd.IntN(8) > 0) == grows, len(l.List)
			switch e := (entry{stamp, new(int)}); rnd.IntN(6) {
			case 0, 1, 2:
				if l.Fixed && len(want) == room {
					break
				}
				if longer {
					free, before := len(l.List)-len(want), cap(l.List)
					l.Add(stamp, e.Body)
					want = append(want, e)
					require.True(t, cap(l.List) == before || free <= before/2, "%d of %d were free", free, before)
					break
				}
				k := rnd.IntN(len(want) + 1)
				if len(want) > 0 {
					e.Stamp = want[min(k, len(want)-1)].Stamp
				}
				removed := len(l.List) > len(want) // there is room before the first one
				l.Insert(k, e.Stamp, e.Body)
				want = slices.Insert(want, k, e)
				if k == 0 && removed {
					require.Len(t, l.List, atFront)
				}
			case 3:
				if !longer && len(want) > 0 {
					if k := rnd.IntN(len(want)); rnd.IntN(2) == 0 {
						l.Remove(k)
						want = slices.Delete(want, k, k+1)
					} else {
						l.RemoveFirst()
						want = want[1:]
					}
					require.True(t, l.Fixed || cap(l.List) <= max(2*slots.Batch, 4*len(want)+3), "%d of %d", len(want), cap(l.List))
				}
			case 4:
				if rnd.IntN(20) == 0 {
					l.CloseUp()
					require.Len(t, l.List, len(want))
				}
			case 5:
				if rnd.IntN(200) == 0 {
					l.Clear()
					want = nil
				}
			}
			require.Equal(t, len(want), l.Len())
			require.True(t, !l.Fixed || cap(l.List) == room)
			if len(want) == 0 {
				require.True(t, l.Oldest() == nil && l.Youngest() == nil)
				continue
			}
			require.True(t, *l.Oldest() == want[0] && *l.Youngest() == want[len(want)-1])
			if rnd.IntN(8) > 0 {
				continue
			}
			require.True(t, slices.Equal(want, l.List[len(l.List)-l.Len():]) && *l.Entry(len(want) / 2) == want[len(want)/2])
			find := rnd.Uint64N(stamp + 1)
			k := slices.IndexFunc(append(want, entry{stamp, nil}), func(e entry) bool { return e.Stamp >= find })
			require.Equal(t, k, l.Find(find))
			kept := func(e entry) bool { return e.Body != nil }
			require.False(t, slices.ContainsFunc(l.List[len(l.List):cap(l.List)], kept) || slices.ContainsFunc(l.List[:len(l.List)-len(want)], kept))
		}
	}
}
