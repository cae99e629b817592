package shard

// What Trim has in its hands of a shard, and how it goes back in the order that it
// had. To walk the list once more, without the slots of pages that go, would cost
// another cache miss for each slot. So the slots of wanted pages are set apart when
// the list is walked first, with a note of where they belong: mostly all of these
// go, and what is left goes back as it is.

// taken is what Trim has taken from one shard.
type taken[T any] struct {
	from   *shard[T]
	run    chain[T] // slots of other pages, in the order in which the shard would hand them out
	wanted chain[T] // slots of wanted pages, in that order too
	marks  []mark   // where they belong among the others
}

// mark says that the next n of the wanted slots belong behind slot at, or in front
// if that is None.
type mark struct{ at, n uint32 }

// mark notes where the next wanted slot belongs.
func (l *taken[T]) mark() {
	at := uint32(None)
	if l.run.n > 0 {
		at = Low(l.run.tail)
	}
	if k := len(l.marks) - 1; k >= 0 && l.marks[k].at == at {
		l.marks[k].n++
		return
	}
	l.marks = append(l.marks, mark{at, 1})
}

// merge puts the slots of wanted pages that stay in their places among the others.
func (t *trimmer[T]) merge(l *taken[T]) {
	i := l.wanted.top()
	for _, m := range l.marks {
		var back chain[T]
		for range m.n {
			slot := t.arena.slot(i)
			word := slot.Word.Load()
			if !t.page(i).gone {
				back.append(slot, i, word)
			}
			i = Low(word)
		}
		switch {
		case back.n == 0:
		case m.at == None:
			back.concat(&l.run)
			l.run = back
		case m.at == Low(l.run.tail):
			l.run.concat(&back)
		default:
			before := t.arena.slot(m.at)
			word := before.Word.Load()
			back.link(Low(word))
			before.set(Pack(Generation(word), Low(back.first)))
			l.run.n += back.n
		}
	}
}
