//go:build cgo

package cgohandle_test

import "runtime/cgo"

// original is runtime/cgo.Handle itself.
func original() verbs {
	hs := []cgo.Handle{0}
	return verbs{
		func(v any) { hs = append(hs, cgo.NewHandle(v)) },
		func(i int) any { return hs[i].Value() },
		func(i int) { hs[i].Delete() },
	}
}
