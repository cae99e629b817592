package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

type (
	handle = pool.Handle[value]
	buffer = command.Buffer[value]
)

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

// mustRecord records an insertion, for which the pool has room.
func mustRecord(t testing.TB, b *buffer, id uint64) handle {
	t.Helper()
	h, err := b.Insert(valueOf(id))
	require.NoError(t, err)
	return h
}

// requireApplied applies buffers and requires the two results.
func requireApplied(t testing.TB, inserted, removed int, buffers ...*buffer) {
	t.Helper()
	i, r := command.Apply(buffers...)
	require.Equal(t, [2]int{inserted, removed}, [2]int{i, r}, "inserted and removed")
}

// requireNoneLost clears p and requires that every slot comes back.
func requireNoneLost(t testing.TB, p *pool.Pool[value]) {
	t.Helper()
	p.Clear()
	require.Zero(t, testkit.RequireReclaimed(t, p).Live)
}
