package table

import (
	"maps"
	"math/bits"
	"reflect"
)

// hashed is the index of a table that New made: a Go map.
type hashed[K comparable] struct {
	rows map[K]Index
	room int // for how many keys the map was made, or how many it had before a removal if that is more
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

// clear deletes the keys one by one if they are few. For clear(map) visits all that the map has room for,
// at a tenth of the cost of a deletion.
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

// sparse says when the keys of a map are few: it has room for more than so many times their number.
const sparse = 10

// reserve makes a new map with more room, since a map cannot be told to grow. A map consists of many small
// tables, over which chance spreads the keys. With room for a quarter more, no table fills up early. The
// room doubles at least, so repeated calls cost O(n).
func (x *hashed[K]) reserve(n int) {
	// A map that is made for 8 allocates when the first key comes.
	if n = max(n+n/4, 9); n > x.room {
		x.remake(max(n, 2*len(x.rows)))
	}
}

// trim copies the keys to a map that is made for their number, since maps do not shrink.
func (x *hashed[K]) trim() int64 {
	old, shrunk := mapBytes[K](max(x.room, len(x.rows))), mapBytes[K](len(x.rows))
	if old == shrunk {
		return 0
	}
	x.remake(len(x.rows))
	return old - shrunk
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

// mapBytes returns about how many bytes the runtime allocates for a map of n keys. Each of its places has
// a key, an element and a byte. The runtime fills seven of eight places, in tables of a power of two.
func mapBytes[K comparable](n int) int64 {
	const group, perTable, header, keyLimit = 8, 1024, 48, 128
	if n == 0 {
		return 0
	}
	key, slots := int64(reflect.TypeFor[K]().Size()), int64(group)
	if n > group {
		slots = 1 << bits.Len64(uint64(n)*8/7-1)
	}
	if key > keyLimit { // elsewhere, and freed when it is removed
		key = wordBytes
	}
	return slots*(key+wordBytes+1) + (slots+perTable-1)/perTable*header
}
