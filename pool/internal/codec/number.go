package codec

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// A number of 32 or 64 bits, and an int or a uint, takes as many bytes as it needs: seven bits in
// each, the least first, and in the ninth, if there is one, eight. Signed numbers are zigzagged, so
// that small negative ones are short too. An array or a slice of numbers of 32 or 64 bits has them
// as they are in memory: it may be a buffer, or a hash.
//
// A handle is its index plus one, and how far its generation lies from the first one of the same
// field in this snapshot: most handles of a field are of one pool, whose generations begin at a
// number that was drawn. Mostly each slot begins at another (slots.Origins), and the first handle's
// counterpart there is what counts; which one was nearer last time tells.
// The zero handle is a zero. So a handle takes 2 to 5 bytes, and cannot be read without those before it. A value of
// eight numbers, a byte and two handles takes 31 bytes; with numbers as in memory it takes 58, and 3 to 5 times as
// long, and by encoding/gob 65.

// numberKind tells how a number of variable length is written.
type numberKind uint8

const (
	noNumber numberKind = iota
	signed
	unsigned
	related // a handle
)

// mostBytes is the length of the longest number.
const mostBytes = 9

// word has the methods of package pool's handles. Another type of uint64 with these methods is written in the
// same way, which loses no bit of any word.
type word interface {
	Index() uint32
	Generation() uint32
	IsZero() bool
}

var wordType = reflect.TypeFor[word]()

// numberOf returns how a number of type t is written, or noNumber if its length does not vary.
func numberOf(t reflect.Type) numberKind {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return signed
	case reflect.Uint64:
		if t.Implements(wordType) {
			return related
		}
		return unsigned
	case reflect.Uint, reflect.Uint32:
		return unsigned
	}
	return noNumber
}

// appendNumber appends x.
func appendNumber(b []byte, x uint64) []byte {
	for range mostBytes - 1 {
		if x < 0x80 {
			return append(b, byte(x))
		}
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

// appendLong appends x in length bytes, or in more if it needs more.
func appendLong(b []byte, x uint64, length int) []byte {
	for ; length > 1; length-- {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return appendNumber(b, x)
}

// cutNumber reads a number from the beginning of b, and returns its length, or 0 if b ends within it.
func cutNumber(b []byte) (x uint64, n int) {
	for i, c := range b[:min(len(b), mostBytes)] {
		if i == mostBytes-1 {
			return x | uint64(c)<<56, mostBytes
		}
		x |= uint64(c&0x7F) << (7 * i)
		if c < 0x80 {
			return x, i + 1
		}
	}
	return 0, 0
}

// loadNumber returns the number that v points to, in the form in which it is written.
func loadNumber(k reflect.Kind, v unsafe.Pointer) uint64 {
	switch k {
	case reflect.Int:
		return zigzag(int64(*(*int)(v)))
	case reflect.Int32:
		return zigzag(int64(*(*int32)(v)))
	case reflect.Int64:
		return zigzag(*(*int64)(v))
	case reflect.Uint:
		return uint64(*(*uint)(v))
	case reflect.Uint32:
		return uint64(*(*uint32)(v))
	}
	return *(*uint64)(v)
}

// storeNumber stores a number that loadNumber returned where v points. It reports whether the number is in the
// range of v's type.
func storeNumber(k reflect.Kind, v unsafe.Pointer, x uint64) bool {
	n := int64(x>>1) ^ -int64(x&1)
	switch k {
	case reflect.Int:
		*(*int)(v) = int(n)
		return int64(int(n)) == n
	case reflect.Int32:
		*(*int32)(v) = int32(n)
		return int64(int32(n)) == n
	case reflect.Int64:
		*(*int64)(v) = n
	case reflect.Uint:
		*(*uint)(v) = uint(x)
		return uint64(uint(x)) == x
	case reflect.Uint32:
		*(*uint32)(v) = uint32(x)
		return uint64(uint32(x)) == x
	default:
		*(*uint64)(v) = x
	}
	return true
}

func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

// distance returns how far a generation lies from base, as a number that is small if both are live and near each
// other. atDistance is its inverse.
func distance(generation, base uint32) uint32 {
	d := generation - base
	half := int32(d) >> 1
	return bits.RotateLeft32(d&1, -1) | (uint32(half)<<1^uint32(half>>31))&^(1<<31)
}

func atDistance(d, base uint32) uint32 {
	z := d &^ (1 << 31)
	half := z>>1 ^ -(z & 1)
	return base + (half<<1 | d>>31)
}
