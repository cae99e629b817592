package snapshot

import "io"

// Ends reports whether err, of io.ReadFull, says that the input has ended. An error that wraps one of these is
// the reader's own: a connection that broke, say, which tells nothing about the snapshot.
func Ends(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// Full is an error that says that a snapshot has more values than a Capacity allows. Unlike pool.ErrFull, which any
// function of the user may return, it is ReadFrom's if that returns it, but for the name (Bare).
type Full struct{ Err error }

func (f Full) Error() string { return f.Err.Error() }
func (f Full) Unwrap() error { return f.Err }
