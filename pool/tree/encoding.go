package tree

import (
	"bytes"
	"encoding/binary"
)

// appendLinks appends links in few bytes, since they are most of a small value's snapshot. A link is
//
//	0                                                  if it is zero
//	1 + index · generation                             of the first other one
//	1 + index - first index · generation - first one   of the others
//
// as varints, of which differences are zigzagged: neighbours in a forest are often neighbours in
// the pool, and their generations are near each other.
func appendLinks(b []byte, links [5]uint64) []byte {
	first := uint64(0)
	for _, link := range links {
		switch {
		case link == 0:
			b = append(b, 0)
		case first == 0:
			first = link
			b = binary.AppendUvarint(b, 1+link&(1<<32-1))
			b = binary.AppendUvarint(b, link>>32)
		default:
			b = binary.AppendUvarint(b, 1+zigzag(int64(uint32(link))-int64(uint32(first))))
			b = binary.AppendUvarint(b, zigzag(int64(link>>32)-int64(first>>32)))
		}
	}
	return b
}

// parseLinks reads what appendLinks appends, and nothing else.
func parseLinks(b []byte) (links [5]uint64, ok bool) {
	first, tail := uint64(0), b
	number := func() uint64 {
		n, k := binary.Uvarint(tail)
		tail = tail[max(k, 0):] // a wrong number is found below
		return n
	}
	for i := range links {
		n := number()
		if n == 0 {
			continue
		}
		index, generation := n-1, number()
		if first != 0 {
			index = uint64(int64(uint32(first)) + unzigzag(index))
			generation = uint64(int64(first>>32) + unzigzag(generation))
		}
		links[i] = generation<<32 | index&(1<<32-1)
		if first == 0 {
			first = links[i]
		}
	}
	return links, len(tail) == 0 && bytes.Equal(appendLinks(make([]byte, 0, 64), links), b)
}

func zigzag(n int64) uint64   { return uint64(n)<<1 ^ uint64(n>>63) }
func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
