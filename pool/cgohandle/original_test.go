//go:build !cgo

package cgohandle_test

// original imitates runtime/cgo.Handle, which does not link without cgo, and so not for
// 32 bits on a 64-bit machine.
func original() verbs {
	values, last := make(map[int]any), 0
	value := func(i int) any {
		v, ok := values[i]
		if !ok {
			panic("misuse")
		}
		return v
	}
	return verbs{
		func(v any) { last++; values[last] = v },
		value,
		func(i int) { value(i); delete(values, i) },
	}
}
