//go:build !race

package table_test

import (
	"bytes"
	"cmp"
	"fmt"

	"coatcheck/pool"
	"coatcheck/pool/dense"
	"coatcheck/pool/table"
)

type Vec struct{ X, Y float64 }

type Body struct {
	Pos  Vec
	Mass float64
	Name string
}

// bodies returns a table of three.
func bodies() *table.Table[string, Body] {
	t := table.Must[string, Body](table.SoA)
	t.Add("S", Body{Name: "Sun", Mass: 1000})
	t.Add("E", Body{Name: "Earth", Mass: 3, Pos: Vec{1, 0}})
	t.Add("M", Body{Name: "Moon", Mass: 0.04, Pos: Vec{1, 0.1}})
	return t
}

// annotated returns a pool of four names, and a table of notes on them.
func annotated() (*pool.Pool[string], *table.Table[pool.Handle[string], struct{ Text string }]) {
	p := pool.Must[string](nil)
	notes := table.MustForHandles[string, struct{ Text string }](p, table.SoA)
	for _, name := range []string{"a", "b", "c", "d"} {
		h, _ := p.Insert(name)
		notes.Add(h, struct{ Text string }{"note on " + name})
	}
	return p, notes
}

// One argument decides how the records lie in memory.
func Example_layout() {
	for _, layout := range []table.Layout{table.SoA, table.AoS} {
		t, err := table.New[string, Body](layout)
		if err != nil {
			panic(err)
		}
		t.Add("S", Body{Name: "Sun", Mass: 1000})
		t.Add("E", Body{Name: "Earth", Mass: 3, Pos: Vec{1, 0}})

		total := 0.0
		for _, m := range table.Column(t, func(b *Body) *float64 { return &b.Mass }).All() {
			total += *m
		}
		fmt.Println(t.Layout(), total)
	}
	// Output:
	// SoA 1003
	// AoS 1003
}

// Data that only some values of a pool have is kept in a table by their handles.
func ExampleForHandles() {
	type entity struct{}
	type shield struct{ Strength int }
	entities := pool.Must(&pool.Options[entity]{Origin: 1, Capacity: 2})
	shields, _ := table.ForHandles[entity, shield](entities, table.SoA)

	a, _ := entities.Insert(entity{})
	b, _ := entities.Insert(entity{})
	shields.Add(b, shield{50})
	fmt.Println(shields.Lookup(a), shields.Lookup(b))

	entities.Remove(b)
	c, _ := entities.Insert(entity{}) // in the slot of b
	fmt.Println(c.Index() == b.Index(), shields.Lookup(b), shields.Lookup(c))
	fmt.Println(shields.Add(c, shield{70}), shields.Len()) // and its shield in the row of b's
	// Output:
	// -1 0
	// true -1 -1
	// 0 1
}

func ExampleTable_Add() {
	t := bodies()
	fmt.Println(t.Add("V", Body{Name: "Venus"}), t.Add("V", Body{Name: "Vulcan"}) == table.None)
	// Output: 3 true
}

func ExampleTable_AddBatch() {
	t := bodies()
	fmt.Println(t.AddBatch([]string{"V", "E"}, []Body{{Name: "Venus"}, {Name: "Eris"}}), t.Len())
	fmt.Println(t.AddBatch([]string{"V", "J"}, []Body{{Name: "Venus"}, {Name: "Jupiter"}}), t.Len())
	// Output:
	// false 3
	// true 5
}

func ExampleTable_AddOrSet() {
	t := bodies()
	fmt.Println(t.AddOrSet("M", Body{Name: "Luna"}), t.AddOrSet("V", Body{Name: "Venus"}), t.Len())
	fmt.Println(t.Get("M"))
	// Output:
	// 2 3 4
	// {{0 0} 0 Luna} true
}

func ExampleTable_Remove() {
	t := bodies()
	gap := t.Remove("S")
	k, _ := t.KeyAt(gap) // the last record moved in
	fmt.Println(gap, k, t.Keys(), t.Remove("S"))
	fmt.Println(t.RemoveAt(gap).IsSet(), t.Keys())
	// Output:
	// 0 M [M E] -1
	// true [E]
}

func ExampleTable_RemoveDead() {
	p, notes := annotated()
	p.DeleteFunc(func(_ pool.Handle[string], name *string) bool { return *name < "c" })
	fmt.Println(notes.Len(), notes.RemoveDead(), notes.Len())
	// Output: 4 2 2
}

func ExampleTable_DeleteFunc() {
	t := bodies()
	mass := table.Column(t, func(b *Body) *float64 { return &b.Mass })
	n := t.DeleteFunc(func(_ string, i table.Index) bool { return *mass.At(i) < 1 })
	fmt.Println(n, t.Keys())
	// Output: 1 [S E]
}

func ExampleTable_SortFunc() {
	t := bodies()
	mass := table.Column(t, func(b *Body) *float64 { return &b.Mass })
	t.SortFunc(func(a, b table.Index) int { return cmp.Compare(*mass.At(a), *mass.At(b)) })
	fmt.Println(t.Keys(), t.Lookup("S"))
	// Output: [M E S] 2
}

func ExampleTable_OnMove() {
	t := bodies()
	moon := t.Lookup("M") // an Index kept …
	t.OnMove(func(k string, from, to table.Index) {
		if from == moon {
			moon = to // … and updated
		}
	})
	t.Remove("S")
	fmt.Println(t.GetAt(moon))
	// Output: {{1 0.1} 0.04 Moon} true
}

// A value died, and the next value in its slot gets a record: the old record is at None.
func ExampleTable_OnMove_replaced() {
	p := pool.Must(&pool.Options[string]{Capacity: 1})
	t := table.MustForHandles[string, Body](p, table.SoA)
	t.OnMove(func(h pool.Handle[string], from, to table.Index) {
		fmt.Println("the record of a dead value:", !p.Contains(h), from, to == table.None)
	})
	earth, _ := p.Insert("E")
	t.Add(earth, Body{Name: "Earth"})
	p.Remove(earth)
	moon, _ := p.Insert("M")
	t.Add(moon, Body{Name: "Moon"})
	// Output: the record of a dead value: true 0 true
}

// A sound has a voice, which must be stopped when the value that plays it is gone, whoever removed it.
func ExampleTable_OnDead() {
	type sound struct{ voice string }
	p := pool.Must[string](nil)
	t := table.MustForHandles[string, sound](p, table.SoA)
	t.OnDead(func(h pool.Handle[string], s sound) { fmt.Println("stop", s.voice, p.Contains(h)) })
	bird, _ := p.Insert("bird")
	t.Add(bird, sound{"chirp"})
	p.Remove(bird)
	fmt.Println(t.RemoveDead())
	// Output:
	// stop chirp false
	// 1
}

func ExampleTable_Get() {
	t := bodies()
	earth, _ := t.Get("E")
	_, ok := t.Get("Vulcan")
	fmt.Println(earth.Name, ok)
	// Output: Earth false
}

func ExampleTable_Set() {
	t := bodies()
	fmt.Println(t.Set("M", Body{Name: "Luna"}), t.Set("V", Body{Name: "Venus"}))
	fmt.Println(t.Get("M"))
	fmt.Println(t.SetAt(2, Body{Name: "Moon"}), t.SetAt(3, Body{}))
	// Output:
	// true false
	// {{0 0} 0 Luna} true
	// true false
}

func ExampleTable_Pages() {
	t := table.Must[uint64, Vec](table.SoA)
	t.Add(1, Vec{})
	fmt.Println(t.Pages(), "of 4 KiB: keys, X and Y, for", t.Allocated(), "records")
	// Output: 3 of 4 KiB: keys, X and Y, for 512 records
}

func ExampleTable_Grow() {
	t := table.Must[int, Body](table.AoS)
	t.Grow(100_000) // no Add moves a record until there are that many
	fmt.Println(t.Allocated())
	// Output: 131072
}

// Clear keeps the memory for the next records, and Trim gives it back.
func ExampleTable_Clear() {
	t := bodies()
	fmt.Println(t.Clear(), t.Len(), t.Allocated())
	fmt.Println(t.Trim() > 0, t.Allocated())
	// Output:
	// 3 0 256
	// true 0
}

func ExampleTable_Trim() {
	t := bodies()
	t.Grow(100_000)
	fmt.Println(t.Allocated(), t.Trim() > 0, t.Allocated(), t.Len())
	// Output: 131072 true 256 3
}

// A pool and a table for its handles are saved and restored: the handles stay valid.
func ExampleTable_WriteTo() {
	p, notes := annotated()
	h := notes.Keys()[2]
	var file bytes.Buffer
	_, _ = p.WriteTo(&file)
	_, _ = notes.WriteTo(&file)

	p, err := pool.ReadFrom[string](&file, nil) // in the next process
	if err != nil {
		fmt.Println(err)
		return
	}
	notes = table.MustForHandles[string, struct{ Text string }](p, table.AoS)
	if _, err := notes.ReadFrom(&file); err != nil {
		fmt.Println(err)
		return
	}
	note, _ := notes.Get(h)
	fmt.Println(notes.Len(), p.MustGet(h), note.Text)
	// Output: 4 c note on c
}

func ExampleTable_ReadFrom() {
	var file bytes.Buffer
	_, _ = bodies().WriteTo(&file)

	t := table.Must[string, Body](table.AoS)
	mass := table.Column(t, func(b *Body) *float64 { return &b.Mass }) // stays valid
	_, err := t.ReadFrom(&file)
	fmt.Println(err, t.Keys(), *mass.At(t.Lookup("M")))
	// Output: <nil> [S E M] 0.04
}

func ExampleTable_Clone() {
	t := bodies()
	frame := t.Clone(nil)
	t.Remove("E")
	fmt.Println(t.Keys(), frame.Keys())
	// Output: [S M] [S E M]
}

// A pool and a table for its handles are cloned: the handles stay valid, and name the same in both.
func ExampleTable_CloneFrom() {
	p, notes := annotated()
	h := notes.Keys()[2]
	q, err := p.Clone(nil, nil)
	frame := table.MustForHandles[string, struct{ Text string }](q, table.SoA)
	frame.CloneFrom(notes, nil)
	p.Remove(h)

	note, ok := frame.Get(h)
	fmt.Println(note.Text, ok, notes.Lookup(h).IsSet(), err)
	// Output: note on c true false <nil>
}

// Bodies had no name.
func ExampleReadFromFunc() {
	type nameless struct{ Mass float64 }
	old := table.Must[string, nameless](table.SoA)
	old.Add("M", nameless{0.04})
	var file bytes.Buffer
	_, _ = old.WriteTo(&file)

	t := table.Must[string, Body](table.SoA)
	_, err := table.ReadFromFunc(t, &file, func(b *nameless) (Body, error) { return Body{Mass: b.Mass, Name: "unknown"}, nil })
	fmt.Println(t.Get("M"))
	fmt.Println(err)
	// Output:
	// {{0 0} 0.04 unknown} true
	// <nil>
}

// A table beside a dense store: the record of a value that has gone is not found.
func ExampleForLive() {
	s := dense.Must[string](nil)
	t, err := table.ForLive[string, Body](s.Alive, table.SoA)
	earth, _ := s.Create("E")
	t.Add(earth, Body{Name: "Earth"})
	s.Kill(earth)
	s.Refresh()
	fmt.Println(t.Lookup(earth).IsSet(), t.RemoveDead(), err)
	// Output: false 1 <nil>
}

func ExampleTable_All() {
	for k, b := range bodies().All() {
		fmt.Print(k, " is ", b.Name, ". ")
	}
	// Output: S is Sun. E is Earth. M is Moon.
}

func ExampleColumn() {
	t := bodies()
	x := table.Column(t, func(b *Body) *float64 { return &b.Pos.X }) // also within nested structs
	*x.At(t.Lookup("M")) = 7
	fmt.Println(x.Len())
	fmt.Println(t.Get("M"))
	// Output:
	// 3
	// {{7 0.1} 0.04 Moon} true
}

func ExampleColumn_wholeRecords() {
	t := table.Must[string, Body](table.AoS) // under SoA no record lies in one place
	t.Add("E", Body{Name: "Earth", Mass: 1})
	body := table.Column(t, func(b *Body) *Body { return b })
	b := body.At(t.Lookup("E"))
	b.Name, b.Mass = "Terra", 6e24
	fmt.Println(t.Get("E"))
	// Output: {{0 0} 6e+24 Terra} true
}

func ExampleView_All() {
	for i, name := range table.Column(bodies(), func(b *Body) *string { return &b.Name }).All() {
		fmt.Print(i, " is ", *name, ". ")
	}
	// Output: 0 is Sun. 1 is Earth. 2 is Moon.
}

func ExampleView_Batch() {
	t := bodies()
	ix := []table.Index{t.Lookup("M"), t.Lookup("Vulcan"), t.Lookup("S")}
	names := table.Column(t, func(b *Body) *string { return &b.Name }).Batch(ix, nil)
	fmt.Println(*names[0], names[1] == nil, *names[2])
	// Output: Moon true Sun
}

func ExampleView_Slice() {
	t := bodies()
	mass, whole := table.Column(t, func(b *Body) *float64 { return &b.Mass }).Slice()
	_, half := table.Column(t, func(b *Body) *float64 { return &b.Pos.X }).Slice() // every other float64
	fmt.Println(mass, whole, half)
	// Output: [1000 3 0.04] true false
}
