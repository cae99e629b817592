package dense_test

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/dense"
)

// replayed is a program with a store that replays.
type replayed struct {
	*testkit.Play
	o     *dense.Options[int]
	s     *dense.Store[int]
	known []handle // alive or stale
	id    int
}

// playStore draws what a program with a store does. If it runs again, several goroutines kill, and
// at some phases the program goes on with a copy, as after a rollback.
func playStore(play *testkit.Play) {
	r := &replayed{Play: play}
	r.o = &dense.Options[int]{
		Origin:    1,
		Unordered: play.IntN(2) == 0,
		OnDestroy: func(h handle, v *int) { play.Note(h, *v) },
	}
	if play.IntN(2) == 0 {
		r.o.Capacity = 100 + play.IntN(1000)
	}
	r.use(tiny(play, r.o))
	for range 150 {
		r.step(1 + play.IntN(1<<play.IntN(7)))
		r.Between()
	}
	play.Note(r.s.Refresh())
	play.Note(r.s.Handles(), r.s.Values())
}

// use goes on with s.
func (r *replayed) use(s *dense.Store[int]) {
	s.OnMove(func(h handle, from, to int) { r.Note(h, from, to) })
	r.s = s
}

func (r *replayed) step(n int) {
	s := r.s
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		for range n {
			r.id++
			if h, err := s.Create(r.id); r.Issued(h, err) {
				r.known = append(r.known, h)
			}
		}
	case 4, 5:
		r.kill(n)
	case 6, 7:
		r.Note(s.Refresh())
		r.Note(s.Handles(), s.Len())
	case 8:
		if len(r.known) > 0 {
			h := r.known[r.IntN(len(r.known))]
			_, ok := s.Pointer(h)
			r.Note(s.State(h), s.Alive(h), ok)
		}
	case 9:
		r.Note(s.Refresh())
		s.SortFunc(func(a, b *int) int { return cmp.Compare(*a%10, *b%10) })
		r.Note(s.Handles())
	case 10:
		switch r.IntN(4) {
		case 0:
			r.Note(s.Clear())
		case 1:
			s.Trim()
		case 2:
			s.Grow(n)
		}
	case 11:
		r.Note(s.Refresh())
		if r.Again {
			r.restore()
		}
	}
}

// kill kills up to n values, in four pieces.
func (r *replayed) kill(n int) {
	testkit.Pieces(r.Play, &r.known, n, 4, func(_ int, piece []handle) {
		testkit.Each(piece, func(h handle) { r.s.Kill(h) })
	})
}

// restore takes a copy of the store in its place.
func (r *replayed) restore() {
	s, err := dense.ReadFrom(bytes.NewReader(testkit.Written(r, r.s)), r.o)
	require.NoError(r, err)
	r.use(s)
}

// One goroutine that creates, and any that kill, get the same handles and the same order of values
// from each run of a program, and in a copy of the store as in the store.
func TestReplayKeepsTheOrderOfValues(t *testing.T) {
	testkit.RequireReplays(t, testkit.LongAlone(50), 300, playStore)
}
