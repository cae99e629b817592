//go:build !race

package pool_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// To those who write numbers a handle is one: what was written stays readable. It
// catches a MarshalBinary or GobEncode, after which values with handles are encoded in
// another way.
func TestHandleIsANumberInBinary(t *testing.T) {
	const number = 7<<32 | 42
	v := fixed{Self: number, To: number}
	b, err := binary.Append(nil, binary.LittleEndian, v)
	require.NoError(t, err)
	require.Equal(t, "\x2a\x00\x00\x00\x07\x00\x00\x00\x2a\x00\x00\x00\x07\x00\x00\x00", string(b[8:24]))

	var stream bytes.Buffer
	require.NoError(t, gob.NewEncoder(&stream).Encode(struct{ Self uint64 }{number}))
	var back struct{ Self pool.Handle[int] }
	require.NoError(t, gob.NewDecoder(&stream).Decode(&back))
	require.EqualValues(t, uint64(number), back.Self)
}

// Verbs for numbers print the number, and the others the text.
func TestHandleFormats(t *testing.T) {
	h := pool.Handle[int](7<<32 | 42)
	for format, want := range map[string]string{
		"%v": "42@7", "%s": "42@7", "%q": `"42@7"`, "%6s|": "  42@7|", "%-6v|": "42@7  |", "%+v": "42@7",
		"%x": "70000002a", "%X": "70000002A", "%#x": "0x70000002a", "%016x": "000000070000002a", "%d": "30064771114",
		"%o": "340000000052", "%b": "11100000000000000000000000000101010", "%#v": "0x70000002a",
	} {
		require.Equal(t, want, fmt.Sprintf(format, h), format)
	}
	require.Equal(t, "{42@7 none}", fmt.Sprint(struct{ A, B pool.Handle[int] }{A: h}))
	require.Equal(t, "[42@7]", fmt.Sprintf("%v", []pool.Handle[int]{h}))
	require.Equal(t, "%!t(uint64=30064771114)", fmt.Sprintf("%t", h))
}

// What encoding/json writes it reads back, also with the option string, in maps, and null.
func TestHandleInJSON(t *testing.T) {
	type value struct {
		A pool.Handle[int]
		B pool.Handle[int] `json:",string"`
		C *pool.Handle[int]
		D map[pool.Handle[int]][]pool.Handle[int]
		E pool.Handle[int] `json:",omitempty"`
	}
	const h = pool.Handle[int](7<<32 | 42)
	v := value{A: h, B: h + 1, D: map[pool.Handle[int]][]pool.Handle[int]{h: {h, 0}}}
	b, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, `{"A":"42@7","B":"43@7","C":null,"D":{"42@7":["42@7","none"]}}`, string(b))
	var back value
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, v, back)
	require.NoError(t, json.Unmarshal([]byte(`{"A":null}`), &back))
	require.Equal(t, h, back.A)
	for _, wrong := range []string{`30064771114`, `true`, `{}`, `"42@8"`, `"42"`, `"\/"`, `""`} {
		require.Error(t, json.Unmarshal([]byte(`{"A":`+wrong+`}`), &back), wrong)
		require.Equal(t, h, back.A)
	}
	require.ErrorContains(t, json.Unmarshal([]byte(`{"A":"\/"}`), &back), `pool: handle "\/": want a string without escapes`)
}

// What no pool issues has no text that could not be read back, in a file or a database.
func TestForgedHandleHasNoText(t *testing.T) {
	const forged = pool.Handle[int](6<<32 | 1)
	require.Equal(t, "1@6", forged.String())
	_, err := forged.MarshalText()
	require.EqualError(t, err, "pool: handle 1@6 has no text: its generation is even")
	_, err = pool.Handle[int](math.MaxUint64).MarshalText()
	require.EqualError(t, err, "pool: handle 4294967295@4294967295 has no text: its generation is above 4294967293")
	_, err = pool.ParseHandle[int]("4294967295@4294967295")
	require.ErrorContains(t, err, "an odd generation up to 4294967293")
	_, err = forged.Value()
	require.Error(t, err)
	_, err = json.Marshal(forged)
	require.ErrorContains(t, err, "1@6 has no text")
	_, err = pool.Handle[int](0).MarshalText()
	require.NoError(t, err)
}

// handleText is what String gives: no leading zeros, and an odd generation.
var handleText = regexp.MustCompile(`\A(0|[1-9][0-9]{0,9})@([1-9][0-9]{0,9})\z`)

// FuzzHandleText checks that a text is taken if and only if it is what String
// gives, by another way of reading it.
func FuzzHandleText(f *testing.F) {
	for _, s := range []string{
		"none", "0@1", "42@7", "4294967295@4294967293", "4294967295@4294967295",
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
			want = index <= math.MaxUint32 && generation <= testkit.LastGeneration && generation%2 == 1
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
		if text, err := h.MarshalText(); err != nil || string(text) != s {
			t.Fatalf("MarshalText gives %q, %v", text, err)
		}
	})
}

// The fast paths are fast because the compiler puts them into the caller's loop. With one node
// too many, or a helper that cannot be inlined, each costs one to three calls, and only
// benchmarks would show it.
func TestLookupsInline(t *testing.T) {
	// Always for amd64: a 32-bit platform makes a call of each 64-bit atomic.
	out := testkit.Compile(t, "amd64", "-m=2", "./testdata/inline", "./testdata/inline/dense")
	for what, said := range map[string]string{
		"Guard.Pointer": `inline\.go:\d+:\d+: inlining call to pool\.\(\*Guard\[.*\]\)\.Pointer`,
		"Pool.Pin":      `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Pin`,
		"its Pin":       `guard\.go:\d+:\d+: inlining call to epoch\.\(\*Domain\)\.Pin`,
		"Guard.Unpin":   `inline\.go:\d+:\d+: inlining call to pool\.\(\*Guard\[.*\]\)\.Unpin`,
		"Pool.Get":      `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Get`,
		"Pool.Pointer":  `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Pointer`,
		"Contains":      `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Contains`,
		"Guard.All":     `inline\.go:\d+:\d+: inlining call to all\.\(\*Guard\[.*\]\)\.All`,
		"its loop":      `inline\.go:\d+:\d+: inlining call to all\..*\.liveSlots\[.*\]\.func`,
		"its body":      `inline\.go:\d+:\d+: inlining call to all-range1`,
		"Ptr.Get":       `inline\.go:\d+:\d+: inlining call to pool\.Ptr\[.*\]\.Get`,
		"Pool.Insert":   `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Insert`,
		"Pool.Remove":   `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Remove`,
		"Worker.Remove": `inline\.go:\d+:\d+: inlining call to pool\.\(\*Worker\[.*\]\)\.Remove`,
		"atomic loads":  `inline\.go:\d+:\d+: inlining call to atomic\.\(\*Uint64\)\.Load`,
		"buckets":       `insert\.go:\d+:\d+: inlining call to shard\.bucketOf`,
		"hints":         `insert\.go:\d+:\d+: inlining call to hint\.Of`,
		"frames":        `insert\.go:\d+:\d+: inlining call to hint\.Frame`,

		"an index in dense":      `dense/lookup\.go:\d+:\d+: inlining call to slots\.Low`,
		"a generation in dense":  `dense/lookup\.go:\d+:\d+: inlining call to slots\.Generation`,
		"a handle made by dense": `dense/create\.go:\d+:\d+: inlining call to slots\.Pack`,
	} {
		require.True(t, regexp.MustCompile(said).MatchString(out), "%s is not put into its caller", what)
	}
}

// L12 needs the loads of a copy to come after the first look at the slot's word and
// before the second, in the machine code as in the source. So no instruction after
// the second look may load through a pointer, and some between the two must. On arm64 the
// processor needs a barrier after them.
func TestCopyIsLoadedBetweenLooks(t *testing.T) {
	if testkit.Short() {
		t.Skip("compiles a pool six times")
	}
	copyIsLoadedBetweenLooks(t, "amd64", 0)
	if testkit.Full() { // compiles all imports too
		copyIsLoadedBetweenLooks(t, "arm64", 1)
	}
}

func copyIsLoadedBetweenLooks(t *testing.T, arch string, barriers int) {
	out := testkit.Compile(t, arch, "-S", "./testdata/copies")
	instances := 0
	for _, code := range functions(out, "coatcheck/pool.(*Pool[go.shape.", "]).get STEXT ") {
		instances++
		looks, loads, fences := 0, 0, 0
		listing := strings.Join(code, "")
		for _, line := range code {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // nothing, position, instruction, operands
			if len(f) < 3 {
				continue
			}
			at, op, operands := f[1], f[2], strings.Join(f[3:], "")
			switch loading := loadsThroughPointer(arch, op, operands); {
			case loading && strings.Contains(at, "sync/atomic/type.go:"):
				looks++ // at the table of pages, then twice at the word
			case looks == 2 && loading:
				loads++
				require.Zero(t, fences, "a load after the barrier: %s\n%s", line, listing)
			case looks == 2 && op == "CALL" && strings.HasPrefix(operands, "coatcheck/internal/atom.FenceLoads"):
				fences++
			case looks > 2 && loading:
				t.Errorf("a load after the second look: %s\n%s", line, listing)
			case op == "CALL" && !loading && !mayBeCalled.MatchString(operands):
				t.Errorf("a call: %s\n%s", line, listing)
			}
		}
		require.Equal(t, 3, looks, "%s", listing)
		require.NotZero(t, loads, "nothing is copied between the looks:\n%s", listing)
		require.Equal(t, barriers, fences, "%s", listing)
	}
	require.Equal(t, 6, instances)
}

// functions returns the lines of each function in the compiler's listing whose first
// line begins and contains these. The listing is long: the race detector would take
// half a minute over one regular expression.
func functions(listing, begins, contains string) (found [][]string) {
	inside := false
	for line := range strings.Lines(listing) {
		switch {
		case strings.HasPrefix(line, begins) && strings.Contains(line, contains):
			inside = true
			found = append(found, nil)
		case inside && (!strings.HasPrefix(line, "\t0x") || !strings.Contains(line, " (")):
			inside = false
		}
		if inside {
			found[len(found)-1] = append(found[len(found)-1], line)
		}
	}
	return found
}

// through is an operand in memory that is not the stack.
const through = `-?\d*\((AX|BX|CX|DX|SI|DI|R\d+)\)`

var (
	throughPointer = regexp.MustCompile(through)
	lastThrough    = regexp.MustCompile(`, ` + through + `(\(\w+\*\d\))?$`)
	firstThrough   = regexp.MustCompile(`^` + through + `(\(R\d+(<<\d)?\))?, `)
	mayBeCalled    = regexp.MustCompile(`^runtime\.(gopanic|morestack\w*|duffzero|memclr\w*)\(SB\)$`)
)

// loadsThroughPointer reports whether an instruction reads memory that is not the
// stack: by an operand that is not what it stores to, or by itself.
func loadsThroughPointer(arch, op, operands string) bool {
	switch {
	case strings.HasPrefix(op, "LEA"):
		return false
	case op == "CALL":
		return strings.Contains(operands, "memmove") || strings.Contains(operands, "duffcopy")
	case arch == "arm64":
		return firstThrough.MatchString(operands) // what an instruction stores to comes last
	case op == "MOVSQ" || op == "MOVSB":
		return operands == "" // from (SI)
	}
	if strings.HasPrefix(op, "MOV") {
		operands = lastThrough.ReplaceAllString(operands, "")
	}
	return throughPointer.MatchString(operands)
}

// modelConfigs are tiny pools of every kind.
func modelConfigs[T any](reset func(*T)) (all []pool.Options[T]) {
	for _, reuse := range testkit.Reuses {
		for _, shards := range []int{1, 2} {
			for _, capacity := range []int{0, 1, 5, 24, 80} {
				for _, origin := range []uint32{0, testkit.LastGeneration - 6, testkit.LastGeneration - 40} {
					for _, reset := range []func(*T){nil, reset} {
						o := pool.Options[T]{Reuse: reuse, Shards: shards, Capacity: capacity, Origin: origin, Reset: reset}
						if capacity == 1 {
							o.Shards = 1 // as New makes of it
						}
						all = append(all, o)
					}
				}
			}
		}
	}
	return all
}

// What parses the text and what prints it agree, whichever is used.
func TestHandleTextIsOne(t *testing.T) {
	for _, h := range []pool.Handle[int]{0, 1 << 32, 7<<32 | 42, 1<<63 | 1<<32 | 5, math.MaxUint64 - 2<<32} {
		s := h.String()
		b, err := h.AppendText([]byte("h="))
		require.NoError(t, err)
		require.Equal(t, "h="+s, string(b))
		parsed, err := pool.ParseHandle[int](s)
		require.NoError(t, err)
		require.Equal(t, h, parsed)

		stored, err := h.Value()
		require.NoError(t, err)
		require.True(t, driver.IsValue(stored), "a database should take what is stored")
		require.Equal(t, s, stored, "also where the number is 2^63 or more, which drivers refuse")
		for _, src := range []any{stored, []byte(s), int64(h)} {
			back := pool.Handle[int](9<<32 | 9)
			require.NoError(t, back.Scan(src))
			require.Equal(t, h, back)
		}
	}
	var _ encoding.TextAppender = pool.Handle[int](0)
	var _ sql.Scanner = new(pool.Handle[int])

	h := pool.Handle[int](9<<32 | 9)
	for _, src := range []any{"5", "5@6", "", []byte("x"), 1.5, uint64(1 << 32), true} {
		require.ErrorContains(t, h.Scan(src), "pool: handle ")
		require.Equal(t, pool.Handle[int](9<<32|9), h)
	}
	require.NoError(t, h.Scan(nil))
	require.True(t, h.IsZero(), "the handle should be zero")
	_, err := pool.ParseHandle[int]("5@6")
	require.EqualError(t, err, `pool: handle "5@6": want "none", or index@generation in decimal, with an odd generation up to 4294967293`)
}

// A Ptr that was written would be read without its pool. So it is not written, and not read.
func TestPtrHasNoText(t *testing.T) {
	p := tiny(t, &pool.Options[int]{})
	_, err := json.Marshal(struct{ To pool.Ptr[int] }{p.Ptr(testkit.MustInsert(t, p, 1))})
	require.ErrorContains(t, err, "pool: a Ptr has no text: write its Handle")
	var v struct{ To pool.Ptr[int] }
	require.ErrorContains(t, json.Unmarshal([]byte(`{"To":"0@1"}`), &v), "pool: a Ptr has no text")
	require.Error(t, json.Unmarshal([]byte(`{"To":{"Pool":{},"Handle":"0@1"}}`), &v))
	require.Nil(t, v.To.Pool)
}

// A type that is made of Handle has no methods, and a struct that embeds one has its text.
func TestTypesMadeOfHandles(t *testing.T) {
	type bare pool.Handle[int]
	type embedding struct{ pool.Handle[int] }
	b, err := json.Marshal([]any{bare(7<<32 | 5), embedding{7<<32 | 5}})
	require.NoError(t, err)
	require.Equal(t, `[30064771077,"5@7"]`, string(b))
	var back embedding
	require.NoError(t, json.Unmarshal([]byte(`"5@7"`), &back))
	require.Equal(t, embedding{7<<32 | 5}, back)
}
