package pool

// Encode returns the encoding of v in a snapshot.
func Encode[T any](v T) ([]byte, error) {
	c, _, err := codecOf[T]()
	if err != nil {
		return nil, err
	}
	return c.append(nil, &v)
}

// Decode reads back what Encode returned, and returns the rest of b.
func Decode[T any](b []byte) (v T, rest []byte, err error) {
	c, _, err := codecOf[T]()
	if err != nil {
		return v, b, err
	}
	rest, err = c.decode(b, &v)
	return v, rest, err
}

// Description returns what the header of a snapshot says about T.
func Description[T any]() (string, error) {
	_, h, err := codecOf[T]()
	return h.layout, err
}
