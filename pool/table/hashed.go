package table

import (
	"maps"
	"math/bits"
	"reflect"
)

// hashed is the index of tables from New: a Go map.
type hashed[K comparable] struct {
	rows map[K]Index
	room int // at least for how many keys rows was made, and how many it had before a removal
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

func (x *hashed[K]) unclaim(k K, _ []K) { x.drop(k) }

func (x *hashed[K]) set(k K, i Index) { x.rows[k] = i }
func (x *hashed[K]) dead(K) bool      { return false }

func (x *hashed[K]) drop(k K) {
	x.room = max(x.room, len(x.rows))
	delete(x.rows, k)
}

func (x *hashed[K]) empty() index[K] { return &hashed[K]{} }

// clear deletes the keys one by one if they are few: to clear a map visits all that it has had room
// for, and costs a tenth of a deletion for each.
func (x *hashed[K]) clear(keys []K) {
	x.room = max(x.room, len(x.rows))
	if x.room > sparse*len(keys) {
		for _, k := range keys {
			delete(x.rows, k)
		}
		return
	}
	clear(x.rows)
}

// sparse is how many keys a map has room for, for each that it has, if it has few.
const sparse = 10

// reserve makes a map with room, since a map cannot be told to grow. A map consists of many
// small tables, and the keys are spread over them by chance. With room for a quarter more, no
// table is full before its time. Steps of two, as in growth, keep repeated calls O(n).
func (x *hashed[K]) reserve(n int) {
	// A map that is made for 8 allocates when the first key comes.
	if n = max(n+n/4, 9); n > x.room {
		x.remake(max(n, 2*len(x.rows)))
	}
}

// trim copies the keys to a map of their number, since maps do not shrink.
func (x *hashed[K]) trim() int64 {
	before, after := mapBytes[K](max(x.room, len(x.rows))), mapBytes[K](len(x.rows))
	if before == after {
		return 0
	}
	x.remake(len(x.rows))
	return before - after
}

// remake makes the map anew, with room for n keys.
func (x *hashed[K]) remake(n int) {
	var rows map[K]Index
	if n > 0 {
		rows = make(map[K]Index, n)
		maps.Copy(rows, x.rows)
	}
	x.rows, x.room = rows, n
}

// mapBytes returns about how many bytes the runtime allocates for a map of n keys: slots of a
// key, an element and a byte, of which it fills seven of eight, in tables of a power of two.
func mapBytes[K comparable](n int) int64 {
	const group, perTable, beside, most = 8, 1024, 48, 128
	if n == 0 {
		return 0
	}
	key, slots := int64(reflect.TypeFor[K]().Size()), int64(group)
	if n > group {
		slots = 1 << bits.Len64(uint64(n)*8/7-1)
	}
	if key > most { // elsewhere, and freed when it is removed
		key = wordBytes
	}
	return slots*(key+wordBytes+1) + (slots+perTable-1)/perTable*beside
}
