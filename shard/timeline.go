package shard

// timeline is a list of what waits for grace periods, in the order of the stamps. So what has
// expired is always a prefix, and one comparison tells whether there is any. A shard's backlog
// and a magazine's bag are timelines.
//
// Its zero value is empty. Its owner synchronizes.
type timeline[B any] struct {
	list  []stamped[B] // from head on; those before were taken
	head  int
	fixed bool // the array is never given back
}

// stamped is something with an epoch stamp.
type stamped[B any] struct {
	stamp uint64
	body  B
}

func (l *timeline[B]) len() int { return len(l.list) - l.head }

// entry returns entry k, from 0 for the oldest. It is valid until the list changes.
func (l *timeline[B]) entry(k int) *stamped[B] { return &l.list[l.head+k] }

// oldest returns the oldest entry, or nil.
func (l *timeline[B]) oldest() *stamped[B] {
	if l.head >= len(l.list) {
		return nil
	}
	return &l.list[l.head]
}

// youngest returns the youngest entry, or nil.
func (l *timeline[B]) youngest() *stamped[B] {
	if l.len() == 0 {
		return nil
	}
	return &l.list[len(l.list)-1]
}

// add appends an entry, whose stamp is not below that of the last.
func (l *timeline[B]) add(stamp uint64, body B) {
	if len(l.list) == cap(l.list) && (l.head > len(l.list)/2 || l.fixed && l.head > 0) {
		l.closeUp()
	}
	l.list = append(l.list, stamped[B]{stamp, body})
}

// insert makes a new entry k.
func (l *timeline[B]) insert(k int, stamp uint64, body B) {
	if k == 0 && l.head > 0 {
		l.head--
		l.list[l.head] = stamped[B]{stamp, body}
		return
	}
	l.add(stamp, body)
	tail := l.list[l.head+k:]
	copy(tail[1:], tail)
	tail[0] = stamped[B]{stamp, body}
}

// removeFirst removes the oldest entry. An array that has become much too long goes.
func (l *timeline[B]) removeFirst() {
	l.list[l.head] = stamped[B]{}
	l.head++
	long := !l.fixed && cap(l.list) > longTimeline
	switch n := l.len(); {
	case n == 0 && long:
		*l = timeline[B]{}
	case n == 0:
		l.list, l.head = l.list[:0], 0
	case long && n < cap(l.list)/4:
		*l = timeline[B]{list: append(make([]stamped[B], 0, 2*n), l.list[l.head:]...)}
	}
}

// clear removes all entries, and keeps the array.
func (l *timeline[B]) clear() {
	clear(l.list)
	l.list, l.head = l.list[:0], 0
}

// closeUp moves the entries to the beginning of the array.
func (l *timeline[B]) closeUp() {
	n := copy(l.list, l.list[l.head:])
	clear(l.list[n:])
	l.list, l.head = l.list[:n], 0
}

// find returns the first entry whose stamp is at least that, or len.
func (l *timeline[B]) find(stamp uint64) int {
	lo, hi := 0, l.len()
	for lo < hi {
		if mid := (lo + hi) / 2; l.entry(mid).stamp < stamp {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
