package tree_test

import (
	"bytes"
	"encoding/gob"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// readBack returns a copy of p by a snapshot, and its forest.
func readBack(t testing.TB, p *pool.Pool[node]) (*pool.Pool[node], *tree.Forest[node]) {
	t.Helper()
	copied, err := pool.ReadFrom[node](bytes.NewReader(testkit.Written(t, p)), nil)
	require.NoError(t, err)
	return copied, tree.New(copied, linksOf)
}

// TestSnapshotsBesideAWriter: Repair makes a forest of a snapshot that caught half of a
// change.
func TestSnapshotsBesideAWriter(t *testing.T) {
	rnd := testkit.Rand(t)
	p, f := newForest(t)
	all := addN(t, p, 1000) // several records of a snapshot, each read at a moment of its own
	for i, h := range all[1:] {
		require.NoError(t, f.Append(all[i/3], h))
	}
	torn := 0
	var stop atomic.Bool
	testkit.Together(2, func(k int) {
		for i := 0; k == 0 && !stop.Load(); i++ {
			_ = f.Move(all[i*17%1000], all[i*31%1000])
			if i%64 == 0 {
				runtime.Gosched()
			}
		}
		for range k * long(30) {
			_, again := readBack(t, p)
			for range 20 {
				handles(t, again.Descendants(all[rnd.IntN(1000)])) // it ends
			}
			if again.Repair() > 0 {
				torn++
			}
			assertForest(t, again, 1000)
		}
		stop.Store(true)
	})
	t.Logf("%d snapshots of %d were torn", torn, long(30))
}

// TestLinksEncodeThemselves: the model's snapshots are of whole links alone.
func TestLinksEncodeThemselves(t *testing.T) {
	var l tree.Links[node]
	b, err := l.Words.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, l.Words.UnmarshalBinary(b))
	for _, wrong := range [][]byte{nil, b[1:], append(b, 0)} {
		assert.Error(t, l.Words.UnmarshalBinary(wrong))
	}
}

// TestLinksTakeFewBytes, and are the same when they are read back, whatever they are. What no links
// are is refused.
func TestLinksTakeFewBytes(t *testing.T) {
	rnd := testkit.Rand(t)
	one := func() uint64 {
		switch rnd.IntN(4) {
		case 0:
			return 0
		case 1:
			return rnd.Uint64() >> rnd.IntN(64)
		}
		return uint64(1_000_000_001+2*rnd.IntN(30))<<32 | uint64(100_000+rnd.IntN(60))
	}
	for range 20_000 {
		links := [5]uint64{one(), one(), one(), one(), one()}
		b := tree.AppendLinks([]byte("before"), links)[6:]
		got, ok := tree.ParseLinks(b)
		require.True(t, ok, "%x", links)
		require.Equal(t, links, got)
		wrong := bytes.Clone(b)
		wrong[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		if got, ok := tree.ParseLinks(wrong); ok {
			require.Equal(t, wrong, tree.AppendLinks(nil, got))
		}
		for n := range b {
			_, ok := tree.ParseLinks(b[:n])
			require.False(t, ok, "%d bytes of %x", n, b)
		}
	}
	near := func(i uint64) uint64 { return 1_000_000_001<<32 | i }
	require.LessOrEqual(t, len(tree.AppendLinks(nil, [5]uint64{near(100_000), 0, 0, near(100_002), near(100_001)})), 14)
	require.Len(t, tree.AppendLinks(nil, [5]uint64{}), 5)
}

// TestEmbeddedLinksAreNotAllOfAValue: a T that embeds its Links keeps its other fields.
// The methods of Links must not become T's.
func TestEmbeddedLinksAreNotAllOfAValue(t *testing.T) {
	type embeds struct {
		Name string
		tree.Links[embeds]
	}
	var b bytes.Buffer
	v := embeds{Name: "root"}
	require.NoError(t, gob.NewEncoder(&b).Encode(&v))
	var again embeds
	require.NoError(t, gob.NewDecoder(&b).Decode(&again))
	assert.Equal(t, "root", again.Name)
}
