package snapshot

import "errors"

// named is an error of a snapshot whose text ends with what was written or read, as the texts of
// refusals have it.
type named struct {
	err  error
	name string
}

func (n *named) Unwrap() error { return n.err }
func (n *named) Error() string { return n.err.Error() + "; " + n.name }

// Named returns err, if it is one, with the name of what was written or read. A name that it has from
// the pool that a structure wrote or read in its place goes.
func Named(err error, name string) error {
	if err == nil {
		return nil
	}
	return &named{Bare(err), name}
}

// Bare returns err without a name.
func Bare(err error) error {
	if n := (*named)(nil); errors.As(err, &n) && n == err {
		return n.err
	}
	return err
}
