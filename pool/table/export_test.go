package table

import (
	"bytes"
	"encoding/binary"

	"coatcheck/pool"
)

// Entry is a record of a forged snapshot.
type Entry[K, R any] = entry[K, R]

// Forge returns a snapshot that claims to have n records, with these pieces.
func Forge[K, R any](version uint32, n uint64, pieces ...[]Entry[K, R]) []byte {
	return ForgeVacant(version, n, 0, pieces...)
}

// ForgeVacant is Forge with so many vacant slots in each piece.
func ForgeVacant[K, R any](version uint32, n uint64, vacant int, pieces ...[]Entry[K, R]) []byte {
	var b bytes.Buffer
	s := stream{w: &b}
	_, _ = s.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte(magic), version), n))
	for _, piece := range pieces {
		p := pool.Must(&pool.Options[entry[K, R]]{Shards: 1})
		for _, e := range piece {
			_, _ = p.Insert(e)
		}
		var hs []pool.Handle[entry[K, R]]
		for range vacant {
			h, _ := p.Insert(entry[K, R]{})
			hs = append(hs, h)
		}
		p.RemoveBatch(hs)
		if _, err := p.WriteTo(&s); err != nil {
			panic(err)
		}
	}
	_, _ = s.Write(binary.LittleEndian.AppendUint32(nil, s.sum))
	return b.Bytes()
}
