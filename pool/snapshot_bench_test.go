package pool_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"coatcheck/pool"
)

// Snapshots against the raw encoding of as many values: encoding/binary, a value at
// a time and a slice at once, and copying by hand.

const snapshotValues = 100_000

// record16 is a value of 16 bytes that encoding/binary knows.
type record16 = [2]uint64

// rawEncodings are the baselines: the values to bytes, and back.
var rawEncodings = map[string]struct {
	write func(dst []byte, vs []record16) []byte
	read  func(src []byte, vs []record16)
}{
	"append": {
		func(dst []byte, vs []record16) []byte {
			for i := range vs {
				dst, _ = binary.Append(dst, binary.LittleEndian, &vs[i])
			}
			return dst
		},
		func(src []byte, vs []record16) {
			for i := range vs {
				_, _ = binary.Decode(src[16*i:], binary.LittleEndian, &vs[i])
			}
		},
	},
	"slice": {
		func(dst []byte, vs []record16) []byte {
			dst, _ = binary.Append(dst, binary.LittleEndian, vs)
			return dst
		},
		func(src []byte, vs []record16) { _, _ = binary.Decode(src, binary.LittleEndian, vs) },
	},
	"hand": {
		func(dst []byte, vs []record16) []byte {
			for i := range vs {
				dst = binary.LittleEndian.AppendUint64(dst, vs[i][0])
				dst = binary.LittleEndian.AppendUint64(dst, vs[i][1])
			}
			return dst
		},
		func(src []byte, vs []record16) {
			for i := range vs {
				vs[i][0] = binary.LittleEndian.Uint64(src[16*i:])
				vs[i][1] = binary.LittleEndian.Uint64(src[16*i+8:])
			}
		},
	},
}

// snapshotted is a pool of values whose generations differ, and its snapshot.
func snapshotted(b *testing.B, churn bool) (*pool.Pool[record16], []byte, []record16) {
	p := pool.Must[record16](nil)
	vs := make([]record16, snapshotValues)
	hs := fill(b, p, snapshotValues, func(i int) record16 { return record16{uint64(i), 1} })
	if churn {
		rnd := newRand(b)
		for range 3 {
			for i := range hs {
				if rnd.IntN(3) == 0 {
					p.Remove(hs[i])
					hs[i] = mustInsert(b, p, record16{uint64(i), 2})
				}
			}
		}
	}
	return p, snapshotOf(b, p), vs
}

func BenchmarkSnapshotWrite(b *testing.B) {
	for base, raw := range rawEncodings {
		for _, churn := range []bool{false, true} {
			b.Run(fmt.Sprintf("impl=pool/base=%s/values=%d/churned=%v", base, snapshotValues, churn), func(b *testing.B) {
				p, _, vs := snapshotted(b, churn)
				buf := make([]byte, 0, 16*len(vs))
				versus(b, times(func() {
					if _, err := p.WriteTo(io.Discard); err != nil {
						b.Fatal(err)
					}
				}), times(func() { sink.Add(uint64(len(raw.write(buf, vs)))) }))
			})
		}
	}
}

func BenchmarkSnapshotRead(b *testing.B) {
	for base, raw := range rawEncodings {
		for _, churn := range []bool{false, true} {
			b.Run(fmt.Sprintf("impl=pool/base=%s/values=%d/churned=%v", base, snapshotValues, churn), func(b *testing.B) {
				_, snapshot, vs := snapshotted(b, churn)
				src := raw.write(nil, vs)
				versus(b, times(func() {
					if _, err := pool.ReadFrom[record16](bytes.NewReader(snapshot), nil); err != nil {
						b.Fatal(err)
					}
				}), times(func() {
					vs := make([]record16, len(vs)) // as ReadFrom must
					raw.read(src, vs)
				}))
			})
		}
	}
}

// times does f n times: an operation is a whole snapshot.
func times(f func()) work {
	return func(n int) {
		for range n {
			f()
		}
	}
}
