package linearize

import (
	"math"

	"coatcheck/pool"
)

// Handle is a handle of the pools that are judged.
type Handle = pool.Handle[Value]

// Value is what the pools keep. It says who it is three times, once behind a
// pointer and once at its far end, so that a mixture of two values, a zeroed one
// and one that was Reset show.
//
// It is large for two reasons: a page of a pool that grows has only 32 slots, so
// that histories cross pages, and copying takes so long that threads meet in it.
type Value struct {
	id   uint64
	twin *uint64
	_    [8 << 10]byte
	tail uint64
}

// torn is what such a value reads as. No value is inserted with this number.
const torn = math.MaxUint64

func newValue(id uint64) Value { return Value{id: id, twin: &id, tail: id} }

// read returns the value's number, or torn.
func (v *Value) read() uint64 {
	if v.twin == nil || *v.twin != v.id || v.tail != v.id {
		return torn
	}
	return v.id
}
