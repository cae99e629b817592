package codec

import (
	"reflect"
	"unsafe"
)

// Content is the codec of t without lengths of values, and its description.
func Content(t reflect.Type) (Codec, Description, error) {
	p, err := planOf(t, false)
	if err != nil {
		return nil, p.Description, err
	}
	return p.content(), p.Description, nil
}

// Within encodes what v points to, of the type t, if it is sure to take no more than limit bytes.
func Within(t reflect.Type, v unsafe.Pointer, limit int) ([]byte, error) {
	c, _, err := Content(t)
	if err != nil {
		return nil, err
	}
	e := partsEncoder{limit: limit}
	err = e.put(c.(partsCodec).top, v)
	return e.dst, err
}

// OnOtherProcessors makes codecs as where numbers have the other order of bytes in memory, until the function that it
// returns is called.
func OnOtherProcessors() (restore func()) {
	littleEndian = !littleEndian
	return func() { littleEndian = !littleEndian }
}

// InMap returns how many bytes of a map's table a key or an element of this size takes.
func InMap(memory uint64) uint64 {
	inTable, _ := inMap(memory)
	return inTable
}

const (
	MapHead  = mapHead
	PartRoom = mostBytes + wideLength
)

// AppendLong is appendLong.
var AppendLong = appendLong
