package pool

// Ptr is a handle with its pool, for those who like pointers: it needs no pool
// at hand. The zero Ptr is not live. It may be copied and compared, and costs two
// words.
type Ptr[T any] struct {
	Pool   *Pool[T]
	Handle Handle[T]
}

// Ptr returns h with its pool. It does not look whether h is live.
func (p *Pool[T]) Ptr(h Handle[T]) Ptr[T] { return Ptr[T]{p, h} }

// Live answers whether the value is there; see [Pool.Contains].
func (q Ptr[T]) Live() bool { return q.Pool != nil && q.Pool.Contains(q.Handle) }

// Get returns a copy of the value; see [Pool.Get].
func (q Ptr[T]) Get() (v T, ok bool) {
	if q.Pool == nil {
		return v, false
	}
	return q.Pool.Get(q.Handle)
}

// View calls f with the value; see [Pool.View].
func (q Ptr[T]) View(f func(*T)) bool { return q.Pool != nil && q.Pool.View(q.Handle, f) }

// Remove removes the value; see [Pool.Remove].
func (q Ptr[T]) Remove() bool { return q.Pool != nil && q.Pool.Remove(q.Handle) }
