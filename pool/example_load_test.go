package pool_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"sync/atomic"

	"coatcheck/pool"
)

// A game that loads a saved one while other goroutines look at it, such as a server's pages. ReadFrom
// makes a new pool, in which handles are what they were. So the program keeps handles, and what belongs
// to one pool lies in one world: the pool and its Workers, and its forests and tables. Loading builds a
// world, and then stores one pointer. Until then nobody sees it, and if the file is corrupt, the old
// world goes on.
func Example_load() {
	var now atomic.Pointer[world]
	begun, err := newWorld(pool.New[monster](nil))
	if err != nil {
		log.Fatal(err)
	}
	now.Store(begun)
	h, err := now.Load().spawner.Insert(monster{Name: "slime", Life: 10})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := now.Load().monsters.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	now.Load().monsters.Remove(h) // it dies
	after, err := now.Load().spawner.Insert(monster{Name: "bat", Life: 3})
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(loadWorld(&now, bytes.NewReader(nil)) != nil, now.Load().monsters.Contains(after))
	fmt.Println(loadWorld(&now, &file), now.Load().monsters.MustGet(h).Name)
	fmt.Println(now.Load().monsters.Contains(after)) // it is not of this world
	_, err = now.Load().spawner.Insert(monster{Name: "wolf", Life: 7})
	fmt.Println(err, now.Load().monsters.Len())
	// Output:
	// true true
	// <nil> slime
	// false
	// <nil> 2
}

type monster struct {
	Name string
	Life int
}

// world is all that belongs to one pool.
type world struct {
	monsters *pool.Pool[monster]
	spawner  *pool.Worker[monster]
}

func newWorld(monsters *pool.Pool[monster], err error) (*world, error) {
	if err != nil {
		return nil, err
	}
	return &world{monsters, monsters.Worker()}, nil
}

// loadWorld is called by the goroutine that owns the spawner.
func loadWorld(now *atomic.Pointer[world], r io.Reader) error {
	loaded, err := newWorld(pool.ReadFrom[monster](r, nil))
	if err != nil {
		return err
	}
	now.Swap(loaded).spawner.Close()
	return nil
}
