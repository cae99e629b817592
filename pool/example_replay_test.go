package pool_test

import (
	"fmt"
	"runtime"

	"coatcheck/pool"
)

// A game in lockstep: each peer runs all inputs, and nothing but inputs is sent. An input
// names a player by its handle, so a player must have the same handle on each peer. With Origin, one
// shard and one goroutine it has, although the peers' garbage collectors run at different moments.
func Example_replay() {
	inputs := []input{{join: "Ann"}, {join: "Bob"}, {leave: 1 << 32}, {join: "Cid"}, {leave: 1<<32 | 1}}
	here, there := newPeer(), newPeer()
	for _, in := range inputs {
		here.run(in)
		runtime.GC()
		there.run(in)
	}
	fmt.Print(here.text(), there.text())
	// Output:
	// Cid is 2@1
	// Cid is 2@1
}

// input lets a player join, or leave.
type input struct {
	join  string
	leave pool.Handle[string]
}

// peer has a copy of the game.
type peer struct{ players *pool.Pool[string] }

func newPeer() *peer {
	return &peer{
		players: pool.Must(&pool.Options[string]{Origin: 1, Shards: 1}),
	}
}

func (p *peer) run(in input) {
	if in.join == "" {
		p.players.Remove(in.leave)
		return
	}
	if _, err := p.players.Insert(in.join); err != nil {
		panic(err) // there is no limit
	}
}

func (p *peer) text() (all string) {
	for h, name := range p.players.All() {
		all += fmt.Sprintln(*name, "is", h)
	}
	return all
}
