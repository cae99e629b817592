package pending

// Sleepers returns how many StartWaits c would wake in a Close.
func Sleepers[T any](c *Calls[T]) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sleepers)
}
