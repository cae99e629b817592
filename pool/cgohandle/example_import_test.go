//go:build !race

package cgohandle_test

import (
	"fmt"

	cgo "coatcheck/pool/cgohandle" // was "runtime/cgo"
)

// A program that uses runtime/cgo.Handle changes its import, and no other line.
func ExampleNewHandle() {
	h := cgo.NewHandle("a value")
	defer h.Delete()
	callback := func(data uintptr) { fmt.Println(cgo.Handle(data).Value().(string)) }
	callback(uintptr(h)) // C has only the number
	// Output: a value
}
