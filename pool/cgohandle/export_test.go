package cgohandle

import "coatcheck/pool"

// Explain returns what the pool of all Handles knows about one.
func Explain(h Handle) string {
	return (*pool.Pool[any])(handles).Explain(handleOf[any](uintptr(h)))
}
