package peer

// Trim gives back what the pool no longer needs.
func (s *poolStore[R]) Trim() { s.pool.Trim() }
