package codec

import "reflect"

// Content is the codec of t without lengths of values, and its description.
func Content(t reflect.Type) (Codec, Description, error) { return plan(t, false) }

// InVersion1 returns what version 1 wrote about the type that d describes, if that is written by
// its parts.
func InVersion1(d Description) Description {
	return Description{Encoding: unsized, Name: d.Name, Parts: d.was}
}
