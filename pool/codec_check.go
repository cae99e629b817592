package pool

import (
	"encoding"
	"encoding/gob"
	"fmt"
	"reflect"
)

// method is an interface by which a type encodes itself, and its counterpart.
type method struct {
	to, from         reflect.Type
	toName, fromName string
}

var (
	marshalBinary = method{
		reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.BinaryUnmarshaler](),
		"MarshalBinary", "UnmarshalBinary",
	}
	gobEncode = method{
		reflect.TypeFor[gob.GobEncoder](), reflect.TypeFor[gob.GobDecoder](),
		"GobEncode", "GobDecode",
	}
)

// ownCodec answers whether t or *t has both halves of m. Half of it is an error,
// since such a value could be written and not read, or the other way round.
// Pointers and interfaces answer for what they point to, elsewhere.
func ownCodec(t reflect.Type, m method) (bool, error) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false, nil
	}
	p := reflect.PointerTo(t)
	to, from := p.Implements(m.to), p.Implements(m.from)
	switch {
	case to && !from:
		return false, fmt.Errorf("has %s but no %s", m.toName, m.fromName)
	case from && !to:
		return false, fmt.Errorf("has %s but no %s", m.fromName, m.toName)
	}
	return to, nil
}

// gobCheck walks a type and finds what gob would drop in silence, or refuse only
// when it meets a value. It has the types that it has seen.
type gobCheck map[reflect.Type]bool

// check answers what is wrong with t, which is found at path: "" for the whole
// value, else a field.
func (seen gobCheck) check(t reflect.Type, path string) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	for _, m := range []method{gobEncode, marshalBinary} { // gob asks in this order
		if own, err := ownCodec(t, m); own || err != nil {
			if err != nil {
				return fmt.Errorf("%stype %v %w", at(path), t, err)
			}
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return seen.check(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		return seen.check(t.Elem(), path+"[]")
	case reflect.Map:
		if err := seen.check(t.Key(), path+"[key]"); err != nil {
			return err
		}
		return seen.check(t.Elem(), path+"[]")
	case reflect.Struct:
		return seen.checkFields(t, path)
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Errorf("%sa %v cannot be written", at(path), t.Kind())
	}
	return nil
}

func (seen gobCheck) checkFields(t reflect.Type, path string) error {
	prefix := ""
	if path != "" {
		prefix = path + "."
	}
	fields := 0
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Name == "_":
			continue // nobody can miss it
		case !f.IsExported():
			return fmt.Errorf("field %s%s is unexported, and %v has no MarshalBinary", prefix, f.Name, t)
		}
		if err := seen.check(f.Type, prefix+f.Name); err != nil {
			return err
		}
		fields++
	}
	if fields == 0 {
		return fmt.Errorf("%s%v has no fields, which gob cannot write", at(path), t)
	}
	return nil
}

// at is the beginning of a message about path.
func at(path string) string {
	if path == "" {
		return ""
	}
	return "field " + path + ": "
}
