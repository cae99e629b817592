package codec

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
)

// A description tells the structure of a type, without names of types: kinds, lengths of arrays and names of
// fields, as far as its parts lead. Two types have the same description if and only if they have the same
// structure. So parts with the same structure count as one, however many types they have. A part that lies
// within itself is written as a number: how many parts enclose it.
//
// The naive description numbers each type that came before. Then it depends on which types have names, and two
// structures may have one text.
type description struct {
	list      []structure
	enclosing map[int]int // the structures that are being written, each with how many enclose it
	text      strings.Builder
}

// structure is what all parts have in common that are alike.
type structure struct {
	*part
	label string // what it is, without its inner parts
	inner []int  // the numbers of its key, element or fields
}

// describe returns the description of top's type. If it is too long, it is cut, and ends in a hash of all.
func describe(top *part) string {
	d := description{list: structuresOf(top), enclosing: map[int]int{}}
	if d.write(0); d.text.Len() <= describedBytes {
		return d.text.String()
	}
	hash := fnv.New64a()
	for _, s := range d.list {
		fmt.Fprintln(hash, s.label, s.inner)
	}
	return fmt.Sprintf("%s… (%016x)", d.text.String()[:describedBytes], hash.Sum64())
}

// structuresOf returns the structures to which top leads, in the order in which a description writes them.
func structuresOf(top *part) (list []structure) {
	parts, numbers := []structure{{part: top, label: top.label()}}, map[*part]int{top: 0}
	for i := 0; i < len(parts); i++ {
		parts[i].visit(func(p *part) {
			n, known := numbers[p]
			if !known {
				n, numbers[p] = len(parts), len(parts)
				parts = append(parts, structure{part: p, label: p.label()})
			}
			parts[i].inner = append(parts[i].inner, n)
		})
	}
	class := classes(parts)
	number := make(map[int]int, len(parts))
	var meet func(i int) int
	meet = func(i int) int {
		if n, ok := number[class[i]]; ok {
			return n
		}
		n := len(list)
		number[class[i]] = n
		list = append(list, structure{parts[i].part, parts[i].label, make([]int, len(parts[i].inner))})
		inner := list[n].inner
		for k, q := range parts[i].inner {
			inner[k] = meet(q)
		}
		return n
	}
	meet(0)
	return list
}

// classes returns a number for each part. Parts that are alike have the same number. It first numbers them by
// their labels. Then it divides them in rounds, by the numbers of their inner parts, until a round finds no more
// differences.
func classes(parts []structure) (class []int) {
	class, next, known := make([]int, len(parts)), make([]int, len(parts)), map[string]int{}
	number := func(key []byte) int {
		n, ok := known[string(key)]
		if !ok {
			n = len(known)
			known[string(key)] = n
		}
		return n
	}
	var key []byte
	for i, p := range parts {
		key = append(key[:0], p.label...)
		class[i] = number(key)
	}
	for n := 0; n < len(known) && len(known) < len(parts); {
		n = len(known)
		clear(known)
		for i, p := range parts {
			key = binary.AppendUvarint(key[:0], uint64(class[i]))
			for _, q := range p.inner {
				key = binary.AppendUvarint(key, uint64(class[q]))
			}
			next[i] = number(key)
		}
		class, next = next, class
	}
	return class
}

// write writes structure n, unless the text is too long already.
func (d *description) write(n int) {
	s := d.list[n]
	if enclosing, known := d.enclosing[n]; known {
		fmt.Fprintf(&d.text, "#%d", enclosing)
		return
	}
	if d.text.Len() > describedBytes {
		return
	}
	d.enclosing[n] = len(d.enclosing)
	defer delete(d.enclosing, n)
	switch {
	case len(s.inner) == 0:
		d.text.WriteString(s.label)
	case s.kind == reflect.Map:
		d.text.WriteString("map[")
		d.write(s.inner[0])
		d.text.WriteString("]")
		d.write(s.inner[1])
	case s.kind == reflect.Struct:
		separator := "struct{"
		for i, f := range s.fields {
			d.text.WriteString(separator + s.typ.Field(f.index).Name + " ")
			d.write(s.inner[i])
			separator = "; "
		}
		d.text.WriteString("}")
	default:
		d.text.WriteString(s.label)
		d.write(s.inner[0])
	}
}

// label tells what p is, without its inner parts.
func (p *part) label() string {
	switch {
	case p.marshals:
		return "binary"
	case p.number == related || p.wideHandle():
		return "handle"
	}
	switch p.kind {
	case reflect.Pointer:
		return "*"
	case reflect.Slice:
		return "[]"
	case reflect.Array:
		return fmt.Sprintf("[%d]", p.typ.Len())
	case reflect.Struct:
		names := make([]string, len(p.fields))
		for i, f := range p.fields {
			names[i] = p.typ.Field(f.index).Name
		}
		return "struct{" + strings.Join(names, "; ") + "}"
	}
	return p.kind.String()
}

// visit calls f for p's key, element and fields.
func (p *part) visit(f func(*part)) {
	if p.key != nil {
		f(p.key)
	}
	if p.elem != nil {
		f(p.elem)
	}
	for _, field := range p.fields {
		f(field.part)
	}
}

// wideHandle reports whether p is a handle that is written as a number of fixed size.
func (p *part) wideHandle() bool {
	return p.fixed != nil && p.kind == reflect.Uint64 && p.typ.Implements(wordType)
}
