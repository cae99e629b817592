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

// Which items are open, such as guards, and who opened them; and the last few that were dropped.

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

// Open records that the caller opened an item. verb says how: "pinned".
func (s *Set) Open(verb, name string) *Item { return s.add(verb, name, callers()) }

// OpenAt records that the call at a Place opened an item.
func (s *Set) OpenAt(verb, name string, place Place) *Item { return s.add(verb, name, place.stack) }

// Place is the stack of a call.
type Place struct{ stack *stack }

// Here returns the stack above its caller.
func Here() Place { return Place{callers()} }

func (s *Set) add(verb, name string, calls *stack) *Item {
	item := &Item{name: name, number: opened.Add(1), opened: Event{verb, time.Now(), calls}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*Item]struct{})
	}
	s.open[item] = struct{}{}
	return item
}

// Close records that the caller closed it.
func (s *Set) Close(item *Item, verb string) { s.close(item, Event{verb, time.Now(), callers()}) }

// Drop records that the garbage collector closed it, since it was dropped. If it was closed
// before, Drop does nothing.
func (s *Set) Drop(item *Item, verb string) {
	if !s.close(item, Event{verb, time.Now(), nil}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops++
	if s.dropped = append(s.dropped, item); len(s.dropped) > mostDropped {
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
	for item := range s.open {
		number = max(number, item.number)
	}
	for _, item := range s.dropped {
		number = max(number, item.number)
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

// Watch returns an object that records that the item is dropped, when the collector finds the object
// unreachable before the item is closed. All that users have of the item refers to this object.
func (s *Set) Watch(item *Item, verb string) *Watch {
	w := &Watch{s, item, verb}
	runtime.SetFinalizer(w, func(w *Watch) { w.set.Drop(w.item, w.verb) })
	return w
}

// Watch is the object that Set.Watch returns.
type Watch struct {
	set  *Set
	item *Item
	verb string
}

// close closes an item, and reports whether it was open.
func (s *Set) close(item *Item, e Event) (open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open = s.open[item]; open {
		item.closed = e
		delete(s.open, item)
	}
	return open
}

// WriteOpen appends who opened the items that are open, the oldest first. Each line begins with indent.
func (s *Set) WriteOpen(b *strings.Builder, indent string) {
	open := s.Items()
	slices.SortFunc(open, func(x, y *Item) int { return x.opened.when.Compare(y.opened.when) })
	writeItems(b, indent, open)
}

// WriteDropped appends who opened the last items that were dropped.
func (s *Set) WriteDropped(b *strings.Builder, indent string) {
	s.mu.Lock()
	dropped := slices.Clone(s.dropped)
	s.mu.Unlock()
	writeItems(b, indent, dropped)
}

// writeItems appends one story for all items that were opened in one place.
func writeItems(b *strings.Builder, indent string, items []*Item) {
	shown := make(map[*stack]bool)
	for i, item := range items {
		if shown[item.opened.stack] {
			continue
		}
		if len(shown) == mostStories {
			fmt.Fprintf(b, "\n%sand more from other places", indent)
			return
		}
		shown[item.opened.stack] = true
		b.WriteString("\n" + indent)
		if item.name != "" {
			b.WriteString(item.name + ", ")
		}
		item.opened.write(b, indent)
		count := 0
		for _, later := range items[i+1:] {
			if later.opened.stack == item.opened.stack {
				count++
			}
		}
		if count > 0 {
			fmt.Fprintf(b, "\n%sand %d more from there", indent, count)
		}
	}
}

// WriteItem appends who opened an item and who closed it.
func (s *Set) WriteItem(b *strings.Builder, item *Item) {
	b.WriteString("\n")
	item.opened.write(b, "")
	s.mu.Lock()
	closed := item.closed
	s.mu.Unlock()
	if closed.happened() {
		b.WriteString("\n")
		closed.write(b, "")
	}
}
