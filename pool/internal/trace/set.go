package trace

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostDropped is how many dropped items a set remembers.
	mostDropped = 16

	// mostStories is how many stacks the text of a set shows.
	mostStories = 10
)

// Set is the open items of one kind, guards for example. The zero Set is empty.
//
// It must not lie in the pool, nor refer to it: items refer to their Set, and finalizers
// do not run for objects in a cycle.
type Set struct {
	mu      sync.Mutex
	open    map[*Item]struct{}
	dropped []*Item // the last few
	drops   int     // how many there were
}

// Item is one thing that was opened.
type Item struct {
	name   string // of the thing, if it has one: a handle
	number uint64 // of the items of all Sets
	opened Event
	closed Event // under the mutex of the Set
}

// opened is the number of the Item that was opened last. Times do not tell which of two came first: a bubble
// of testing/synctest has its own.
var opened atomic.Uint64

// Opened returns how many items were opened in all Sets.
func Opened() uint64 { return opened.Load() }

// Open records that the caller opened something. did says how: "pinned".
func (s *Set) Open(did, name string) *Item { return s.add(did, name, callers()) }

// OpenAt is Open by a call that was made elsewhere.
func (s *Set) OpenAt(did, name string, at Place) *Item { return s.add(did, name, at.stack) }

// Place is the stack of a call.
type Place struct{ stack *stack }

// Here returns the stack above its caller.
func Here() Place { return Place{callers()} }

func (s *Set) add(did, name string, at *stack) *Item {
	it := &Item{name: name, number: opened.Add(1), opened: Event{did, time.Now(), at}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*Item]struct{})
	}
	s.open[it] = struct{}{}
	return it
}

// Close records that the caller closed it.
func (s *Set) Close(it *Item, did string) { s.close(it, Event{did, time.Now(), callers()}) }

// Drop records that the garbage collector closed it, since it was dropped. If it was closed
// before, Drop does nothing.
func (s *Set) Drop(it *Item, did string) {
	if !s.close(it, Event{did, time.Now(), nil}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops++
	if s.dropped = append(s.dropped, it); len(s.dropped) > mostDropped {
		s.dropped = slices.Delete(s.dropped, 0, 1)
	}
}

// Items returns those that are open.
func (s *Set) Items() []*Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.open))
}

// Youngest returns the number of the item that was opened last, of those that are open or were dropped, or 0.
func (s *Set) Youngest() (number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for it := range s.open {
		number = max(number, it.number)
	}
	for _, it := range s.dropped {
		number = max(number, it.number)
	}
	return number
}

// Youngest returns the number of the item of a pool that was opened last, of those that are open or were
// dropped. Package pool sets it in programs that record them all.
var Youngest func(pool any) uint64

// Drops returns how many items were dropped.
func (s *Set) Drops() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops
}

// Watch returns an object that records when it is dropped, unless it is closed before. All that
// users have of the item refers to it.
func (s *Set) Watch(it *Item, did string) *Watch {
	w := &Watch{s, it, did}
	runtime.SetFinalizer(w, func(w *Watch) { w.set.Drop(w.item, w.did) })
	return w
}

// Watch is what Set.Watch returns.
type Watch struct {
	set  *Set
	item *Item
	did  string
}

// close reports whether the item was open.
func (s *Set) close(it *Item, e Event) (was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was = s.open[it]; was {
		it.closed = e
		delete(s.open, it)
	}
	return was
}

// WriteOpen appends who opened what is open, the oldest first. Each line follows
// a newline and indent.
func (s *Set) WriteOpen(b *strings.Builder, indent string) {
	open := s.Items()
	slices.SortFunc(open, func(x, y *Item) int { return x.opened.when.Compare(y.opened.when) })
	writeItems(b, indent, open)
}

// WriteDropped appends who opened what was dropped, the last few.
func (s *Set) WriteDropped(b *strings.Builder, indent string) {
	s.mu.Lock()
	dropped := slices.Clone(s.dropped)
	s.mu.Unlock()
	writeItems(b, indent, dropped)
}

// writeItems appends one story for all items that were opened in one place.
func writeItems(b *strings.Builder, indent string, items []*Item) {
	shown := make(map[*stack]bool)
	for at, it := range items {
		if shown[it.opened.stack] {
			continue
		}
		if len(shown) == mostStories {
			fmt.Fprintf(b, "\n%sand more from other places", indent)
			return
		}
		shown[it.opened.stack] = true
		b.WriteString("\n" + indent)
		if it.name != "" {
			b.WriteString(it.name + ", ")
		}
		it.opened.write(b, indent)
		same := 0
		for _, other := range items[at+1:] {
			if other.opened.stack == it.opened.stack {
				same++
			}
		}
		if same > 0 {
			fmt.Fprintf(b, "\n%sand %d more from there", indent, same)
		}
	}
}

// WriteItem appends who opened an item and who closed it.
func (s *Set) WriteItem(b *strings.Builder, it *Item) {
	b.WriteString("\n")
	it.opened.write(b, "")
	s.mu.Lock()
	closed := it.closed
	s.mu.Unlock()
	if closed.happened() {
		b.WriteString("\n")
		closed.write(b, "")
	}
}
