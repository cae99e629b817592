// Package pointers tells which types the garbage collector scans.
package pointers

import "reflect"

// In reports whether values of type t contain pointers.
func In(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return t.Len() > 0 && In(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if In(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return k > reflect.Complex128 // all kinds up to it are numbers
	}
}
