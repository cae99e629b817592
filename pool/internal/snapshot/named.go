package snapshot

import "errors"

// named is an error of a snapshot. Its text ends with the name of what was written or read, as the texts of
// refusals do.
type named struct {
	err  error
	name string
}

func (n *named) Unwrap() error { return n.err }
func (n *named) Error() string { return n.err.Error() + "; " + n.name }

// Named returns err with the name of what was written or read, or nil if err is nil. If err has the name of a
// pool, which a structure used for its snapshot, the new name replaces it.
func Named(err error, name string) error {
	if err == nil {
		return nil
	}
	return &named{Bare(err), name}
}

// Bare returns err without the name that Named gave it.
func Bare(err error) error {
	if n := (*named)(nil); errors.As(err, &n) && n == err {
		return n.err
	}
	return err
}

// Full is an error that says that a snapshot has more values than a Capacity allows. Unlike pool.ErrFull, which any
// function of the user may return, it is ReadFrom's if that returns it, but for the name (Bare).
type Full struct{ Err error }

func (f Full) Error() string { return f.Err.Error() }
func (f Full) Unwrap() error { return f.Err }
