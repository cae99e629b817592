//go:build !race

package table_test

import (
	"fmt"
	"slices"

	"coatcheck/pool/table"
)

// subject is what a Table and its model have in common.
type subject[K comparable] interface {
	Add(k K, r record) table.Index
	AddOrSet(k K, r record) table.Index
	AddBatch(ks []K, rs []record) bool
	Remove(k K) table.Index
	RemoveAt(i table.Index) table.Index
	RemoveDead() int
	DeleteFunc(del func(k K, i table.Index) bool) int
	Clear() int
	Set(k K, r record) bool
	SetAt(i table.Index, r record) bool
}

// model is a table that is obviously right: two slices, searched from the beginning. Of a
// record it keeps the ID alone.
type model[K comparable] struct {
	keys  []K
	ids   []uint64
	live  func(K) bool      // for handles, the pool's answer
	slot  func(a, b K) bool // at most one of a and b can have a record
	moves []string          // the moves that OnMove must be told, and the records that OnDead must be
	tells bool              // there is an OnDead function
}

func moved[K any](k K, from, to table.Index) string { return fmt.Sprintf("%v: %d to %d", k, from, to) }

func died[K any](k K, id uint64) string { return fmt.Sprintf("%v: died with %d", k, id) }

// died notes that the record of a dead key has gone.
func (m *model[K]) died(k K, id uint64) {
	if m.tells {
		m.moves = append(m.moves, died(k, id))
	}
}

func (m *model[K]) Lookup(k K) table.Index {
	if !m.live(k) {
		return table.None
	}
	return table.Index(slices.Index(m.keys, k))
}

// refuses reports whether k cannot be added.
func (m *model[K]) refuses(k K) bool { return k != k || !m.live(k) || m.Lookup(k).IsSet() }

func (m *model[K]) Add(k K, r record) table.Index {
	if m.refuses(k) {
		return table.None
	}
	if i := slices.IndexFunc(m.keys, func(o K) bool { return m.slot(o, k) }); i >= 0 {
		m.moves = append(m.moves, moved(m.keys[i], table.Index(i), table.None))
		m.died(m.keys[i], m.ids[i])
		m.keys[i], m.ids[i] = k, r.ID
		return table.Index(i)
	}
	m.keys, m.ids = append(m.keys, k), append(m.ids, r.ID)
	return table.Index(len(m.keys) - 1)
}

func (m *model[K]) AddOrSet(k K, r record) table.Index {
	if i := m.Lookup(k); m.SetAt(i, r) {
		return i
	}
	return m.Add(k, r)
}

func (m *model[K]) AddBatch(ks []K, rs []record) bool {
	for i, k := range ks {
		if m.refuses(k) || slices.Contains(ks[:i], k) {
			return false
		}
	}
	for i, k := range ks {
		m.Add(k, rs[i])
	}
	return true
}

func (m *model[K]) RemoveAt(i table.Index) table.Index {
	last := table.Index(len(m.keys) - 1)
	if i < 0 || i > last {
		return table.None
	}
	if i < last {
		m.moves = append(m.moves, moved(m.keys[last], last, i))
	}
	m.keys[i], m.ids[i] = m.keys[last], m.ids[last]
	m.keys, m.ids = m.keys[:last], m.ids[:last]
	return i
}

func (m *model[K]) Remove(k K) table.Index { return m.RemoveAt(m.Lookup(k)) }

func (m *model[K]) RemoveDead() (n int) {
	for i := len(m.keys) - 1; i >= 0; i-- {
		if k, id := m.keys[i], m.ids[i]; !m.live(k) {
			m.RemoveAt(table.Index(i))
			m.died(k, id)
			n++
		}
	}
	return n
}

func (m *model[K]) DeleteFunc(del func(k K, i table.Index) bool) (n int) {
	for i := len(m.keys) - 1; i >= 0; i-- {
		if del(m.keys[i], table.Index(i)) {
			m.RemoveAt(table.Index(i))
			n++
		}
	}
	return n
}

func (m *model[K]) Clear() int {
	n := len(m.keys)
	m.keys, m.ids = nil, nil
	return n
}

func (m *model[K]) SetAt(i table.Index, r record) bool {
	if i < 0 || int(i) >= len(m.ids) {
		return false
	}
	m.ids[i] = r.ID
	return true
}

func (m *model[K]) Set(k K, r record) bool { return m.SetAt(m.Lookup(k), r) }
