//go:build !race

package pointers_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/pointers"
)

func TestNumbers(t *testing.T) {
	const w = unsafe.Sizeof(uintptr(0))
	type r = pointers.Range
	for _, c := range []struct {
		v    any
		want []r
	}{
		{struct{}{}, nil},
		{uint8(1), []r{{0, 1}}},
		{[3]uint32{}, []r{{0, 12}}},
		{new(int), nil},
		{[4]*int{}, nil},
		{"", []r{{w, 2 * w}}},
		{[]int(nil), []r{{w, 3 * w}}},
		{[1]any{}, nil},
		{struct {
			a uint8
			p *int
			b uint8
		}{}, []r{{0, w}, {2 * w, 3 * w}}},
		{struct {
			s struct{ f func() }
			a [2]struct {
				n uintptr
				m map[int]int
			}
			e error
			n uint16
		}{}, []r{{w, 2 * w}, {3 * w, 4 * w}, {7 * w, 8 * w}}},
	} {
		require.Equal(t, c.want, pointers.Numbers(reflect.TypeOf(c.v)), "%T", c.v)
	}
	// A long list is cut: the rest counts as pointers.
	type pair struct {
		_ uintptr
		_ *int
	}
	cut := pointers.Numbers(reflect.TypeFor[[1 << 20]pair]())
	require.Less(t, len(cut), 1<<13)
	for i, c := range cut {
		require.Equal(t, r{uintptr(i) * 2 * w, uintptr(i)*2*w + w}, c)
	}
	require.Len(t, pointers.Numbers(reflect.TypeFor[struct {
		a [1 << 20]pair
		b [8]uintptr
	}]()), len(cut)+1, "what lies behind is in the list")
}
