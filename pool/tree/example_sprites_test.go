package tree_test

import (
	"fmt"
	"log"
	"sync"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// A renderer keeps a sprite for each node of a scene. Forest.Remove removes a node with all below it, and
// OnRemove is called for each of them, so no sprite is left behind. It must not use the forest, and need not: it
// has the node.
func Example_sprites() {
	type node struct {
		name  string
		links tree.Links[node]
	}
	type sprite struct{ picture string }
	var mu sync.Mutex
	sprites := map[pool.Handle[node]]sprite{}
	nodes := pool.Must(&pool.Options[node]{
		OnInsert: func(h pool.Handle[node], n *node) {
			mu.Lock()
			defer mu.Unlock()
			sprites[h] = sprite{n.name + ".png"}
		},
		OnRemove: func(h pool.Handle[node], _ *node) {
			mu.Lock()
			defer mu.Unlock()
			delete(sprites, h)
		},
	})
	scene := tree.New(nodes, func(n *node) *tree.Links[node] { return &n.links })
	add := func(parent pool.Handle[node], name string) pool.Handle[node] {
		h, err := nodes.InsertFunc(func(_ pool.Handle[node], n *node) { n.name = name })
		if err == nil && !parent.IsZero() {
			err = scene.Append(parent, h)
		}
		if err != nil {
			log.Fatal(err)
		}
		return h
	}
	field := add(0, "field")
	tank := add(field, "tank")
	turret := add(tank, "turret")
	add(turret, "gun")
	rock := add(field, "rock")

	fmt.Println(len(sprites))
	fmt.Println(scene.Remove(tank), len(sprites), sprites[rock].picture)
	// Output:
	// 5
	// 3 2 rock.png
}
