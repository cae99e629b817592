//go:build !race

package codec_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// level is a number that encodes itself, and refuses what it does not know.
type level int16

var errLevel = errors.New("no such level")

func (l level) MarshalBinary() ([]byte, error) {
	if l < 0 {
		return nil, errLevel
	}
	return []byte{'L', byte(l)}, nil
}

func (l *level) UnmarshalBinary(b []byte) error {
	if len(b) != 2 || b[0] != 'L' {
		return errLevel
	}
	*l = level(b[1])
	return nil
}

// TestNumbersThatEncodeThemselves do so wherever they are, among numbers that do not.
func TestNumbersThatEncodeThemselves(t *testing.T) {
	type item struct {
		N int32
		L level
	}
	requireLevel(t, func(l level) level { return l })
	requireLevel(t, func(l level) item { return item{1, l} })
	requireLevel(t, func(l level) [2]level { return [2]level{1: l} })
	requireLevel(t, func(l level) [2]item { return [2]item{1: {2, l}} })
	requireLevel(t, func(l level) struct{ A [1]item } { return struct{ A [1]item }{[1]item{{3, l}}} })
	requireLevel(t, func(l level) []item { return []item{{4, l}} })
	requireLevel(t, func(l level) []level { return []level{l} })
	requireLevel(t, func(l level) *level { return &l })
	requireLevel(t, func(l level) map[level]bool { return map[level]bool{l: true} })
	requireLevel(t, func(l level) map[item][1]level { return map[item][1]level{{5, l}: {l}} })
	requireLevel(t, func(l level) struct {
		item
		F float32
	} {
		return struct {
			item
			F float32
		}{item: item{6, l}}
	})
	type half struct{ L halfNumber }
	refused[half](t, "field L: type codec_test.halfNumber has MarshalBinary but no UnmarshalBinary")
	refused[[2]half](t, "field [].L: type codec_test.halfNumber has MarshalBinary but no UnmarshalBinary")
}

type halfNumber int

func (halfNumber) MarshalBinary() ([]byte, error) { return nil, nil }

// requireLevel requires that the methods of the level in a value are called, and their errors returned.
func requireLevel[T any](t *testing.T, with func(l level) T) {
	t.Helper()
	v := with(7)
	requireEncodes(t, v)
	b, err := encode(v)
	require.NoError(t, err)
	require.Contains(t, string(b), "L\x07", "%T", v)
	_, err = encode(with(-1))
	require.ErrorIs(t, err, errLevel, "%T", v)
	for i := range b {
		if b[i] == 'L' {
			b[i] = 'M'
		}
	}
	_, _, err = decode[T](b)
	require.ErrorIs(t, err, errLevel, "%T", v)
}
