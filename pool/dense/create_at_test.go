//go:build !race

package dense_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// TestMirrorHasTheServersHandles: clients that get what a server has created and destroyed, phase by
// phase, find each value under the server's handle. One joins late, and one is restored meanwhile.
func TestMirrorHasTheServersHandles(t *testing.T) {
	rnd := testkit.Rand(t)
	server := tiny(t, &dense.Options[int]{Capacity: 300})
	o := &dense.Options[int]{Capacity: 300, Origin: 7}
	clients := []*dense.Store[int]{tiny(t, o)}
	values := map[handle]int{}
	for phase := range 60 {
		var created, removed []handle
		for _, h := range server.Handles() {
			if rnd.IntN(4) == 0 {
				server.Kill(h)
				removed = append(removed, h)
				delete(values, h)
			}
		}
		for range rnd.IntN(80) {
			if h, err := server.Create(phase); err == nil {
				created = append(created, h)
				values[h] = phase
			}
		}
		server.Refresh()
		rnd.Shuffle(len(created), func(i, j int) { created[i], created[j] = created[j], created[i] })
		for k, c := range clients {
			for _, h := range removed {
				require.True(t, c.Kill(h), "the value should be live in client %d", k)
			}
			c.Refresh()
			for _, h := range created {
				require.NoError(t, c.CreateAt(h, phase))
				require.ErrorIs(t, c.CreateAt(h, phase), dense.ErrLive)
			}
			for _, h := range removed {
				err := c.CreateAt(h, phase) // the message comes again
				require.True(t, errors.Is(err, dense.ErrStale), "%v: %v", h, err)
			}
			require.NoError(t, dense.Check(c))
			c.Refresh()
			if phase%5 == 0 {
				c.Trim()
			}
			require.Equal(t, len(values), c.Len())
			for h, v := range c.All() {
				require.Equal(t, values[h], *v)
			}
		}
		switch phase {
		case 20:
			late := tiny(t, o)
			for h, v := range server.All() {
				require.NoError(t, late.CreateAt(h, *v))
			}
			late.Refresh()
			clients = append(clients, late)
		case 40:
			clients[0] = restored(t, clients[0], o)
		}
	}
}

// TestRestoredMirrorRemembersItsSlots: a snapshot says that CreateAt has chosen slots, whatever the server's
// generations are. So a Trim of the copy forgets none, and each handle that the server issues later is good.
func TestRestoredMirrorRemembersItsSlots(t *testing.T) {
	for _, first := range []uint32{1, 3, 101} { // of the server
		o := &dense.Options[int]{Origin: 1}
		server, client := tiny(t, &dense.Options[int]{Origin: first}), tiny(t, o)
		for i, h := range fill(t, server, 20) {
			require.NoError(t, client.CreateAt(h, i))
		}
		client.Refresh()
		for range 5 { // slot 19 is used more often than the others
			h := server.Handles()[19]
			server.Kill(h)
			client.Kill(h)
			server.Refresh()
			client.Refresh()
			require.NoError(t, client.CreateAt(create(t, server, 0), 0))
			server.Refresh()
			client.Refresh()
		}
		server.Clear()
		client.Clear()
		client = restored(t, restored(t, client, o), o)
		client.Trim()
		for range 20 {
			h := create(t, server, 0)
			require.ErrorIs(t, client.CreateAt(h-2<<32, 0), dense.ErrStale)
			require.NoError(t, client.CreateAt(h, 0), "the server begins with %d", first)
		}
	}
}

// TestCreateAtMovesNothing: it is no Refresh. What was created before stays in its place and state.
func TestCreateAtMovesNothing(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	hs := fill(t, s, 5)
	s.Kill(hs[1])
	created := create(t, s, 50)
	values := s.Values()
	v, _ := s.Pointer(hs[4])
	w, _ := s.Pointer(created)
	require.NoError(t, s.CreateAt(1<<32|100, 100))
	require.NoError(t, s.CreateAt(9<<32|40, 40))
	create(t, s, 51)
	require.Equal(t, []int{0, 1, 2, 3, 4}, values)
	require.Equal(t, &values[0], &s.Values()[0])
	for h, want := range map[handle]*int{hs[4]: v, created: w} {
		at, ok := s.Pointer(h)
		require.True(t, ok && at == want, "%v has moved", h)
	}
	n, gone := s.Refresh()
	require.Equal(t, []int{4, 1}, []int{n, gone})
	require.Equal(t, []int{0, 2, 3, 4, 50, 100, 40, 51}, s.Values())
	require.NoError(t, dense.Check(s))
	indexes := map[uint32]bool{}
	for range 101 - 8 { // the slot that came free, and those that were passed over
		indexes[create(t, s, 0).Index()] = true
	}
	require.Len(t, indexes, 101-8)
	require.Equal(t, uint32(101), create(t, s, 0).Index(), "a slot was lost")
}

// TestCreateAtRefusesAndLosesNothing has one of each refusal that the model may miss, with texts.
func TestCreateAtRefusesAndLosesNothing(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Capacity: 4, Origin: 5})
	h := create(t, s, 1)
	for _, c := range []struct {
		h    handle
		want error
		text string
	}{
		{0, dense.ErrHandle, "generation 0"},
		{6 << 32, dense.ErrHandle, "CreateAt under 0, generation 6; Store[int]"},
		{(testkit.LastGeneration + 2) << 32, dense.ErrHandle, "generation"},
		{5<<32 | 4, dense.ErrHandle, "CreateAt under 4@5: the index must be below 4; Store[int]"},
		{5<<32 | 1<<31, dense.ErrHandle, "below 4"},
		{h, dense.ErrLive, "CreateAt under 0@5; Store[int]"},
		{h + 2<<32, dense.ErrLive, "0@7"},
		{h - 2<<32, dense.ErrStale, "dense: the handle is stale: CreateAt under 0@3; Store[int]"},
	} {
		err := s.CreateAt(c.h, 2)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
		require.NoError(t, dense.Check(s))
	}
	for i := range 3 {
		require.NoError(t, s.CreateAt(handle(3-i)|1<<32, i))
	}
	n, _ := s.Refresh()
	require.Equal(t, 4, n)
	_, err := s.Create(0)
	require.ErrorIs(t, err, pool.ErrFull)
}

// TestCreateAtInASmallerCopy: slots that the original had stay usable in a copy with a smaller
// Capacity, which bounds how many values there are.
func TestCreateAtInASmallerCopy(t *testing.T) {
	s := tiny(t, &dense.Options[int]{Origin: 1})
	hs := fill(t, s, 3)
	s.Kill(hs[0])
	s.Kill(hs[1])
	s.Refresh()
	c := restored(t, s, &dense.Options[int]{Capacity: 1, Origin: 1})
	require.ErrorIs(t, c.CreateAt(hs[0]+2<<32, 1), pool.ErrFull)
	require.ErrorIs(t, c.CreateAt(hs[0], 1), dense.ErrStale)
	require.NoError(t, dense.Check(c))
	c.Clear()
	require.NoError(t, c.CreateAt(hs[1]+2<<32, 1))
	require.ErrorIs(t, c.CreateAt(hs[0]+2<<32, 1), pool.ErrFull)
}

// TestCreateAtInARandomOrder is O(1): a stack that is searched makes it minutes for these.
func TestCreateAtInARandomOrder(t *testing.T) {
	const n = 200_000
	s := dense.Must(&dense.Options[int]{Capacity: n})
	for round := range 2 {
		for _, i := range rand.New(rand.NewPCG(1, uint64(round))).Perm(n) {
			if err := s.CreateAt(handle(i)|handle(2*round+1)<<32, i); err != nil {
				t.Fatal(err)
			}
		}
		require.Equal(t, n, s.Clear())
		require.NoError(t, dense.Check(s))
	}
}

// TestSnapshotKeepsSlotsPassedOver as such: they accept any generation.
func TestSnapshotKeepsSlotsPassedOver(t *testing.T) {
	o := &dense.Options[int]{Origin: 100}
	s := tiny(t, o)
	require.NoError(t, s.CreateAt(3<<32|4, 1))
	require.NoError(t, s.CreateAt(3<<32|2, 1))
	s.Kill(3<<32 | 2)
	s.Refresh()
	b := testkit.Written(t, s)
	c := restored(t, s, o)
	require.Equal(t, b, testkit.Written(t, c))
	require.ErrorIs(t, c.CreateAt(3<<32|2, 1), dense.ErrStale)
	require.NoError(t, c.CreateAt(5<<32|2, 1))
	require.NoError(t, c.CreateAt(1<<32|3, 1))
	require.NoError(t, dense.Check(c))

	// A copy that begins a new line issues none that the original may have issued since.
	c = restored(t, s, nil)
	issued := map[handle]bool{}
	for range 10 {
		issued[create(t, s, 0)] = true
	}
	for range 10 {
		require.False(t, issued[create(t, c, 0)], "both issued it")
	}
	require.NoError(t, dense.Check(c))

	for _, handles := range [][]uint64{
		{100<<32 | 1<<32, 101 << 32, 2<<32 | 1, 2<<32 | 1}, // the same slot twice
		{101 << 32, 101 << 32, 4<<32 | 1, 2<<32 | 1},
		{101 << 32, 101 << 32, 2<<32 | 1, 103 << 32, 2<<32 | 2},
	} {
		_, err := dense.ReadFrom[int](bytes.NewReader(dense.Snapshot([]int{7}, append([]uint64{handles[0], handles[1], 101 << 32}, handles[2:]...))), nil)
		require.ErrorIs(t, err, pool.ErrCorrupt)
	}
}
