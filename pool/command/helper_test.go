package command_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/length"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// Helpers shared with other packages' tests, under the names used here. long returns how
// often a test repeats what the full programme repeats n times.
var (
	long             = length.Of[int]
	newSeed          = testkit.Seed
	eventually       = testkit.Eventually
	apart            = testkit.Apart
	within           = testkit.Within
	requirePanicText = testkit.RequirePanicText
)

// lastGeneration is a slot's last live generation.
const lastGeneration = 1<<32 - 3

// value is the value of the tests' pools. Its parts show whether it is whole, and its
// pointer makes the pool zero reclaimed slots.
type value struct {
	id, twice uint64
	box       *uint64
}

func valueOf(id uint64) value { return value{id, 2 * id, &id} }

// torn is no value's id.
const torn = 1 << 63

// number returns the id that a value was made with, or 0 for one that is zero.
func (v *value) number() uint64 {
	switch {
	case *v == value{}:
		return 0
	case v.box == nil || *v.box != v.id || v.twice != 2*v.id:
		return torn
	}
	return v.id
}

func (v *value) reset() { v.id, v.twice, v.box = 0, 0, nil }

// small returns a pool whose handles are the same each time.
func small(t testing.TB, opts pool.Options[value]) *pool.Pool[value] {
	t.Helper()
	if opts.Shards == 0 {
		opts.Shards = 1
	}
	if opts.Origin == 0 {
		opts.Origin = 1
	}
	p, err := pool.New(&opts)
	require.NoError(t, err)
	return p
}

// mustRecord records an insertion, for which the pool has room.
func mustRecord(t testing.TB, b *command.Buffer[value], id uint64) pool.Handle[value] {
	t.Helper()
	h, err := b.Insert(valueOf(id))
	require.NoError(t, err)
	return h
}

// mustInsert inserts a value, for which the pool has room.
func mustInsert(t testing.TB, p *pool.Pool[value], id uint64) pool.Handle[value] {
	t.Helper()
	h, err := p.Insert(valueOf(id))
	require.NoError(t, err)
	return h
}

// requireApplied applies buffers and requires the two results.
func requireApplied(t testing.TB, inserted, removed int, buffers ...*command.Buffer[value]) {
	t.Helper()
	i, r := command.Apply(buffers...)
	require.Equal(t, inserted, i, "inserted")
	require.Equal(t, removed, r, "removed")
}

// requireLen requires that this many commands wait in b.
func requireLen(t testing.TB, b *command.Buffer[value], insertions, removals int) {
	t.Helper()
	i, r := b.Len()
	require.Equal(t, insertions, i, "insertions that wait")
	require.Equal(t, removals, r, "removals that wait")
}

// requireLive requires that h is live with value id.
func requireLive(t testing.TB, p *pool.Pool[value], h pool.Handle[value], id uint64) {
	t.Helper()
	v, ok := p.Get(h)
	require.Truef(t, ok, "%v is not live; want value %d", h, id)
	require.Equalf(t, id, v.number(), "value of %v", h)
}

// requireReclaimed waits until no slot is in limbo, and requires that every slot is
// accounted for, and none reserved.
func requireReclaimed(t testing.TB, p *pool.Pool[value]) pool.Stats {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, p.Synchronize(ctx))
	st := p.Stats()
	require.Equalf(t, st.Allocated, st.Live+st.Free+st.Limbo+st.Cached+st.Reserved+st.Exhausted, "sum of %+v", st)
	require.Zerof(t, st.Limbo+st.Cached+st.Reserved+st.Pinned, "%+v", st)
	return st
}

// requireNoneLost clears p and requires that every slot comes back.
func requireNoneLost(t testing.TB, p *pool.Pool[value]) {
	t.Helper()
	p.Clear()
	st := requireReclaimed(t, p)
	require.Equalf(t, st.Allocated, st.Free+st.Exhausted, "%+v", st)
}
