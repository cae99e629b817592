//go:build !cgo

package cgohandle_test

// original imitates runtime/cgo.Handle, which does not link without cgo, and so not for
// 32 bits on a 64-bit machine.
func original() verbs {
	values, last := make(map[int]any), 0
	value := func(h int) any {
		v, ok := values[h]
		if !ok {
			panic("misuse")
		}
		return v
	}
	create := func(v any) int { last++; values[last] = v; return last }
	return ofHandles(create, value, func(h int) { value(h); delete(values, h) })
}
