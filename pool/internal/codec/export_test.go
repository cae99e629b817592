package codec

import "reflect"

// Content is the codec of t without lengths of values, and its description.
func Content(t reflect.Type) (Codec, Description, error) {
	p, err := planOf(t, false)
	if err != nil {
		return nil, p.Description, err
	}
	return p.content(), p.Description, nil
}
