package command_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// ticket is a value with a pointer, so that the collector has work in its pool.
type ticket struct {
	ID  uint64
	Box *int
}

// replayed is a program of frames, on a pool that replays.
type replayed struct {
	*testkit.Replayed[ticket]
	buffers []*command.Buffer[ticket]
	known   []pool.Handle[ticket] // live, recorded, or stale
	lastID  uint64
}

// playFrames draws what a program with buffers does. If it runs again, it now and then goes on in a
// copy of the pool, as after a rollback.
func playFrames(play *testkit.Play) {
	r := &replayed{Replayed: testkit.NewReplayed(play, 50, 1000, func(v *ticket) { *v = ticket{} }, 3)}
	r.open()
	for range 150 {
		r.step(1 + play.IntN(1<<play.IntN(8)))
		r.Between()
	}
	r.save()
	for h := range r.Pool.All() {
		r.Note(h)
	}
}

// open makes the buffers.
func (r *replayed) open() {
	r.buffers = nil
	for range 4 {
		r.buffers = append(r.buffers, command.New(r.Pool))
	}
}

// save ends a frame, so that no Reservation is dropped, and goes on in a copy of the pool if the
// program runs again.
func (r *replayed) save() {
	r.Note(command.Apply(r.buffers...))
	if r.Restore() {
		r.open()
	}
}

func (r *replayed) step(n int) {
	b := r.buffers[r.IntN(4)]
	switch r.IntN(13) {
	case 0, 1, 2:
		r.insert(n, b.Insert)
	case 3:
		r.insert(n, func(v ticket) (pool.Handle[ticket], error) {
			return b.InsertFunc(func(_ pool.Handle[ticket], to *ticket) { *to = v })
		})
	case 4:
		r.insert(n, r.Pool.Insert) // beside the frame
	case 5, 6:
		r.removals(n)
	case 7:
		r.Shuffle(4, func(i, j int) { r.buffers[i], r.buffers[j] = r.buffers[j], r.buffers[i] })
		r.Note(command.Apply(r.buffers[r.IntN(4):]...))
	case 8:
		r.Note(b.Apply())
	case 9:
		r.Note(b.Discard())
	case 10:
		for h := range r.Pool.All() {
			r.Note(h)
		}
	case 11:
		r.PinOrTrim()
	case 12:
		r.save()
	}
}

func (r *replayed) insert(n int, insert func(ticket) (pool.Handle[ticket], error)) {
	for range n {
		r.lastID++
		if h, err := insert(ticket{r.lastID, new(int)}); r.Issued(h, err) {
			r.known = append(r.known, h)
		}
	}
}

// removals records removals, a piece in each buffer.
func (r *replayed) removals(n int) {
	testkit.Pieces(r.Play, &r.known, n, len(r.buffers), func(i int, piece []pool.Handle[ticket]) {
		testkit.Each(piece, r.buffers[i].Remove)
	})
}

// One goroutine that inserts, and any that record removals in buffers of their own, get the same
// handles from each run of a program, and in a copy of the pool as in the pool.
func TestReplayIssuesTheSameHandles(t *testing.T) {
	testkit.RequireReplays(t, testkit.LongAlone(50), 200, playFrames)
}

// TestSpawnsInParallelReplay: goroutines record functions that insert, in a Buffer for each piece of
// the work. Whichever order they run in, the handles are the same.
func TestSpawnsInParallelReplay(t *testing.T) {
	run := func(last int) (handles []pool.Handle[int]) {
		p := pool.Must(replay[int]())
		var pieces [8]*command.Buffer[int]
		var spawned [8][]pool.Handle[int]
		for i := range pieces {
			pieces[i] = command.New(p)
		}
		for range 20 {
			record := func(i int) {
				for j, h := range spawned[i] {
					if j%3 == 0 {
						pieces[i].Remove(h)
					}
				}
				for j := range 20 {
					pieces[i].Do(func() {
						h, err := p.Insert(j)
						require.NoError(t, err)
						spawned[i] = append(spawned[i], h)
						handles = append(handles, h)
					})
				}
			}
			var others sync.WaitGroup
			for i := range pieces {
				if i != last {
					others.Add(1)
					go func() { defer others.Done(); record(i) }()
				}
			}
			testkit.Within(t, others.Wait)
			record(last)
			command.Apply(pieces[:]...)
		}
		return handles
	}
	first := run(0)
	for last := range 8 {
		require.True(t, slices.Equal(first, run(last)), "piece %d recorded last", last)
	}
}
