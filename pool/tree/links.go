package tree

import (
	"bytes"
	"errors"
	"fmt"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Links is the place of a value in one [Forest]: a named field of T. It takes 48 bytes, for the
// handles of five neighbours and a version. The zero Links belongs to a root without children; so
// values enter the pool. A Reset must set Links to zero, as the pool does without one.
//
// Only a Forest changes Links. Readers load its words by atomics meanwhile, so it must not be
// copied (vet reports it). Read values of such a pool through a guard or a loop, and build them
// with InsertFunc or as a literal in Insert. [pool.Pool.Get] and Take copy without
// synchronization, which is a data race while the Forest changes.
//
// Snapshots of the pool, encoding/gob and encoders of text, such as encoding/json, encode Links.
// Give them a pointer to the value, or a slice of values: text of links that they cannot address
// is an error.
type Links[T any] struct {
	// Words are the links. The field is exported because encoders skip unexported ones. Its type
	// has the methods that encoders look for. If Links had them, a T that embeds Links would
	// inherit them, and encoders would write the links instead of all of T.
	Words words[T]
}

// words are the links of a node, and its stamp.
//
// The holder of Forest.mu writes them, and readers load them under a guard of the pool. The guard keeps
// the slot of a node from being reused, but the node may be removed. A link is a handle, so a look-up
// shows that a neighbour was removed.
//
// Neighbours agree: W1, a first child has no previous sibling, a last child no next one;
// W2, x.next is y if and only if y.prev is x; W3, a child's parent is the node in whose
// list it stands. These hold for live nodes while Forest.version is even.
type words[T any] struct {
	// Unaddressed makes an encoder fail that cannot call the methods of words. It has no size.
	Unaddressed unaddressed

	parent, first, last, next, prev atom.Uint64

	// stamp is the version of the Forest, odd, during the last change that linked or unlinked this node.
	// So a node that was linked earlier has a smaller one.
	//
	//	orders  nothing by itself: it is read between two loads of the version
	stamp atom.Uint64
}

// MarshalBinary returns the five handles, in some 15 bytes (appendLinks). The stamp is left out,
// since it means nothing to another Forest. The error is always nil. It may be called while a Forest
// changes the links.
func (w *words[T]) MarshalBinary() ([]byte, error) { return w.AppendBinary(nil) }

// AppendBinary appends what MarshalBinary returns.
func (w *words[T]) AppendBinary(b []byte) ([]byte, error) {
	var links [5]uint64
	for i, link := range w.links() {
		links[i] = link.Load()
	}
	return appendLinks(b, links), nil
}

// UnmarshalBinary decodes the output of MarshalBinary and nothing else. If it returns an error the
// links are unchanged. The value must not be shared yet.
func (w *words[T]) UnmarshalBinary(b []byte) error {
	links, ok := parseLinks(b)
	if !ok {
		return fmt.Errorf("tree: %d bytes are no links", len(b))
	}
	for i, link := range w.links() {
		link.Store(links[i])
	}
	w.stamp.Store(0)
	return nil
}

// MarshalText returns the five handles: parent, first and last child, next and previous
// sibling, separated by spaces. The error is always nil. It may be called while a Forest
// changes the links.
func (w *words[T]) MarshalText() ([]byte, error) {
	var b []byte
	for i, link := range w.links() {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, load[T](link).String()...)
	}
	return b, nil
}

// UnmarshalText decodes the output of MarshalText and nothing else. If it returns an error
// the links are unchanged. The value must not be shared yet.
func (w *words[T]) UnmarshalText(b []byte) error {
	var handles [5]pool.Handle[T]
	parts := bytes.Split(b, []byte{' '})
	if len(parts) != len(handles) {
		return fmt.Errorf("tree: links %q: want %d handles", b, len(handles))
	}
	for i, part := range parts {
		if err := handles[i].UnmarshalText(part); err != nil {
			return fmt.Errorf("tree: links %q: %w", b, err)
		}
	}
	for i, link := range w.links() {
		link.Store(uint64(handles[i]))
	}
	w.stamp.Store(0)
	return nil
}

// unaddressed is a part of words that an encoder comes to only if it has a copy of them, or cannot address
// them. Without it, such an encoder would leave the links out silently.
type unaddressed struct{}

// MarshalText returns an error.
func (unaddressed) MarshalText() ([]byte, error) {
	return nil, errors.New("tree: Links of a value that the encoder cannot address; encode a pointer to the value")
}

// links returns the five links: parent, first, last, next and prev.
func (w *words[T]) links() [5]*atom.Uint64 {
	return [...]*atom.Uint64{&w.parent, &w.first, &w.last, &w.next, &w.prev}
}

// load reads a link.
func load[T any](w *atom.Uint64) pool.Handle[T] { return pool.Handle[T](w.Load()) }

// set changes a link, and reports whether it was different.
func set[T any](w *atom.Uint64, h pool.Handle[T]) bool {
	if w.Load() == uint64(h) {
		return false
	}
	store(w, uint64(h))
	return true
}

// store stores a link, a stamp or the version, and returns it. The caller holds Forest.mu. Release order is
// enough (DESIGN.md, Stores): a reader that sees a link of a change then sees its odd version, or a later
// one. Other changes see all of it once mu is unlocked.
func store(w *atom.Uint64, v uint64) uint64 { return atom.StoreRelease(v, w) }
