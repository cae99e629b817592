package pool_test

import (
	"coatcheck/internal/check/verbs"
)

// The values of the model: plain ones, and ones with pointers and a buffer that Reset keeps.

// kind says how the machine deals with values of T. The number of a value that is zero
// or was reset is 0.
type kind[T any] = verbs.Kind[T]

type plain struct{ ID, Twice uint64 }

var plainKind = kind[plain]{
	Make: func(id uint64) plain { return plain{id, 2 * id} },
	Number: func(v *plain) uint64 {
		if v.Twice != 2*v.ID {
			return 1 << 63 // torn
		}
		return v.ID
	},
}

type boxed struct {
	ID  uint64
	Box *uint64
	Buf []byte // what Reset keeps
}

var boxedKind = kind[boxed]{
	Make: func(id uint64) boxed { return boxed{id, &id, make([]byte, 0, 1)} },
	Number: func(v *boxed) uint64 {
		switch {
		case v.Box == nil && v.ID == 0:
			return 0
		case v.Box == nil || *v.Box != v.ID:
			return 1 << 63
		}
		return v.ID
	},
}

func resetPlain(v *plain) { *v = plain{} }

func resetBoxed(v *boxed) { *v = boxed{Buf: v.Buf[:0]} }

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
