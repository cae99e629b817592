package pool_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/shard"
)

// FuzzReadFrom feeds bytes to ReadFrom: as they are, and with the lengths and
// checksums of records made right, so that the fuzzer gets behind them. The first
// byte chooses the type. What comes out is an error of ReadFrom's, or a pool that
// works, can be written and read again, and takes no more memory than ReadFrom says.
func FuzzReadFrom(f *testing.F) {
	seed := func(which byte, snapshot []byte) {
		f.Add(append([]byte{which}, snapshot...))
	}
	for _, reuse := range reuses {
		seed(0, seedSnapshot(f, reuse, fixedOf))
		seed(1, seedSnapshot(f, reuse, moodyOf))
		seed(2, seedSnapshot(f, reuse, mixedOf))
		seed(3, seedSnapshot(f, reuse, func(i int) struct{} { return struct{}{} }))
	}
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

// seedSnapshot is a small snapshot with a bit of everything.
func seedSnapshot[T any](t testing.TB, reuse pool.Reuse, value func(int) T) []byte {
	p := tiny(t, &pool.Options[T]{Origin: 3, Shards: 1, Reuse: reuse, MinFree: int(reuse)})
	hs := fill(t, p, 6, value)
	p.RemoveBatch(hs[1:4])
	w := &during{n: 5}
	w.do = func() { p.Remove(hs[0]); mustInsert(t, p, value(7)) }
	_, err := p.WriteTo(w)
	require.NoError(t, err)
	return w.Bytes()
}

func fuzzRead[T any](t *testing.T, which byte, in []byte) {
	opts := &pool.Options[T]{Shards: 1 + int(which/4)%3, Reuse: pool.Reuse(which / 12 % 2)}
	if which/24%2 == 1 {
		opts.Capacity = 50
	}
	for _, in := range [][]byte{in, mended(in)} {
		var c *pool.Pool[T]
		var err error
		got := testkit.Allocated(func() { c, err = pool.ReadTiny[T](bytes.NewReader(in), opts, 2) })
		if !testkit.Watched {
			require.LessOrEqual(t, got, 64*uint64(len(in))+slotBytes[T](in)+2<<20, "of %d bytes", len(in))
		}
		if err != nil {
			require.Nil(t, c)
			for _, known := range []error{pool.ErrCorrupt, pool.ErrVersion, pool.ErrType, pool.ErrFull} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("an error of its own: %v", err)
		}
		st := requireConserved(t, c)
		require.Equal(t, c.Len(), st.Live)
		before := map[pool.Handle[T]]bool{}
		for h := range c.All() {
			require.True(t, c.Contains(h))
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
		requireReclaimed(t, c)
	}
}

// slotBytes is how much memory the records of in, as far as there are any, may take
// for slots.
func slotBytes[T any](in []byte) (n uint64) {
	slot := uint64(unsafe.Sizeof(shard.Slot[T]{}))
	for len(in) >= 20 {
		n += max(slot, min(32<<10, slot*uint64(binary.LittleEndian.Uint32(in[8:]))))
		in = in[min(20+uint64(binary.LittleEndian.Uint32(in[12:])), uint64(len(in))):]
	}
	return n
}

// mended makes lengths and checksums of records right, as far as there are any.
func mended(in []byte) []byte {
	var records [][]byte
	for len(in) >= 20 {
		n := 16 + int(min(uint64(in[12])|uint64(in[13])<<8, uint64(len(in)-20)))
		records = append(records, bytes.Clone(in[:n]))
		in = in[n+4:]
	}
	return joined(records)
}
