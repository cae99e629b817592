package snapshot

import "io"

// Write writes b to w. A writer that takes less without an error is an error.
func Write(w io.Writer, b []byte) (n int, err error) {
	n, err = w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Ends reports whether err, of io.ReadFull, says that the input has ended. An error that wraps one of these is
// the reader's own: a connection that broke, say, which tells nothing about the snapshot.
func Ends(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
