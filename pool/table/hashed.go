package table

// hashed is the index of tables from New: a Go map.
type hashed[K comparable] struct{ rows map[K]Index }

func (x *hashed[K]) find(k K) Index {
	if i, ok := x.rows[k]; ok {
		return i
	}
	return None
}

func (x *hashed[K]) held(k K) Index { return x.find(k) }

func (x *hashed[K]) claim(k K, next Index, _ []K) Index {
	// A map could never find or delete a key that is not equal to itself.
	if k != k || x.find(k).IsSet() {
		return None
	}
	if x.rows == nil {
		x.rows = map[K]Index{}
	}
	x.rows[k] = next
	return next
}

func (x *hashed[K]) unclaim(k K, _ []K) { delete(x.rows, k) }

func (x *hashed[K]) set(k K, i Index) { x.rows[k] = i }
func (x *hashed[K]) dead(K) bool      { return false }
func (x *hashed[K]) drop(k K)         { delete(x.rows, k) }
