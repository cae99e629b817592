package table

import "maps"

// hashed is the index of tables from New: a Go map.
type hashed[K comparable] struct {
	rows map[K]Index
	room int // the number of keys that rows was made for or, before a removal, had
}

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

func (x *hashed[K]) drop(k K) {
	x.room = max(x.room, len(x.rows))
	delete(x.rows, k)
}

// reserve makes a larger map if that saves at least one growth, since a map cannot be
// told to grow.
func (x *hashed[K]) reserve(n int) {
	if n <= max(x.room, 2*len(x.rows)) {
		return
	}
	rows := make(map[K]Index, n)
	maps.Copy(rows, x.rows)
	x.rows, x.room = rows, n
}
