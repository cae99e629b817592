//go:build !race

package cgohandle_test

import (
	"fmt"

	"coatcheck/pool/cgohandle"
)

// watch stands for C code: it keeps a word of user data and calls back with it.
func watch(data uintptr, callback func(uintptr)) { callback(data) }

func Example() {
	type session struct{ name string }
	h := cgohandle.New(&session{"alice"})

	onEvent := func(data uintptr) {
		s := cgohandle.Handle(data).Value().(*session)
		fmt.Println("event for", s.name)
	}
	watch(uintptr(h), onEvent)
	h.Delete()
	// Output: event for alice
}

func ExampleNew() {
	h := cgohandle.New("a value")
	fmt.Println(h != 0, h.Value())
	h.Delete()
	// Output: true a value
}

// A handle that is not live is a bug to Value, which panics.
func ExampleHandle_Value() {
	h := cgohandle.New([]int{1, 2, 3})
	fmt.Println(h.Value().([]int))
	h.Delete()

	defer func() { fmt.Println("after its Delete it panics:", recover() != nil) }()
	h.Value()
	// Output:
	// [1 2 3]
	// after its Delete it panics: true
}

// An event that was under way when its session ended is not a bug.
func ExampleHandle_Lookup() {
	onEvent := func(data uintptr) {
		if name, ok := cgohandle.Handle(data).Lookup(); ok {
			fmt.Println("event for", name)
		} else {
			fmt.Println("too late")
		}
	}
	h := cgohandle.New("alice")
	watch(uintptr(h), onEvent)
	h.Delete()
	watch(uintptr(h), onEvent)
	// Output:
	// event for alice
	// too late
}

// Of two Deletes, one panics.
func ExampleHandle_Delete() {
	h := cgohandle.New("a value")
	h.Delete()
	_, ok := h.Lookup()
	fmt.Println(ok)

	defer func() { fmt.Println("a second Delete panics:", recover() != nil) }()
	h.Delete()
	// Output:
	// false
	// a second Delete panics: true
}

// After a peak the memory of unused slots goes back to the Go heap.
func ExampleTrim() {
	var hs []cgohandle.Handle
	for i := range 100_000 {
		hs = append(hs, cgohandle.New(i))
	}
	for _, h := range hs[1:] {
		h.Delete()
	}
	freed := cgohandle.Trim() // some megabytes, where a word has 64 bits
	fmt.Println(freed >= 0, hs[0].Value())
	_, ok := hs[1].Lookup()
	fmt.Println(ok)
	// Output:
	// true 0
	// false
}

// A Table holds values of one type, without an interface around them.
func ExampleTable() {
	type session struct{ name string }
	sessions := cgohandle.NewTable[*session]()

	h := sessions.New(&session{"alice"})
	watch(h, func(data uintptr) { fmt.Println(sessions.Value(data).name) })
	fmt.Println(sessions.Len())

	sessions.Delete(h)
	_, ok := sessions.Lookup(h)
	fmt.Println(ok, sessions.Len())
	// Output:
	// alice
	// 1
	// false 0
}
