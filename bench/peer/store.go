package peer

// store is a Store of functions. All but session may be nil.
type store struct {
	session func() Session
	len     func() int // nil: by all
	all     func() (n int, sum uint64)
	trim    func()
}

func (s store) Session() Session { return s.session() }
func (s store) Close()           {}

func (s store) Len() int {
	if s.len == nil {
		n, _ := s.All()
		return n
	}
	return s.len()
}

func (s store) All() (n int, sum uint64) {
	if s.all == nil {
		return -1, 0
	}
	return s.all()
}

func (s store) Trim() {
	if s.trim != nil {
		s.trim()
	}
}
