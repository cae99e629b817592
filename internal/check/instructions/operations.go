package main

import (
	"bytes"

	"coatcheck/pool"
	"coatcheck/pool/dense"
	"coatcheck/pool/table"
	"coatcheck/pool/tree"
)

// value has 16 bytes.
type value struct{ A, B uint64 }

// operations are loops of n, as a user's program has them.
var operations = map[string]func(n int){
	"Worker, insert and remove":            func(n int) { workerPairs(pool.Must[value](nil), n) },
	"Worker, replace among 1,000":          workerReplacements,
	"Worker, with a Capacity":              func(n int) { workerPairs(bounded(), n) },
	"Worker, values with pointers":         workerPointers,
	"Pool, insert and remove":              func(n int) { poolPairs(pool.Must[value](nil), n) },
	"Pool, replace among 1,000":            poolReplacements,
	"Pool, with a Capacity":                func(n int) { poolPairs(bounded(), n) },
	"Pool, FIFO":                           func(n int) { poolPairs(pool.Must(&pool.Options[value]{Reuse: pool.FIFO}), n) },
	"Pool, with a Capacity, under a guard": guardedPairs,
	"Pool.Get among 1,000":                 gets,
	"Guard.Pointer among 1,000":            guardGets,
	"Pool.Pointer among 1,000":             pointers,
	"Pin and Unpin":                        pins,
	"Pool, InsertFunc and Take":            funcPairs,
	"Pool.View among 1,000":                views,
	"Pool, slots that were never used":     poolFills,
	"Worker, slots that were never used":   workerFills,
	"dense.Get among 1,000":                denseGets,
	"dense.Pointer among 1,000":            densePointers,
	"dense, Create, Kill and Refresh":      densePairs,
	"table.Get by handle, SoA":             func(n int) { tableGets(table.SoA, n) },
	"table.Get by handle, AoS":             func(n int) { tableGets(table.AoS, n) },
	"table.Set by handle, SoA":             tableSets,
	"tree.Reader.Next among 1,000":         treeNexts,
	"tree.Reader.FirstChild":               treeFirsts,
	"tree.Reader.Depth of 8":               treeDepths,
	"Worker, beside an open Ref":           func(n int) { workerPairs(besideRef(), n) },
	"Pool, beside an open Ref":             func(n int) { poolPairs(besideRef(), n) },
	"Worker, restored":                     func(n int) { workerPairs(restored(), n) },
	"Pool, restored":                       func(n int) { poolPairs(restored(), n) },
	"Pool, with both events":               func(n int) { poolPairs(telling(), n) },
	"Worker, with both events":             func(n int) { workerPairs(telling(), n) },
	"Pool.Len of 256":                      lens,
	"Pool.Stats of 256":                    stats,
}

func bounded() *pool.Pool[value] { return pool.Must(&pool.Options[value]{Capacity: 1 << 16}) }

// telling returns a pool whose events count.
func telling() *pool.Pool[value] {
	return pool.Must(&pool.Options[value]{
		OnInsert: func(pool.Handle[value], *value) { Sum++ },
		OnRemove: func(pool.Handle[value], *value) { Sum-- },
	})
}

// besideRef returns a pool in which one value is held.
func besideRef() *pool.Pool[value] {
	p := pool.Must[value](nil)
	h, _ := p.Insert(value{})
	p.Hold(h) //coatvet:ignore it stays held as long as the pool is there
	return p
}

// restored returns a pool from ReadFrom, of which one value was saved and lives.
func restored() *pool.Pool[value] {
	p := pool.Must[value](nil)
	_, _ = p.Insert(value{})
	var b bytes.Buffer
	_, _ = p.WriteTo(&b)
	p, err := pool.ReadFrom[value](&b, nil)
	if err != nil {
		panic(err)
	}
	return p
}

func workerPairs(p *pool.Pool[value], n int) {
	w := p.Worker()
	for i := range n {
		h, _ := w.Insert(value{A: uint64(i)})
		w.Remove(h)
	}
}

func workerPointers(n int) {
	v := new(value)
	w := pool.Must[*value](nil).Worker()
	for range n {
		h, _ := w.Insert(v)
		w.Remove(h)
	}
}

func workerReplacements(n int) {
	p := pool.Must[value](nil)
	w := p.Worker()
	hs := thousand(w.Insert)
	for i, k := 0, 0; i < n; i++ {
		w.Remove(hs[k])
		hs[k], _ = w.Insert(value{A: uint64(i)})
		if k++; k == len(hs) {
			k = 0
		}
	}
}

func poolPairs(p *pool.Pool[value], n int) {
	for i := range n {
		h, _ := p.Insert(value{A: uint64(i)})
		p.Remove(h)
	}
}

func funcPairs(n int) {
	p := pool.Must[value](nil)
	for i := range n {
		h, _ := p.InsertFunc(func(_ pool.Handle[value], v *value) { v.A = uint64(i) })
		p.Take(h)
	}
}

func guardedPairs(n int) {
	p := bounded()
	for i := range n {
		g := p.Pin()
		h, _ := p.Insert(value{A: uint64(i)})
		p.Remove(h)
		g.Unpin()
	}
}

func poolReplacements(n int) {
	p := pool.Must[value](nil)
	hs := thousand(p.Insert)
	for i, k := 0, 0; i < n; i++ {
		p.Remove(hs[k])
		hs[k], _ = p.Insert(value{A: uint64(i)})
		if k++; k == len(hs) {
			k = 0
		}
	}
}

func lens(n int) {
	p := quarter()
	for range n {
		Sum += uint64(p.Len())
	}
}

func stats(n int) {
	p := quarter()
	for range n {
		Sum += uint64(p.Stats().Live)
	}
}

// quarter returns a pool with 256 values.
func quarter() *pool.Pool[value] {
	p := pool.Must[value](nil)
	for range 256 {
		_, _ = p.Insert(value{})
	}
	return p
}

func gets(n int) {
	p, hs := filled()
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		if v, ok := p.Get(hs[k]); ok {
			sum += v.A
		}
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

func guardGets(n int) {
	p, hs := filled()
	g := p.Pin()
	defer g.Unpin()
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		if v, ok := g.Pointer(hs[k]); ok {
			sum += v.A
		}
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

func pointers(n int) {
	p, hs := filled()
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		if v, ok := p.Pointer(hs[k]); ok {
			sum += v.A
		}
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

func pins(n int) {
	p := pool.Must[value](nil)
	for range n {
		g := p.Pin()
		g.Unpin()
	}
}

func views(n int) {
	p, hs := filled()
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		p.View(hs[k], func(v *value) { sum += v.A })
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

func poolFills(n int) {
	p := pool.Must[value](nil)
	for i := range n {
		_, _ = p.Insert(value{A: uint64(i)})
	}
}

func workerFills(n int) {
	w := pool.Must[value](nil).Worker()
	for i := range n {
		_, _ = w.Insert(value{A: uint64(i)})
	}
}

// Sum keeps the compiler from leaving look-ups out.
var Sum uint64

// filled is not inlined, so that it does not move the loops of its callers.
//
//go:noinline
func filled() (*pool.Pool[value], []pool.Handle[value]) {
	p := pool.Must[value](nil)
	return p, thousand(p.Insert)
}

func thousand(insert func(value) (pool.Handle[value], error)) (hs []pool.Handle[value]) {
	for i := range 1000 {
		h, _ := insert(value{A: uint64(i)})
		hs = append(hs, h)
	}
	return hs
}

// record has columns of several sizes, as those of most tables.
type record struct {
	X, Y, Z, Mass float64
	Name          string
	points        int32
	Kind          uint8
}

func stored() (*dense.Store[record], []pool.Handle[record]) {
	s := dense.Must(&dense.Options[record]{Unordered: true})
	hs := make([]pool.Handle[record], 1000)
	for i := range hs {
		hs[i], _ = s.Create(record{points: int32(i)})
	}
	s.Refresh()
	return s, hs
}

func denseGets(n int) {
	s, hs := stored()
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		if v, ok := s.Get(hs[k]); ok {
			sum += uint64(v.points)
		}
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

func densePointers(n int) {
	s, hs := stored()
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		if v, ok := s.Pointer(hs[k]); ok {
			sum += uint64(v.points)
		}
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

// densePairs kills and creates ten in each phase.
func densePairs(n int) {
	s, hs := stored()
	for i, k := 0, 0; i < n; i++ {
		s.Kill(hs[k])
		hs[k], _ = s.Create(record{points: int32(i)})
		if k++; k%10 == 0 {
			s.Refresh()
		}
		if k == len(hs) {
			k = 0
		}
	}
}

func tabled(l table.Layout) (*table.Table[pool.Handle[value], record], []pool.Handle[value]) {
	p, hs := filled()
	t := table.MustForHandles[value, record](p, l)
	for i, h := range hs {
		t.Add(h, record{points: int32(i)})
	}
	return t, hs
}

func tableGets(l table.Layout, n int) {
	t, hs := tabled(l)
	sum := uint64(0)
	for i, k := 0, 0; i < n; i++ {
		if v, ok := t.Get(hs[k]); ok {
			sum += uint64(v.points)
		}
		if k++; k == len(hs) {
			k = 0
		}
	}
	Sum = sum
}

func tableSets(n int) {
	t, hs := tabled(table.SoA)
	for i, k := 0, 0; i < n; i++ {
		t.Set(hs[k], record{points: int32(i)})
		if k++; k == len(hs) {
			k = 0
		}
	}
}

// node is a value of a forest.
type node struct {
	A     uint64
	Links tree.Links[node]
}

// forest returns a forest that has a node with 1,000 children, and the node at the end of a path of nine.
func forest() (f *tree.Forest[node], top, deep pool.Handle[node]) {
	p := pool.Must[node](nil)
	f = tree.New(p, func(n *node) *tree.Links[node] { return &n.Links })
	insert := func() pool.Handle[node] {
		h, _ := p.InsertFunc(func(pool.Handle[node], *node) {})
		return h
	}
	top, deep = insert(), insert()
	for range 1000 {
		_ = f.Append(top, insert())
	}
	for range 8 {
		h := insert()
		_ = f.Append(deep, h)
		deep = h
	}
	return f, top, deep
}

func treeNexts(n int) {
	f, top, _ := forest()
	r := f.Pin()
	h, _ := r.FirstChild(top)
	for range n {
		next, ok := r.Next(h)
		if !ok {
			next, _ = r.FirstChild(top)
		}
		h = next
	}
	r.Unpin()
	Sum = uint64(h)
}

func treeFirsts(n int) {
	f, top, _ := forest()
	r := f.Pin()
	for range n {
		h, _ := r.FirstChild(top)
		Sum += uint64(h)
	}
	r.Unpin()
}

func treeDepths(n int) {
	f, _, deep := forest()
	r := f.Pin()
	for range n {
		Sum += uint64(r.Depth(deep))
	}
	r.Unpin()
}
