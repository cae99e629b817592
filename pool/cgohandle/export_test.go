package cgohandle

import "coatcheck/pool"

// Explain is what the pool of all Handles says of one.
func Explain(h Handle) string {
	return (*pool.Pool[any])(handles).Explain(handleOf[any](uintptr(h)))
}

// Waiting returns how many deleted Handles' slots still have their values.
func Waiting() int { return (*pool.Pool[any])(handles).Stats().Limbo }
