package slots

// StampList is a list of what waits for grace periods, in the order of the stamps. So what has
// expired is always a prefix, and one comparison tells whether there is any. A shard's backlog
// and the parts of a magazine's bag are in such lists.
//
// Its zero value is empty. Its owner synchronizes.
type StampList[B any] struct {
	List  []Stamped[B] // from head on; those before were taken
	head  int
	Fixed bool // the array is never given back
}

// Stamped is something with an epoch stamp.
type Stamped[B any] struct {
	Stamp uint64
	Body  B
}

func (l *StampList[B]) Len() int { return len(l.List) - l.head }

// Entry returns entry k, from 0 for the oldest. It is valid until the list changes.
func (l *StampList[B]) Entry(k int) *Stamped[B] { return &l.List[l.head+k] }

// Oldest returns the oldest entry, or nil.
func (l *StampList[B]) Oldest() *Stamped[B] {
	if l.head >= len(l.List) {
		return nil
	}
	return &l.List[l.head]
}

// Youngest returns the youngest entry, or nil.
func (l *StampList[B]) Youngest() *Stamped[B] {
	if l.Len() == 0 {
		return nil
	}
	return &l.List[len(l.List)-1]
}

// Add appends an entry, whose stamp is not below that of the last.
func (l *StampList[B]) Add(stamp uint64, body B) {
	if len(l.List) == cap(l.List) && (l.head > len(l.List)/2 || l.Fixed && l.head > 0) {
		l.CloseUp()
	}
	l.List = append(l.List, Stamped[B]{stamp, body})
}

// Insert makes a new entry k.
func (l *StampList[B]) Insert(k int, stamp uint64, body B) {
	if k == 0 && l.head > 0 {
		l.head--
		l.List[l.head] = Stamped[B]{stamp, body}
		return
	}
	l.Add(stamp, body)
	tail := l.List[l.head+k:]
	copy(tail[1:], tail)
	tail[0] = Stamped[B]{stamp, body}
}

// Remove removes entry k. It moves all that come after it.
func (l *StampList[B]) Remove(k int) {
	if k == 0 {
		l.RemoveFirst()
		return
	}
	tail := l.List[l.head+k:]
	copy(tail, tail[1:])
	tail[len(tail)-1] = Stamped[B]{}
	l.List = l.List[:len(l.List)-1]
	l.shrink()
}

// RemoveFirst removes the oldest entry.
func (l *StampList[B]) RemoveFirst() {
	l.List[l.head] = Stamped[B]{}
	l.head++
	l.shrink()
}

// shrink lets go of an array that has become much too long, and begins an empty list at the front.
func (l *StampList[B]) shrink() {
	long := !l.Fixed && cap(l.List) > longTimeline
	switch n := l.Len(); {
	case long && n < cap(l.List)/4: // of an empty list, nothing is left
		*l = StampList[B]{List: append(make([]Stamped[B], 0, 2*n), l.List[l.head:]...)}
	case n == 0:
		l.List, l.head = l.List[:0], 0
	}
}

// Clear removes all entries, and keeps the array.
func (l *StampList[B]) Clear() {
	clear(l.List)
	l.List, l.head = l.List[:0], 0
}

// CloseUp moves the entries to the beginning of the array.
func (l *StampList[B]) CloseUp() {
	n := copy(l.List, l.List[l.head:])
	clear(l.List[n:])
	l.List, l.head = l.List[:n], 0
}

// Find returns the first entry whose stamp is at least that, or len.
func (l *StampList[B]) Find(stamp uint64) int {
	lo, hi := 0, l.Len()
	for lo < hi {
		if mid := (lo + hi) / 2; l.Entry(mid).Stamp < stamp {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
