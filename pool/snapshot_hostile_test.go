//go:build !race

package pool_test

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/internal/snapshot"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// mayTake returns how much memory ReadFrom may allocate for n bytes of values of Old, in a pool of New. Each
// byte pays for 256 bytes of slots, for each that a slot of New takes of one of Old, for 256 bytes of Olds, and for
// 80 of what values refer to; two pages, and what a pool has besides, come on top.
func mayTake[Old, New any](n int) uint64 {
	size := uint64(unsafe.Sizeof(slots.Slot[New]{}))
	old := uint64(unsafe.Sizeof(slots.Slot[Old]{}))
	page := size << slots.PagesOf(uintptr(size), 0).Most
	return 256*uint64(n+64)*((size+old-1)/old+1) + 80*uint64(n) + 2*page + 1<<20
}

// cached is large, and has one byte in a snapshot.
type cached struct {
	A     uint8
	Cache [1 << 16]byte `coatcheck:"-"`
}

// requireBounded reads values of Old as New, and requires that it takes no more memory than the input may.
func requireBounded[Old, New any](t *testing.T, in []byte, opts *pool.Options[New]) (*pool.Pool[New], error) {
	t.Helper()
	var p *pool.Pool[New]
	var err error
	got := testkit.Allocated(func() {
		p, err = pool.ReadFromFunc(bytes.NewReader(in), opts, func(*Old) (v New, _ error) { return v, nil })
	})
	if !testkit.Watched {
		require.LessOrEqual(t, got, mayTake[Old, New](len(in)), "of %d bytes", len(in))
	}
	if err == nil {
		testkit.RequireConserved(t, p)
	}
	return p, err
}

// hostile has snapshots of pools of T that are short, and name many slots.
func hostile[T any](t *testing.T, value ...byte) map[string][]byte {
	const records = 60
	head := cut(testkit.Written(t, pool.Must(&pool.Options[T]{Origin: 1})))[0]
	most := uint32(max(1, 32<<10/(unsafe.Sizeof(slots.Slot[T]{})+shard.BesideSlot)))
	ins := map[string][]byte{}
	add := func(name string, live uint64, records ...[]byte) {
		last := records[len(records)-1]
		slot := func(k int) uint32 {
			return uint32(last[k]) | uint32(last[k+1])<<8 | uint32(last[k+2])<<16 | uint32(last[k+3])<<24
		}
		all := append([][]byte{bytes.Clone(head)}, records...)
		ins[name] = joined(append(all, end(slot(4)+slot(8), live)))
	}
	var vacant, sparse, exhausted, changed, apart [][]byte
	for i := range uint32(records) {
		vacant = append(vacant, record(valuesKind, i*most, most, runs(uint64(most), 0)...))
		exhausted = append(exhausted, record(valuesKind, i*most, most, runs(uint64(most), 1<<32-2)...))
		stages := runs(1, 1)
		if most > 1 {
			stages = runs(1, 1, uint64(most)-1, 0)
		}
		sparse = append(sparse, record(valuesKind, i*most, most, append(stages, value...)...))
		changed = append(changed, record(generationsKind, i*most, most, runs(uint64(most), 1<<32-2)...))
		apart = append(apart, record(vacantKind, i<<16, 1<<16-1, runs(1<<16-1, 2)...), record(valuesKind, i<<16+1<<16-1, 1, append(runs(1, 1), value...)...))
	}
	add("vacant slots as if they had memory", 0, vacant...)
	add("exhausted slots", 0, exhausted...)
	add("slots that are exhausted later", 0, changed...)
	add("a value in each page", records, apart...)
	add("a value in each record", records, sparse...)
	add("vacant slots, as many as there are", 0, record(vacantKind, 0, 1<<32-1024, runs(1<<32-1024, 2)...))
	add("vacant slots, and one value", 1, record(vacantKind, 0, 1<<26, runs(1<<26, 2)...), record(valuesKind, 1<<26, 1, append(runs(1, 1), value...)...))
	return ins
}

// TestHostileSlots: whatever slots a snapshot names, they take no more memory than its length allows.
func TestHostileSlots(t *testing.T) {
	for _, opts := range []pool.Options[struct{}]{{}, {Origin: 1, Shards: 1}, {Capacity: 1 << 20}, {MaxLimbo: 1 << 20}, {Origin: 1, Shards: 2}} {
		testHostile[struct{}, struct{}](t, &opts)
		testHostile[bool, bool](t, &pool.Options[bool]{Origin: opts.Origin, Shards: opts.Shards, Capacity: opts.Capacity, MaxLimbo: opts.MaxLimbo}, 1)
	}
	testHostile[bool, [1024]byte](t, nil, 1)
	testHostile[bool, [20 << 10]byte](t, nil, 1)
	testHostile[[100]byte, uint32](t, nil, make([]byte, 100)...)
	testHostile[[8]cached, uint32](t, nil, 8, 0, 0, 0, 0, 0, 0, 0, 0) // each takes an Old, and few bytes
}

func testHostile[Old, New any](t *testing.T, opts *pool.Options[New], value ...byte) {
	for name, in := range hostile[Old](t, value...) {
		_, err := requireBounded[Old](t, in, opts)
		if err == nil {
			continue
		}
		if opts != nil && opts.Capacity > 0 {
			require.Error(t, err)
			continue
		}
		require.ErrorIs(t, err, pool.ErrCorrupt, name)
		require.ErrorContains(t, err, "takes more memory than", name)
	}
}

// TestRecordsPayForTheTable: a record of slots that were handed out while a pool is written has no zeros before it.
func TestRecordsPayForTheTable(t *testing.T) {
	const bytes = snapshot.HeadBytes + snapshot.SumBytes + 2
	for size := uintptr(8); size < 1<<20; size += 8 + size/64&^7 {
		n, m := uint64(snapshot.SlotsOf(size)), snapshot.MemoryOf(size)
		for _, first := range []uint64{0, 1, n - 1, n, 1<<24 - 1, 1 << 24} {
			require.LessOrEqual(t, m.Table(first, first+n), uint64(bytes*snapshot.WrittenShare), "%d slots of %d bytes", n, size)
		}
	}
}

// TestPaddingIsOfShortRecords: a pool may grow by more memory than one record could pay for.
func TestPaddingIsOfShortRecords(t *testing.T) {
	opts := pool.Options[cached]{Origin: 1, Shards: 1}
	p := pool.Must(&opts)
	p.Grow(5 * snapshot.FlushBytes / 2 * snapshot.WrittenShare / len(cached{}.Cache)) // nobody touches it
	in, padding := testkit.Written(t, p), 0
	for _, r := range cut(in) {
		require.LessOrEqual(t, len(r), snapshot.HeadBytes+snapshot.FlushBytes)
		if r[0] == paddingKind {
			padding++
		}
	}
	require.Equal(t, 3, padding)
	require.Less(t, uint64(len(in)), uint64(p.Stats().Bytes)/snapshot.WrittenShare+snapshot.FlushBytes)
	require.GreaterOrEqual(t, mustRead(t, in, &opts).Stats().Bytes, p.Stats().Bytes, "the copy has the memory too")
}

// TestShortSnapshotOfLargeSlots: few bytes that name slots of a small type make no memory for slots of a large one.
func TestShortSnapshotOfLargeSlots(t *testing.T) {
	head := cut(testkit.Written(t, pool.Must(&pool.Options[uint64]{Origin: 1})))[0]
	all := [][]byte{head}
	const most = 32 << 10 / 24
	for i := range uint32(9) {
		all = append(all, record(valuesKind, i*most, most, runs(most, 0)...))
	}
	in := joined(append(all, end(9*most, 0)))
	require.Less(t, len(in), 300)
	_, err := requireBounded[uint64](t, in, &pool.Options[[4096]byte]{})
	require.ErrorContains(t, err, "takes more memory than")
}

// TestSparseSnapshotsAreRead: a pool whose values lie far apart can be read whatever the type and the options of
// the copy are, and whether its pages have memory.
func TestSparseSnapshotsAreRead(t *testing.T) {
	rnd := testkit.Rand(t)
	for k := range 1 + testkit.Long(20) {
		origin := rnd.Uint32N(2)
		p := pool.Must(&pool.Options[uint32]{Shards: 1, Origin: origin, Capacity: rnd.IntN(2) << 20})
		n, apart := 1<<(2+rnd.IntN(16)), 1+rnd.IntN(1<<rnd.IntN(18))
		if k == 0 {
			n, apart = 1<<17, 1<<13 // a value in each page
		}
		hs := testkit.Fill(t, p, n, func(i int) uint32 { return uint32(i) })
		kept := 0
		var gone []pool.Handle[uint32]
		for i, h := range hs {
			if i%apart == apart-1 {
				kept++
			} else {
				gone = append(gone, h)
			}
		}
		require.Equal(t, len(gone), p.RemoveBatch(gone))
		if rnd.IntN(2) == 0 {
			require.NoError(t, p.Synchronize(t.Context()))
			p.Trim()
		}
		in := testkit.Written(t, p)
		what := fmt.Sprintf("%d of %d values, %d apart, %d bytes", kept, n, apart, len(in))
		read := func(c interface{ Len() int }, err error) {
			t.Helper()
			require.NoError(t, err, what)
			require.Equal(t, kept, c.Len(), what)
		}
		for _, opts := range []pool.Options[uint32]{{}, {Capacity: n + n/2}, {Origin: origin, Shards: 1}, {Reuse: pool.FIFO, Shards: 3}, {Capacity: n, Preallocate: true}} {
			c, err := requireBounded[uint32](t, in, &opts)
			if opts.Preallocate {
				c, err = pool.ReadFrom(bytes.NewReader(in), &opts)
			}
			read(c, err)
		}
		wide, err := requireBounded[uint32](t, in, &pool.Options[[100]uint32]{})
		read(wide, err)
		wider, err := requireBounded[uint32](t, in, &pool.Options[[600]uint32]{Capacity: n})
		read(wider, err)
		none, err := requireBounded[uint32](t, in, &pool.Options[struct{}]{})
		read(none, err)
	}
}
