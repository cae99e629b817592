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
	if q.Pool != nil {
		v, ok = q.Pool.Get(q.Handle)
	}
	return
}

// Under returns the value itself, good until g is unpinned; see [Guard.Get]. It is false
// under a guard of another pool, and panics under one that is not pinned.
func (q Ptr[T]) Under(g *Guard[T]) (v *T, ok bool) {
	if g.pool == nil || g.pool == q.Pool {
		v, ok = g.Get(q.Handle)
	}
	return
}

// View calls f with the value; see [Pool.View].
func (q Ptr[T]) View(f func(*T)) bool { return q.Pool != nil && q.Pool.View(q.Handle, f) }

// Remove removes the value; see [Pool.Remove].
func (q Ptr[T]) Remove() bool { return q.Pool != nil && q.Pool.Remove(q.Handle) }
