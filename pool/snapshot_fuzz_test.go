//go:build !race

package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// copyOf returns a copy of p in pages of two slots.
func copyOf[T any](t testing.TB, p *pool.Pool[T], opts *pool.Options[T]) *pool.Pool[T] {
	t.Helper()
	c, err := pool.ReadTiny(bytes.NewReader(testkit.Written(t, p)), opts, 1)
	require.NoError(t, err)
	return c
}

// requireCopy requires that c has what p has, and accounts for every slot.
func requireCopy[T any](t testing.TB, p, c *pool.Pool[T]) {
	t.Helper()
	want, got := contents(p), map[pool.Handle[T]]T{}
	require.Equal(t, want, contents(c))
	for h := range want {
		v, ok := c.Get(h)
		if !ok {
			t.Fatalf("%v is lost", h)
		}
		got[h] = v
	}
	require.Equal(t, want, got)
	testkit.RequireConserved(t, c)
}

// The types of the round trips.
type (
	// fixed refers to another value, or to none.
	fixed struct {
		ID   uint64
		Self pool.Handle[fixed]
		To   pool.Handle[fixed]
		ToID uint64 // what is there, or was
		On   [2]bool
		_    [2]byte
		C    complex64
	}

	// mixed is written by its parts, some of which encode themselves.
	mixed struct {
		Next  *mixed
		Tags  []string
		Kids  []mixed
		By    map[string]*mixed
		Up    **mixed
		Empty []struct{}
		Sets  map[uint8]map[bool]struct{}
		When  time.Time
		Moods []*moody
	}
)

func fixedOf(i int) fixed {
	v := fixed{ID: uint64(i), To: pool.Handle[fixed](i), C: complex(float32(i), -1)}
	v.On[i%2] = true
	return v
}

func moodyOf(i int) moody { return moody{mood: strings.Repeat("x", i%50)} }

func mixedOf(i int) mixed {
	v := mixed{Tags: []string{"a", fmt.Sprint(i)}, Empty: make([]struct{}, i%100), Moods: []*moody{nil, {mood: "good"}}}
	for range i % 3 {
		up := &mixed{Kids: []mixed{v}}
		v = mixed{
			Next: &mixed{When: time.Unix(int64(i), 0).UTC()}, Kids: []mixed{v, {}}, Up: &up,
			By: map[string]*mixed{"a": {}, "b": nil}, Sets: map[uint8]map[bool]struct{}{1: {true: {}}},
		}
	}
	return v
}

// moody encodes itself as it is told, after it has done what it likes to its neighbours.
type moody struct {
	mood   string
	meddle func()
}

var errMood = errors.New("not today")

func (m *moody) MarshalBinary() ([]byte, error) {
	if m.meddle != nil {
		m.meddle()
	}
	switch m.mood {
	case "error":
		return nil, errMood
	case "panic":
		panic("a bad mood")
	}
	return []byte(m.mood), nil
}

func (m *moody) UnmarshalBinary(b []byte) error {
	m.mood = string(b)
	switch m.mood {
	case "no":
		return errMood
	case "fall":
		panic("fell")
	}
	return nil
}

// snapshot judges a copy of the pool, whose other options may differ. It goes on with the copy
// now and then, and whatever the model knows of the original holds of it.
func (mc *machine[T]) snapshot() {
	opts := mc.opts
	if opts.Capacity != 1 {
		opts.Shards = 1 + mc.choose(3)
	}
	if opts.Capacity == 0 && mc.choose(4) == 0 {
		opts.Reuse = 1 - opts.Reuse
	}
	c := mc.copied(&opts, uint8(mc.choose(4)))
	original, had := mc.p, mc.opts
	mc.p, mc.opts = c, opts
	mc.inside += 10 // nothing may change
	mc.call("All").Do()
	mc.inside -= 10
	for _, h := range mc.known {
		mc.call("Get", h).Do()
	}
	st := c.Stats()
	if sum := st.Live + st.Free + st.Limbo + st.Exhausted; sum != st.Allocated {
		mc.Failf("a copy has %d slots, and lists %d", st.Allocated, sum)
	}
	if int(st.Inserted) != st.Live {
		mc.Failf("a copy of %d values says that %d were inserted", st.Live, st.Inserted)
	}
	if len(mc.held)+len(mc.holds)+mc.inside == 0 && mc.worker == nil && mc.choose(4) == 0 {
		mc.left = mc.Begun() - mc.Live()
		mc.done["Snapshot"]++
		return
	}
	// The original goes on. What it has shown to constructors and Reservations was issued too.
	mc.deaf = true
	defer func() { mc.deaf = false }()
	for range 2 {
		var hs []pool.Handle[T]
		for range len(mc.known) + 10 { // more than have been used
			var v T
			h, err := c.Insert(v)
			if err != nil {
				break
			}
			if mc.Life(h) != verbs.Unborn {
				mc.Failf("a copy issues %v again", h)
			}
			hs = append(hs, h)
		}
		if n := c.RemoveBatch(hs); n != len(hs) {
			mc.Failf("a copy removes %d of %d new values", n, len(hs))
		}
	}
	mc.p, mc.opts = original, had
}

// copied returns a copy in pages of some size: by a snapshot, or as Clone makes it.
func (mc *machine[T]) copied(opts *pool.Options[T], shift uint8) *pool.Pool[T] {
	var c *pool.Pool[T]
	var err error
	switch how := mc.choose(4); how {
	case 0, 1:
		copyValue := func(dst, src *T) { *dst = *src }
		if how == 0 {
			copyValue = nil
		}
		c, err = pool.CloneTiny(mc.p, opts, copyValue, shift)
		mc.done["Clone"]++
	default:
		var b bytes.Buffer
		if n, err := mc.p.WriteTo(&b); err != nil || n != int64(b.Len()) {
			mc.Failf("WriteTo: %d of %d, %v", n, b.Len(), err)
		}
		c, err = pool.ReadTiny(&b, opts, shift)
	}
	if err != nil {
		mc.Failf("a copy: %v", err)
	}
	return c
}

// FuzzReadFrom feeds bytes to ReadFrom: as they are, and with the lengths and
// checksums of records made right, so that the fuzzer gets behind them. The first
// byte chooses the type. What comes out is an error of ReadFrom's, or a pool that
// works, can be written and read again, and takes no more memory than ReadFrom says.
func FuzzReadFrom(f *testing.F) {
	seed := func(which byte, snapshot []byte) {
		f.Add(append([]byte{which}, snapshot...))
	}
	for _, reuse := range testkit.Reuses {
		seed(0, seedSnapshot(f, reuse, fixedOf))
		seed(1, seedSnapshot(f, reuse, moodyOf))
		seed(2, seedSnapshot(f, reuse, mixedOf))
		seed(3, seedSnapshot(f, reuse, func(i int) struct{} { return struct{}{} }))
		for which := range byte(4) {
			seed(48+12*byte(reuse)+which, seedSnapshot(f, reuse, fixedOf))
		}
		for _, which := range []byte{0, 48 + 12*byte(reuse)} {
			for _, shards := range []int{1, 2} {
				seed(which, trimmedSnapshot(f, reuse, shards))
			}
		}
	}
	// Lengths are not trusted: nothing is allocated for bytes that do not come.
	head := cut(seedSnapshot(f, pool.LIFO, func(i int) struct{} { return struct{}{} }))[0]
	for _, kind := range []byte{valuesKind, endKind} {
		in := append(joined([][]byte{head}), record(kind, 0, 1)...)
		for _, length := range []uint32{1 << 30, 1<<32 - 1} {
			seed(3, binary.LittleEndian.AppendUint32(in[:len(in)-4:len(in)-4], length))
		}
	}
	seed(3, append(head[:12:12], 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 1 {
			return
		}
		switch in[0] % 4 {
		case 0:
			fuzzRead[fixed](t, in[0], in[1:])
		case 1:
			fuzzRead[moody](t, in[0], in[1:])
		case 2:
			fuzzRead[mixed](t, in[0], in[1:])
		case 3:
			fuzzRead[struct{}](t, in[0], in[1:])
		}
	})
}

// seedSnapshot is a small snapshot with records of every kind.
func seedSnapshot[T any](t testing.TB, reuse pool.Reuse, value func(int) T) []byte {
	p := tiny(t, &pool.Options[T]{Origin: 3, Shards: 1, Reuse: reuse})
	hs := testkit.Fill(t, p, 6, value)
	p.RemoveBatch(hs[1:4])
	w := &during{n: 5}
	w.do = func() { p.Remove(hs[0]); testkit.MustInsert(t, p, value(7)) }
	_, err := p.WriteTo(w)
	require.NoError(t, err)
	return w.Bytes()
}

// trimmedSnapshot is one of a pool of which pages have no memory, and others hardly any value.
func trimmedSnapshot(t testing.TB, reuse pool.Reuse, shards int) []byte {
	p := tiny(t, &pool.Options[fixed]{Origin: 3, Shards: shards, Reuse: reuse})
	hs := testkit.Fill(t, p, 100, fixedOf)
	p.RemoveBatch(hs[3:50])
	testkit.RequireReclaimed(t, p)
	p.Trim()
	p.RemoveBatch(hs[60:100])
	return testkit.Written(t, p)
}

func fuzzRead[T any](t *testing.T, which byte, in []byte) {
	opts := &pool.Options[T]{Shards: 1 + int(which/4)%3, Reuse: pool.Reuse(which / 12 % 2)}
	if which/24%2 == 1 {
		opts.Capacity = 50
	}
	if which/48%2 == 1 && len(in) > 20 {
		opts.Shards, opts.Origin = 1, min(binary.LittleEndian.Uint32(in[17:])|1, testkit.LastGeneration)
	}
	for _, in := range [][]byte{in, plausible(in)} {
		var c *pool.Pool[T]
		var err error
		got := testkit.Allocated(func() { c, err = pool.ReadTiny[T](bytes.NewReader(in), opts, 2) })
		if !testkit.Watched {
			require.LessOrEqual(t, got, mayTake[T, T](len(in)), "of %d bytes", len(in))
		}
		if err != nil {
			require.Nil(t, c)
			for _, known := range []error{pool.ErrCorrupt, pool.ErrVersion, pool.ErrType, pool.ErrFull} {
				if errors.Is(err, known) {
					return
				}
			}
			if opts.Origin != 0 && strings.Contains(err.Error(), "Options.Origin") {
				return // its first generation is even, or beyond the last
			}
			t.Fatalf("an error of its own: %v", err)
		}
		st := testkit.RequireConserved(t, c)
		require.Equal(t, c.Len(), st.Live)
		before := map[pool.Handle[T]]bool{}
		for h := range c.All() {
			require.True(t, c.Contains(h), "the value should be live")
			before[h] = true
		}
		var v T
		for range 20 {
			if h, err := c.Insert(v); err == nil {
				require.False(t, before[h], "%v twice", h)
			} else {
				require.ErrorIs(t, err, pool.ErrFull)
			}
		}
		var again bytes.Buffer
		if _, err := c.WriteTo(&again); err == nil {
			b, err := pool.ReadTiny[T](&again, nil, 2)
			require.NoError(t, err)
			require.Equal(t, c.Len(), b.Len())
		} else {
			require.ErrorContains(t, err, "Time.MarshalBinary: ") // it refuses some that it read
		}
		c.Clear()
		testkit.RequireReclaimed(t, c)
	}
}

// plausible makes lengths and checksums of records right, as far as there are any.
func plausible(in []byte) []byte {
	var records [][]byte
	for len(in) >= 20 {
		n := 16 + int(min(uint64(in[12])|uint64(in[13])<<8, uint64(len(in)-20)))
		records = append(records, bytes.Clone(in[:n]))
		in = in[n+4:]
	}
	return joined(records)
}

// during is a writer that does something before a snapshot's n-th record is
// written: nothing is pinned then.
type during struct {
	bytes.Buffer
	n  int
	do func()
}

func (w *during) Write(b []byte) (int, error) {
	if w.n--; w.n == 0 {
		w.do()
	}
	return w.Buffer.Write(b)
}

// cut takes a snapshot apart into its header and records, without checksums.
func cut(snapshot []byte) (records [][]byte) {
	for len(snapshot) > 0 {
		end := 16 + int(binary.LittleEndian.Uint32(snapshot[12:]))
		records = append(records, bytes.Clone(snapshot[:end]))
		snapshot = snapshot[end+4:]
	}
	return records
}

// joined makes records a stream again, with right lengths and checksums, as an attacker would.
func joined(records [][]byte) (snapshot []byte) {
	sum := uint32(0)
	for _, r := range records {
		if len(r) >= 16 {
			binary.LittleEndian.PutUint32(r[12:], uint32(len(r)-16))
		}
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), r)
		snapshot = binary.LittleEndian.AppendUint32(append(snapshot, r...), sum)
	}
	return snapshot
}

// reseal changes a snapshot's records and makes it whole again.
func reseal(snapshot []byte, change func(records [][]byte)) []byte {
	records := cut(snapshot)
	change(records)
	return joined(records)
}

// record makes a record.
func record(kind byte, first, total uint32, payload ...byte) []byte {
	r := []byte{kind, 0, 0, 0}
	r = binary.LittleEndian.AppendUint32(r, first)
	r = binary.LittleEndian.AppendUint32(r, total)
	return append(append(r, 0, 0, 0, 0), payload...)
}
