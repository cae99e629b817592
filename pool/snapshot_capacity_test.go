//go:build !race

package pool_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// block is so large that WriteTo writes each slot by itself.
type block struct {
	Ref pool.Handle[block]
	Pad [16 << 10]byte
}

// issues inserts and removes values in a pool until none goes in, and requires that none of them gets a
// handle of those that were issued before, or one of a life that no slot has.
func issues(t *testing.T, p *pool.Pool[block], issued []pool.Handle[block]) (n int) {
	t.Helper()
	for ; n < 100; n++ {
		h, err := p.Insert(block{})
		if err != nil {
			require.ErrorIs(t, err, pool.ErrFull)
			break
		}
		require.NotContains(t, issued, h, "a handle that the original has issued")
		require.Equal(t, uint32(1), h.Generation()%2, "%v should be of a life", h)
		require.True(t, p.Remove(h), "the value should be live")
	}
	return n
}

// A handle that a value in a snapshot refers to is not issued again in a copy with a Capacity, although a
// slot is exhausted while the snapshot is written, and a new slot takes its place.
func TestCopyKnowsSlotsThatTookAnothersPlace(t *testing.T) {
	for lives := range uint32(6) {
		t.Run(fmt.Sprint("lives=", 1+lives), func(t *testing.T) {
			o := pool.Options[block]{Capacity: 2, Shards: 1, Origin: testkit.LastGeneration - 2*lives}
			p := pool.Must(&o)
			a, b := testkit.MustInsert(t, p, block{}), testkit.MustInsert(t, p, block{})
			for a.Generation() != testkit.LastGeneration {
				require.True(t, p.Remove(a), "the value should be live")
				a = testkit.MustInsert(t, p, block{})
			}
			issued, records := []pool.Handle[block]{a, b}, 0
			var file bytes.Buffer
			_, err := p.WriteTo(writerFunc(func(part []byte) (int, error) {
				if part[0] == valuesKind {
					records++
				}
				if records == 1 && part[0] == valuesKind { // slot 0 was looked at, and slot 1 was not
					require.True(t, p.Remove(a), "the value should be live")
					h, err := p.Insert(block{})
					require.NoError(t, err)
					v, _ := p.Pointer(b)
					v.Ref = h
					issued = append(issued, h)
				}
				return file.Write(part)
			}))
			require.NoError(t, err)
			require.Len(t, issued, 3)
			for _, o.Capacity = range []int{2, 3, 100} {
				q, err := pool.ReadFrom(bytes.NewReader(file.Bytes()), &o)
				require.NoError(t, err)
				v, ok := q.Get(b)
				require.True(t, ok, "the value should be live")
				require.Equal(t, issued[2], v.Ref)
				issues(t, q, issued)
				testkit.RequireReclaimed(t, q)
			}
		})
	}
}

// A copy with a smaller Capacity leaves out vacant slots. What takes the place of exhausted slots has
// no handle that the original issued for these.
func TestSmallerCopyKnowsWhatItLeavesOut(t *testing.T) {
	for lives := range uint32(6) {
		o := pool.Options[block]{Capacity: 8, Shards: 1, Origin: testkit.LastGeneration - 2*lives}
		p := pool.Must(&o)
		issued := testkit.Fill(t, p, 8, func(int) block { return block{} })
		require.Equal(t, 8, p.RemoveBatch(issued))
		testkit.RequireReclaimed(t, p)
		var file bytes.Buffer
		_, err := p.WriteTo(&file)
		require.NoError(t, err)
		for _, o.Capacity = range []int{1, 2, 7, 8, 9} {
			q, err := pool.ReadFrom(bytes.NewReader(file.Bytes()), &o)
			require.NoError(t, err)
			if n := issues(t, q, issued); lives > 1 {
				require.Positive(t, n, "insertions into the copy")
			}
		}
	}
}

// A copy with a smaller Capacity begins the slots that it leaves out where the original ended, and not later, whatever memory
// they had there. So a copy of that copy which has room for them issues no handle again.
func TestCopyOfASmallerCopy(t *testing.T) {
	const all, few, lives = 12, 2, 5
	o := pool.Options[block]{Capacity: all, Shards: 1, Origin: 1}
	for _, trims := range []bool{false, true} {
		p := pool.Must(&o)
		issued := testkit.Fill(t, p, 1, func(int) block { return block{} }) // keeps the first page
		for range lives {
			hs := testkit.Fill(t, p, all-1, func(int) block { return block{} })
			require.Equal(t, all-1, p.RemoveBatch(hs))
			testkit.RequireReclaimed(t, p)
			issued = append(issued, hs...)
		}
		want := uint32(2*lives + 3) // the next life may have been promised to somebody
		if trims {
			p.Trim()
			want += 2 // it burns a life
		}
		o := o
		o.Capacity = few
		cloned, err := p.Clone(&o, nil)
		require.NoError(t, err)
		for _, c := range []*pool.Pool[block]{cloned, mustRead(t, testkit.Written(t, p), &o)} {
			o.Capacity = all
			c = mustRead(t, testkit.Written(t, c), &o)
			for _, h := range testkit.Fill(t, c, all-1, func(int) block { return block{} }) {
				require.NotContains(t, issued, h)
				if h.Index() >= few {
					require.Equal(t, want, h.Generation(), "%v, Trim %v", h, trims)
				}
			}
		}
	}
}
