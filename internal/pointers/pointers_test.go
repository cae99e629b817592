//go:build !race

package pointers_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/pointers"
)

type word uint32

func TestIn(t *testing.T) {
	for _, v := range []any{
		false, 1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1), uint32(1), uint64(1), uintptr(1),
		float32(1), float64(1), complex64(1), complex128(1), word(1),
		struct{}{}, struct{ a [3]word }{}, [2][3]float32{}, [0]*int{}, struct{ a [0]string }{},
	} {
		require.False(t, pointers.In(reflect.TypeOf(v)), "%T", v)
	}
	for _, v := range []any{
		"", []int(nil), map[int]int(nil), (*int)(nil), make(chan int), func() {}, unsafe.Pointer(nil),
		[1]any{}, struct{ a error }{}, [2]string{}, [2]struct{ A struct{ B *int } }{}, struct {
			a int
			_ *int
		}{},
	} {
		require.True(t, pointers.In(reflect.TypeOf(v)), "%T", v)
	}
}
