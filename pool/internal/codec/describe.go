package codec

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
)

// A description is the structure of a type, without names of types. Two types have the same one if and
// only if they have the same structure: kinds, lengths of arrays and names of fields, however far one
// follows their parts. So parts that are alike all the way down are one, however many types they are, and
// a part is a number only where it lies within itself: how many parts are around it.
//
// The naive description numbers every type that came before. Then it depends on which types have names,
// and two structures may have one text.
type description struct {
	all    []structure
	around map[int]int // the structures that are being written, and how many are around each
	text   strings.Builder
}

// structure is what a part has in common with all that are like it.
type structure struct {
	*part
	label string // what it is, apart from its inner parts
	inner []int  // its elements or fields
}

// describe returns the description of top's type. A long one is cut, and ends in a hash of all.
func describe(top *part) string {
	d := description{all: structuresOf(top), around: map[int]int{}}
	if d.write(0); d.text.Len() <= describedBytes {
		return d.text.String()
	}
	hash := fnv.New64a()
	for _, s := range d.all {
		fmt.Fprintln(hash, s.label, s.inner)
	}
	return fmt.Sprintf("%s… (%016x)", d.text.String()[:describedBytes], hash.Sum64())
}

// structuresOf returns the structures that top leads to, in the order in which a description meets them.
func structuresOf(top *part) (all []structure) {
	parts, at := []structure{{part: top, label: top.label()}}, map[*part]int{top: 0}
	for i := 0; i < len(parts); i++ {
		parts[i].each(func(p *part) {
			n, known := at[p]
			if !known {
				n, at[p] = len(parts), len(parts)
				parts = append(parts, structure{part: p, label: p.label()})
			}
			parts[i].inner = append(parts[i].inner, n)
		})
	}
	like := kinds(parts)
	number := make(map[int]int, len(parts))
	var meet func(i int) int
	meet = func(i int) int {
		if n, ok := number[like[i]]; ok {
			return n
		}
		n := len(all)
		number[like[i]] = n
		all = append(all, structure{parts[i].part, parts[i].label, make([]int, len(parts[i].inner))})
		inner := all[n].inner
		for k, q := range parts[i].inner {
			inner[k] = meet(q)
		}
		return n
	}
	meet(0)
	return all
}

// kinds returns a number for each part, the same for those that are alike. They are so until something
// tells them apart: their labels, then those of their inner parts, and so on, until a round finds no more
// differences.
func kinds(parts []structure) (like []int) {
	like, next, known := make([]int, len(parts)), make([]int, len(parts)), map[string]int{}
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
		like[i] = number(key)
	}
	for n := 0; n < len(known) && len(known) < len(parts); {
		n = len(known)
		clear(known)
		for i, p := range parts {
			key = binary.AppendUvarint(key[:0], uint64(like[i]))
			for _, q := range p.inner {
				key = binary.AppendUvarint(key, uint64(like[q]))
			}
			next[i] = number(key)
		}
		like, next = next, like
	}
	return like
}

// write writes structure n, unless the text is long enough.
func (d *description) write(n int) {
	s := d.all[n]
	if around, within := d.around[n]; within {
		fmt.Fprintf(&d.text, "#%d", around)
		return
	}
	if d.text.Len() > describedBytes {
		return
	}
	d.around[n] = len(d.around)
	defer delete(d.around, n)
	switch {
	case len(s.inner) == 0:
		d.text.WriteString(s.label)
	case s.kind == reflect.Map:
		d.text.WriteString("map[")
		d.write(s.inner[0])
		d.text.WriteString("]")
		d.write(s.inner[1])
	case s.kind == reflect.Struct:
		before := "struct{"
		for i, f := range s.fields {
			d.text.WriteString(before + s.typ.Field(f.index).Name + " ")
			d.write(s.inner[i])
			before = "; "
		}
		d.text.WriteString("}")
	default:
		d.text.WriteString(s.label)
		d.write(s.inner[0])
	}
}

// label returns what p is, apart from its inner parts.
func (p *part) label() string {
	switch {
	case p.own:
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

// each calls f for each of p's elements or fields.
func (p *part) each(f func(*part)) {
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

// wideHandle reports whether p is a handle as a number of fixed size.
func (p *part) wideHandle() bool {
	return p.fixed != nil && p.kind == reflect.Uint64 && p.typ.Implements(wordType)
}
