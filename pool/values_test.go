package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"

	"coatcheck/internal/check/verbs"
)

// The values of the model: plain ones, and ones with pointers and a buffer that Reset keeps.
// Both encode themselves.

// kind says how the machine deals with values of T. The number of a value that is zero
// or was reset is 0.
type kind[T any] = verbs.Kind[T]

type plain struct{ id, twice uint64 }

var plainKind = kind[plain]{
	Make: func(id uint64) plain { return plain{id, 2 * id} },
	Number: func(v *plain) uint64 {
		if v.twice != 2*v.id {
			return 1 << 63 // torn
		}
		return v.id
	},
}

type boxed struct {
	id  uint64
	box *uint64
	buf []byte // what Reset keeps
}

var boxedKind = kind[boxed]{
	Make: func(id uint64) boxed { return boxed{id, &id, make([]byte, 0, 1)} },
	Number: func(v *boxed) uint64 {
		switch {
		case v.box == nil && v.id == 0:
			return 0
		case v.box == nil || *v.box != v.id:
			return 1 << 63
		}
		return v.id
	},
}

func resetPlain(v *plain) { *v = plain{} }

func resetBoxed(v *boxed) { *v = boxed{buf: v.buf[:0]} }

var errForeign = errors.New("not a value of the model's")

func (v plain) MarshalBinary() ([]byte, error) { return binary.Append(nil, binary.BigEndian, v) }

func (v *plain) UnmarshalBinary(b []byte) error {
	if len(b) != 16 {
		return errForeign
	}
	v.id, v.twice = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	return nil
}

func (v *boxed) MarshalBinary() ([]byte, error) {
	b := binary.BigEndian.AppendUint64(nil, v.id)
	if v.box != nil {
		b = binary.BigEndian.AppendUint64(b, *v.box)
	}
	return append(b, v.buf...), nil
}

func (v *boxed) UnmarshalBinary(b []byte) error {
	if len(b) < 16 {
		return errForeign
	}
	box := binary.BigEndian.Uint64(b[8:])
	*v = boxed{binary.BigEndian.Uint64(b), &box, bytes.Clone(b[16:])}
	return nil
}

// Values of other tests. Each further type would have all methods of a pool compiled once
// more.
type (
	// stamp tells when its slot was given to another value.
	stamp struct {
		id   uint64
		self *stamp // zeroed with it
	}

	// bulky is so large that no page of 2^31 can be had.
	bulky [1 << 17]byte
)
