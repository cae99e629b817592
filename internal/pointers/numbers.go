package pointers

import (
	"reflect"
	"unsafe"
)

// Range is the bytes of a value from From to To-1.
type Range struct{ From, To uintptr }

// mostRanges bounds what Numbers returns for an array of structs: 64 KiB.
const mostRanges = 1 << 12

// Numbers returns the parts of values of type t that hold no pointers, in their order: numbers, lengths and what
// lies between fields. Both words of an interface count as pointers. Of a long array it returns the first parts alone.
func Numbers(t reflect.Type) []Range {
	var b numbers
	b.add(t, 0)
	b.skip(t.Size(), t.Size())
	return b.ranges
}

// numbers is a list of ranges while it is made.
type numbers struct {
	ranges []Range
	end    uintptr // what lies before is in the list, or holds pointers
}

// skip notes that a pointer lies from from to to-1, and numbers before it.
func (b *numbers) skip(from, to uintptr) {
	if from > b.end {
		b.ranges = append(b.ranges, Range{b.end, from})
	}
	b.end = to
}

const word = unsafe.Sizeof(uintptr(0))

// add notes the pointers of a value of type t that lies at an offset.
func (b *numbers) add(t reflect.Type, at uintptr) {
	switch k := t.Kind(); {
	case !In(t):
	case k == reflect.Array:
		for i := range t.Len() {
			if len(b.ranges) >= mostRanges {
				b.skip(at+uintptr(i)*t.Elem().Size(), at+t.Size())
				return
			}
			b.add(t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
	case k == reflect.Struct:
		for i := range t.NumField() {
			b.add(t.Field(i).Type, at+t.Field(i).Offset)
		}
	case k == reflect.Interface:
		b.skip(at, at+2*word)
	default: // a pointer, or the first word of a string or slice
		b.skip(at, at+word)
	}
}
