//go:build !cgo

package cgohandle_test

// original does what runtime/cgo.Handle does, which does not link without cgo, and so
// not on 32 bits from a machine of 64.
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
