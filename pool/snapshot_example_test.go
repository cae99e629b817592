package pool_test

import (
	"bytes"
	"fmt"
	"strings"

	"coatcheck/pool"
)

// A snapshot keeps handles, also those inside values.
func ExamplePool_WriteTo() {
	p := pool.Must(replay[Node]())
	root, _ := p.Insert(Node{Name: "root"})
	leaf, _ := p.Insert(Node{Name: "leaf", Next: root})

	var file bytes.Buffer
	n, err := p.WriteTo(&file)
	fmt.Println(n == int64(file.Len()), err)

	restored, err := pool.ReadFrom[Node](&file, nil)
	fmt.Println(restored.Len(), err)
	fmt.Println(restored.MustGet(restored.MustGet(leaf).Next).Name)
	// Output:
	// true <nil>
	// 2 <nil>
	// root
}

// What was stale stays stale in the copy, and input that is no snapshot is refused.
func ExampleReadFrom() {
	p := pool.Must(replay[int]())
	stale, _ := p.Insert(1)
	p.Remove(stale)
	h, _ := p.Insert(2)

	var file bytes.Buffer
	_, _ = p.WriteTo(&file)
	restored, _ := pool.ReadFrom(&file, &pool.Options[int]{Shards: 8, Reuse: pool.FIFO})
	fmt.Println(restored.Contains(stale), restored.MustGet(h))

	_, err := pool.ReadFrom[int](strings.NewReader("a shopping list: coats"), nil)
	fmt.Println(err)
	// Output:
	// false 2
	// pool: the snapshot is corrupt: at byte 0: no snapshot begins with "a shoppi"
}
