package cgohandle

// Explain returns what the pool of all Handles knows about one.
func Explain(h Handle) string {
	return handles.pool.Explain(handleOf[any](uintptr(h)))
}
