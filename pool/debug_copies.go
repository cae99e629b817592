//go:build coatcheck_debug && !interleave

package pool

import (
	"log"
	"reflect"
	"sync"

	"coatcheck/pool/internal/trace"
)

// copied has the types of values that warnOfCopy has met.
var copied sync.Map

// warnOfCopy logs, once for each type, that the caller copies values with a field that others
// change in place: a lock or an atomic. Vet reports the copies of such a field, but not where the
// value has type T.
func warnOfCopy[T any]() {
	t := reflect.TypeFor[T]()
	if _, known := copied.LoadOrStore(t, nil); known {
		return
	}
	if part := changing(t, t.String()); part != "" {
		log.Printf("pool: Get, MustGet and Take copy a value without synchronization, but %s. "+
			"Use View, a Guard or Hold, or keep pointers in the pool. Only the first call is logged for each type:%s", part, trace.Caller())
	}
}

// changing returns the first part of type t that has a Lock method or is an atomic, and "" if there
// is none. name is the part's name.
func changing(t reflect.Type, name string) string {
	_, locks := reflect.PointerTo(t).MethodByName("Lock")
	_, refers := t.MethodByName("Lock") // such as an embedded *sync.Mutex, which a copy shares
	switch {
	case locks && !refers && t.PkgPath() != "sync/atomic":
		return name + " (" + t.String() + ") has a Lock method"
	case t.PkgPath() == "sync/atomic":
		return name + " (" + t.String() + ") is an atomic"
	case t.Kind() == reflect.Array && t.Len() > 0:
		return changing(t.Elem(), name+"[0]")
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if part := changing(f.Type, name+"."+f.Name); part != "" {
				return part
			}
		}
	}
	return ""
}
