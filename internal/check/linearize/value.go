package linearize

import (
	"math"

	"coatcheck/pool"
)

// Handle is a handle of a judged pool.
type Handle = pool.Handle[Value]

// Value is the value of the pools. It has its number three times, once behind a pointer and
// once at its end, so that a mixture of two values, a zeroed one and one that was Reset are
// detected.
//
// It is large for two reasons. A page has only 32 slots, so histories cross pages; and a
// copy takes long, so operations overlap it.
type Value struct {
	id   uint64
	twin *uint64
	_    [8 << 10]byte
	tail uint64
}

// torn is the number of a value that is not whole. No value is inserted with it.
const torn = math.MaxUint64

func newValue(id uint64) Value { return Value{id: id, twin: &id, tail: id} }

// read returns the value's number, or torn.
func (v *Value) read() uint64 {
	if v.twin == nil || *v.twin != v.id || v.tail != v.id {
		return torn
	}
	return v.id
}
