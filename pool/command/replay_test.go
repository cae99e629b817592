package command_test

import (
	"sync"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// replayed is a program of frames, on a pool that replays.
type replayed struct {
	*testkit.Play
	p       *pool.Pool[value]
	buffers []*buffer
	known   []handle // live, recorded, or stale
	guards  []*pool.Guard[value]
	lastID  uint64
}

// playFrames draws what a program with buffers does.
func playFrames(play *testkit.Play) {
	o := &pool.Options[value]{Origin: 1, Shards: 1, Reuse: testkit.Reuses[play.IntN(2)]}
	switch play.IntN(3) {
	case 0:
		o.Capacity = 50 + play.IntN(1000)
	case 1:
		o.MaxLimbo = 50 + play.IntN(1000)
	}
	if play.IntN(3) == 0 {
		o.Reset = func(v *value) { *v = value{} }
	}
	r := &replayed{Play: play, p: pool.Must(o)}
	for range 4 {
		r.buffers = append(r.buffers, command.New(r.p))
	}
	for range 150 {
		r.step(1 + play.IntN(1<<play.IntN(8)))
		r.Between()
	}
	r.Note(command.Apply(r.buffers...)) // so that no Reservation is dropped
	for h := range r.p.All() {
		r.Note(h)
	}
	for _, g := range r.guards {
		g.Unpin()
	}
}

func (r *replayed) step(n int) {
	b := r.buffers[r.IntN(4)]
	switch r.IntN(12) {
	case 0, 1, 2:
		r.insert(n, b.Insert)
	case 3:
		r.insert(n, func(v value) (handle, error) { return b.InsertFunc(func(_ handle, to *value) { *to = v }) })
	case 4:
		r.insert(n, r.p.Insert) // beside the frame
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
		for h := range r.p.All() {
			r.Note(h)
		}
	case 11:
		switch n := len(r.guards); {
		case n < 3 && r.IntN(2) == 0:
			g := r.p.Pin()
			r.guards = append(r.guards, &g)
		case n > 0:
			r.guards[n-1].Unpin()
			r.guards = r.guards[:n-1]
		default:
			r.Note(r.p.Trim())
		}
	}
}

func (r *replayed) insert(n int, insert func(value) (handle, error)) {
	for range n {
		r.lastID++
		if h, err := insert(valueOf(r.lastID)); r.Issued(h, err) {
			r.known = append(r.known, h)
		}
	}
}

// removals records removals, a piece in each buffer. If the program runs again, each piece is
// recorded by a goroutine of its own.
func (r *replayed) removals(n int) {
	pieces := make([][]handle, len(r.buffers))
	for range min(n, len(r.known)) {
		i := r.IntN(len(r.known))
		to := &pieces[r.IntN(len(pieces))]
		*to = append(*to, r.known[i])
		r.known[i] = r.known[len(r.known)-1]
		r.known = r.known[:len(r.known)-1]
	}
	var wg sync.WaitGroup
	for i, piece := range pieces {
		record := func() {
			testkit.Each(piece, r.buffers[i].Remove)
			wg.Done()
		}
		wg.Add(1)
		if r.Again {
			go record()
		} else {
			record()
		}
	}
	wg.Wait()
}

// One goroutine that inserts, and any that record removals in buffers of their own, get the same handles
// from each run of a program.
func TestReplayIssuesTheSameHandles(t *testing.T) {
	testkit.RequireReplays(t, testkit.Long(50), 200, playFrames)
}
