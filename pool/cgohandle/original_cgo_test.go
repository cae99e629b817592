//go:build cgo

package cgohandle_test

import "runtime/cgo"

// original is runtime/cgo.Handle itself.
func original() verbs { return ofHandles(cgo.NewHandle, cgo.Handle.Value, cgo.Handle.Delete) }
