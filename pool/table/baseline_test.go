package table_test

// The baselines of the benchmarks are what programmers write by hand.

// wide is a record of 128 bytes.
type wide struct {
	A, B, C, D, E, F, G, H uint64
	I, J, K, L, M, N, O, P uint64
}

// bodyRecord is a record of mixed fields, two of which hold pointers.
type bodyRecord struct {
	X, Y, Z  float64
	Mass     float32
	Kind     uint8
	Visible  bool
	Name     string
	Parent   *int
	Children [2]uint32
}

// handSoA is a structure of arrays by hand: each method has a line for each field.
type handSoA struct {
	index    map[uint64]int
	keys     []uint64
	x, y, z  []float64
	mass     []float32
	kind     []uint8
	visible  []bool
	name     []string
	parent   []*int
	children [][2]uint32
}

func (s *handSoA) Add(k uint64, r bodyRecord) bool {
	if _, ok := s.index[k]; ok {
		return false
	}
	s.index[k] = len(s.keys)
	s.keys = append(s.keys, k)
	s.x = append(s.x, r.X)
	s.y = append(s.y, r.Y)
	s.z = append(s.z, r.Z)
	s.mass = append(s.mass, r.Mass)
	s.kind = append(s.kind, r.Kind)
	s.visible = append(s.visible, r.Visible)
	s.name = append(s.name, r.Name)
	s.parent = append(s.parent, r.Parent)
	s.children = append(s.children, r.Children)
	return true
}

func (s *handSoA) Remove(k uint64) bool {
	i, ok := s.index[k]
	if !ok {
		return false
	}
	delete(s.index, k)
	last := len(s.keys) - 1
	if i != last {
		s.index[s.keys[last]] = i
	}
	s.keys = leave(s.keys, i)
	s.x = leave(s.x, i)
	s.y = leave(s.y, i)
	s.z = leave(s.z, i)
	s.mass = leave(s.mass, i)
	s.kind = leave(s.kind, i)
	s.visible = leave(s.visible, i)
	s.name = leave(s.name, i)
	s.parent = leave(s.parent, i)
	s.children = leave(s.children, i)
	return true
}

// leave moves the last element of s to i.
func leave[E any](s []E, i int) []E {
	last := len(s) - 1
	s[i] = s[last]
	clear(s[last:])
	return s[:last]
}

func (s *handSoA) Copy(k uint64) (r bodyRecord, ok bool) {
	i, ok := s.index[k]
	if !ok {
		return r, false
	}
	return bodyRecord{s.x[i], s.y[i], s.z[i], s.mass[i], s.kind[i], s.visible[i], s.name[i], s.parent[i], s.children[i]}, true
}

// handAoS is a slice of records and a map.
type handAoS[R any] struct {
	index map[uint64]int
	keys  []uint64
	rows  []R
}

func (s *handAoS[R]) Add(k uint64, r R) bool {
	if _, ok := s.index[k]; ok {
		return false
	}
	s.index[k] = len(s.keys)
	s.keys = append(s.keys, k)
	s.rows = append(s.rows, r)
	return true
}

func (s *handAoS[R]) Remove(k uint64) bool {
	i, ok := s.index[k]
	if !ok {
		return false
	}
	delete(s.index, k)
	last := len(s.keys) - 1
	if i != last {
		s.index[s.keys[last]] = i
	}
	s.keys, s.rows = leave(s.keys, i), leave(s.rows, i)
	return true
}

func (s *handAoS[R]) Copy(k uint64) (r R, ok bool) {
	i, ok := s.index[k]
	if !ok {
		return r, false
	}
	return s.rows[i], true
}
