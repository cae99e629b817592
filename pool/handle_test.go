package pool_test

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

func TestHandleHalves(t *testing.T) {
	h := pool.Handle[int](7<<32 | 42)
	assert.EqualValues(t, 42, h.Index())
	assert.EqualValues(t, 7, h.Generation())
	assert.Equal(t, "42@7", h.String())
	assert.False(t, h.IsZero())

	var zero pool.Handle[int]
	assert.True(t, zero.IsZero())
	assert.Equal(t, "none", zero.String())
}

func TestHandleTextRoundTrip(t *testing.T) {
	for _, h := range []pool.Handle[int]{
		0, 1 << 32, 3<<32 | 1, 7<<32 | 42, lastGeneration<<32 | math.MaxUint32, math.MaxUint64,
	} {
		text, err := h.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, h.String(), string(text))

		back := ^h
		require.NoError(t, back.UnmarshalText(text), "%v", h)
		assert.Equal(t, h, back)
	}
}

func TestHandleIsJSONText(t *testing.T) {
	type H = pool.Handle[int]
	in := map[H][]H{7<<32 | 42: {0, 1 << 32}}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	assert.JSONEq(t, `{"42@7":["none","0@1"]}`, string(text))
	var out map[H][]H
	require.NoError(t, json.Unmarshal(text, &out))
	assert.Equal(t, in, out)
}

// To those who write numbers a handle is one: what was written stays readable. It
// catches a MarshalBinary or GobEncode, after which values with handles are encoded in
// another way.
func TestHandleIsANumberInBinary(t *testing.T) {
	type node struct {
		Next pool.Handle[int]
		N    int32
	}
	type plain struct {
		Next uint64
		N    int32
	}
	const number = 7<<32 | 42
	word := []byte{42, 0, 0, 0, 7, 0, 0, 0}
	b, err := binary.Append(nil, binary.LittleEndian, node{number, -1})
	require.NoError(t, err)
	require.Equal(t, append(word, 255, 255, 255, 255), b)

	var stream bytes.Buffer
	require.NoError(t, gob.NewEncoder(&stream).Encode(plain{number, -1}))
	var back node
	require.NoError(t, gob.NewDecoder(&stream).Decode(&back))
	require.Equal(t, node{number, -1}, back)

	// A snapshot's values, encoded as fixed-size numbers.
	p := tiny(t, &pool.Options[fixed]{Origin: 1})
	v := fixed{Self: number, To: number}
	mustInsert(t, p, v)
	stream.Reset()
	_, err = p.WriteTo(&stream)
	require.NoError(t, err)
	b, err = binary.Append(nil, binary.LittleEndian, v)
	require.NoError(t, err)
	require.Contains(t, string(b), string(word)+string(word))
	require.Contains(t, stream.String(), string(b))
	require.Contains(t, stream.String(), "\x01\x01\x00\x00\x00", "fixed size, and the first generation")
}

// UnmarshalText takes what String gives and nothing else.
func TestUnmarshalRefusesMalformedText(t *testing.T) {
	for _, text := range []string{
		"", " ", "None", "NONE", "nil", "0", "none ", " none", "none\n", "nonenone",
		"@", "1@", "@1", "1", "1@1@1", "@1@", "1@@1",
		"0@0", "42@2", "42@4294967294", // even generations
		"00@1", "01@1", "1@01", "1@001", // leading zeros
		"+1@1", "1@+1", "-1@1", "1@-1", "-0@1",
		"1 @1", "1@ 1", " 1@1", "1@1 ", "1@1\n", "1@1\x00",
		"1_0@1", "0x1@1", "1@0x1", "1e0@1", "1.0@1", "a@1", "1@a", "١@1",
		"4294967296@1", "1@4294967297", "18446744073709551616@1",
		strings.Repeat("9", 1000) + "@1", "1#1", "1:1", "42@7@", "\xff@1",
	} {
		h := pool.Handle[int](9<<32 | 9)
		err := h.UnmarshalText([]byte(text))
		if assert.Errorf(t, err, "text %q gave %v", text, h) {
			assert.Truef(t, strings.HasPrefix(err.Error(), "pool: "), "%v", err)
		}
		assert.Equal(t, pool.Handle[int](9<<32|9), h, "changed by %q", text)
	}
	h := pool.Handle[int](9<<32 | 9)
	require.Error(t, h.UnmarshalText(nil))
}

// handleText is what String gives: no leading zeros, and an odd generation.
var handleText = regexp.MustCompile(`\A(0|[1-9][0-9]{0,9})@([1-9][0-9]{0,9})\z`)

// FuzzHandleText checks that a text is taken if and only if it is what String
// gives, by another way of reading it.
func FuzzHandleText(f *testing.F) {
	for _, s := range []string{
		"none", "0@1", "42@7", "01@1", "1@2", "", "4294967295@4294967293", "4294967296@1", "1@4294967297", "9999999999@9999999999",
		"1@01", "+1@1", "1@1@1", "nonenone", "none@1", "@", "1@", "@1", " 1@1", "1@1\n", "\u0661@1", "0x1@1", "1_0@1", "4294967295@4294967295",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := s == "none"
		var index, generation uint64
		if m := handleText.FindStringSubmatch(s); m != nil {
			for _, digit := range m[1] {
				index = 10*index + uint64(digit-'0')
			}
			for _, digit := range m[2] {
				generation = 10*generation + uint64(digit-'0')
			}
			want = index <= math.MaxUint32 && generation <= math.MaxUint32 && generation%2 == 1
		}
		const before = pool.Handle[int](9<<32 | 9)
		h := before
		err := h.UnmarshalText([]byte(s))
		switch {
		case (err == nil) != want:
			t.Fatalf("%q: %v, want it taken: %v", s, err, want)
		case err != nil && (h != before || !strings.HasPrefix(err.Error(), "pool: handle ")):
			t.Fatalf("%q was refused and gave %v, %v", s, h, err)
		case err == nil && (h != pool.Handle[int](generation<<32|index) || h.String() != s):
			t.Fatalf("took %q for %v", s, h)
		}
		if err != nil {
			return
		}
		if text, err := h.AppendText([]byte("x")); err != nil || string(text) != "x"+s {
			t.Fatalf("AppendText gives %q, %v", text, err)
		}
	})
}
