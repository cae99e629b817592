package pool

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"coatcheck/shard/slots"
)

// Handle names one life of one slot of a pool. Its low 32 bits are the slot's index, and its high
// 32 bits the generation, which is odd. The zero Handle names nothing.
//
// Handles are plain words: compare them, use them as map keys, send and store them anywhere. Every
// method of a pool accepts any Handle, and refuses it unless it names a live value. Handles are not
// secrets.
//
// Send handles as text or as 64-bit integers. As a number of 53 bits, as in JavaScript, a handle
// loses its last bits. Unless [Options].Origin is set, a pool refuses such a handle, a forged one,
// and another pool's, but for about one in 2^30.
type Handle[T any] uint64

// Index returns the index of the slot.
func (h Handle[T]) Index() uint32 { return slots.Low(uint64(h)) }

// Generation returns the generation of the slot's life that h names.
func (h Handle[T]) Generation() uint32 { return slots.Generation(uint64(h)) }

// IsZero reports whether h is the zero Handle.
func (h Handle[T]) IsZero() bool { return h == 0 }

// String returns "index@generation" in decimal, or "none" for the zero Handle. [ParseHandle] reads
// it back; fmt.Sscan does not.
func (h Handle[T]) String() string { return textOf(uint64(h)) }

// textOf returns the text of a handle.
func textOf(h uint64) string {
	return string(appendText(make([]byte, 0, len("4294967295@4294967295")), h))
}

func appendText(b []byte, h uint64) []byte {
	if h == 0 {
		return append(b, textOfZero...)
	}
	b = strconv.AppendUint(b, uint64(slots.Low(h)), 10)
	b = append(b, textSep...)
	return strconv.AppendUint(b, uint64(slots.Generation(h)), 10)
}

// Format implements [fmt.Formatter]: %v, %s and %q print the text of String, and verbs such as %x
// the number.
func (h Handle[T]) Format(f fmt.State, verb rune) { format(f, verb, uint64(h)) }

func format(f fmt.State, verb rune, h uint64) {
	if directive := fmt.FormatString(f, verb); strings.ContainsRune("vsq", verb) && !f.Flag('#') {
		fmt.Fprintf(f, directive, textOf(h))
	} else {
		fmt.Fprintf(f, directive, h)
	}
}

// AppendText appends the text of String to b. It returns an error for a handle that no pool issues.
func (h Handle[T]) AppendText(b []byte) ([]byte, error) {
	if err := mustHaveText(uint64(h)); err != nil {
		return nil, err
	}
	return appendText(b, uint64(h)), nil
}

// mustHaveText returns an error for what no pool has issued.
func mustHaveText(h uint64) error {
	switch {
	case issuable(h):
		return nil
	case slots.IsLive(h):
		return fmt.Errorf("pool: handle %s has no text: its generation is above %d", textOf(h), uint32(slots.LastGeneration))
	}
	return fmt.Errorf("pool: handle %s has no text: its generation is even", textOf(h))
}

// issuable reports whether a pool may have issued h.
func issuable(h uint64) bool {
	return h == 0 || slots.IsLive(h) && slots.Generation(h) <= slots.LastGeneration
}

// MarshalText returns the text of String, or an error as AppendText does.
func (h Handle[T]) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// UnmarshalJSON parses a JSON string with the text of String, or the bare text, as of a field with
// the tag `json:",string"`. A null changes nothing.
func (h *Handle[T]) UnmarshalJSON(b []byte) error {
	s := string(b)
	if s == "null" {
		return nil
	}
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		if err != nil {
			return fmt.Errorf("pool: handle %s: want a string without escapes", s)
		}
		s = text
	}
	return h.UnmarshalText([]byte(s))
}

// UnmarshalText parses the text of String as [ParseHandle] does. If it returns an error, h is
// unchanged.
func (h *Handle[T]) UnmarshalText(b []byte) error {
	parsed, err := ParseHandle[T](string(b))
	if err == nil {
		*h = parsed
	}
	return err
}

// ParseHandle parses the text of [Handle.String] and nothing else. It refuses what no pool issues,
// a sign, leading zeros and an empty text.
func ParseHandle[T any](s string) (Handle[T], error) {
	h, err := parse(s)
	return Handle[T](h), err
}

func parse(s string) (uint64, error) {
	left, right, _ := strings.Cut(s, textSep)
	index, _ := strconv.ParseUint(left, 10, 32)
	generation, _ := strconv.ParseUint(right, 10, 32)
	h := slots.Pack(uint32(generation), uint32(index))
	// Whatever is wrong with a number, it has another text.
	if textOf(h) != s || !issuable(h) {
		return 0, fmt.Errorf("pool: handle %q: want %q, or index@generation in decimal, with an odd generation up to %d", s, textOfZero, uint32(slots.LastGeneration))
	}
	return h, nil
}

// Value implements driver.Valuer: a database stores the text of String. The error is that of
// AppendText.
func (h Handle[T]) Value() (driver.Value, error) {
	if err := mustHaveText(uint64(h)); err != nil {
		return nil, err
	}
	return h.String(), nil
}

// Scan implements [database/sql.Scanner] for what Value has stored, and for integers that were
// stored as int64(h). NULL is the zero Handle. If it returns an error, h is unchanged.
func (h *Handle[T]) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*h = 0
	case int64:
		*h = Handle[T](src)
	case string:
		return h.UnmarshalText([]byte(src))
	case []byte:
		return h.UnmarshalText(src)
	default:
		return fmt.Errorf("pool: handle from a %T: want a string, []byte, int64 or nil", src)
	}
	return nil
}

const (
	textOfZero = "none"
	textSep    = "@"
)

// Ptr is a handle with its pool, for code that does not know the pool. It can be copied and
// compared, and any number of goroutines may use it. A zero Ptr is not live.
type Ptr[T any] struct {
	Pool   *Pool[T]
	Handle Handle[T]
}

// Ptr returns h with its pool, whether or not h is live.
func (p *Pool[T]) Ptr(h Handle[T]) Ptr[T] {
	p.pages() // Ptr.Get has no room for the check
	return Ptr[T]{p, h}
}

// MarshalText returns an error: write the Handle instead, and call [Pool.Ptr] where it is read.
func (q Ptr[T]) MarshalText() ([]byte, error) { return nil, errPtrText }

// UnmarshalText returns an error, as MarshalText does.
func (q *Ptr[T]) UnmarshalText([]byte) error { return errPtrText }

var errPtrText = errors.New("pool: a Ptr has no text: write its Handle")

// Live reports whether the value is live; see [Pool.Contains].
func (q Ptr[T]) Live() bool { return q.Pool != nil && q.Pool.Contains(q.Handle) }

// Get returns a copy of the value; see [Pool.Get].
func (q Ptr[T]) Get() (v T, ok bool) {
	if q.Pool != nil {
		v, ok = q.Pool.get(q.Handle) // with the text for a zero Pool, it would cost 90, and not be inlined
	}
	return
}

// View calls f with the value; see [Pool.View].
func (q Ptr[T]) View(f func(*T)) bool { return q.Pool != nil && q.Pool.View(q.Handle, f) }

// Remove removes the value; see [Pool.Remove].
func (q Ptr[T]) Remove() bool { return q.Pool != nil && q.Pool.Remove(q.Handle) }
