package cgohandle

import "coatcheck/pool"

// Explain is what the pool of all Handles says of one.
func Explain(h Handle) string {
	return (*pool.Pool[any])(handles).Explain(handleOf[any](uintptr(h)))
}
