package pool_test

import (
	"fmt"
	"log"

	"coatcheck/pool"
)

// A game that predicts: it keeps a clone of each frame. When an input of another player comes late, it goes back
// to the frame in which that belongs, and runs again from there. Handles are what they were, and what is born again
// gets the same handles, so inputs may name units by them.
func ExamplePool_Clone() {
	g := game{units: pool.Must(&unitOptions)}
	g.run("Ann") // frame 0
	g.run("Bob")
	g.run("Cid")
	fmt.Println(g.names())

	g.back(1) // frame 1 was another one
	g.run("Bea")
	g.run("Cid")
	fmt.Println(g.names())
	// Output:
	// [0@1 Ann 1@1 Bob 2@1 Cid]
	// [0@1 Ann 1@1 Bea 2@1 Cid]
}

type unit struct {
	name  string
	items []string
}

var unitOptions = pool.Options[unit]{Origin: 1, Shards: 1}

// copyUnit copies what *dst = *src would share.
func copyUnit(dst, src *unit) {
	dst.name = src.name
	dst.items = append(dst.items, src.items...)
}

// game has its units, and those of each frame before.
type game struct {
	units  *pool.Pool[unit]
	frames []*pool.Pool[unit]
}

// run keeps the frame, and runs it.
func (g *game) run(input string) {
	frame, err := g.units.Clone(&unitOptions, copyUnit)
	if err != nil {
		log.Fatal(err)
	}
	g.frames = append(g.frames, frame)
	if _, err := g.units.Insert(unit{name: input}); err != nil {
		log.Fatal(err)
	}
}

// back goes back to the beginning of a frame.
func (g *game) back(frame int) { g.units, g.frames = g.frames[frame], g.frames[:frame] }

func (g *game) names() (list []string) {
	for h, u := range g.units.All() {
		list = append(list, h.String()+" "+u.name)
	}
	return list
}
