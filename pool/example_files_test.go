package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"coatcheck/pool"
)

// Files that are closed when they were removed and their last reader is done. Readers hold a file by
// a Ref, so one may read on while another goroutine removes it.
//
// Reset is the end of a removed value: it is called once, under no lock, when no guard or Ref has the
// value any more. But no removal, Unpin or Release waits for that, and a pool has no goroutine of its
// own. So both sides ask after their step whether something has ended.
func Example_files() {
	files := newFiles()
	h, err := files.open.Insert(file{name: "segment 1", r: strings.NewReader("sum of all")})
	if err != nil {
		log.Fatal(err)
	}
	err = files.Read(h, func(r io.Reader) error {
		files.Remove(h)
		fmt.Println("removed, and being read")
		_, err := io.ReadAll(r)
		return err
	})
	fmt.Println("read:", err)
	fmt.Println(files.Read(h, nil))
	// Output:
	// removed, and being read
	// closing segment 1
	// read: <nil>
	// there is no such file
}

type file struct {
	name string
	r    io.Reader
}

// Close stands for that of an [os.File].
func (f *file) Close() error {
	_, err := fmt.Println("closing", f.name)
	return err
}

type files struct{ open *pool.Pool[file] }

func newFiles() *files {
	return &files{pool.Must(&pool.Options[file]{Reset: func(f *file) {
		if f.name != "" { // a constructor that failed has opened none
			if err := f.Close(); err != nil {
				log.Print(err) // Reset has nobody to return it to
			}
		}
		*f = file{} // with a Reset, the pool does not zero the slot
	}})}
}

var errNoFile = errors.New("there is no such file")

// Read calls f with the file. It may block, which a guard may not.
func (fs *files) Read(h pool.Handle[file], f func(io.Reader) error) error {
	ref, ok := fs.open.Hold(h)
	if !ok {
		return errNoFile
	}
	defer func() {
		ref.Release()
		fs.ended()
	}()
	return f(ref.Pointer().r)
}

// Remove lets nobody else begin to read the file.
func (fs *files) Remove(h pool.Handle[file]) bool {
	removed := fs.open.Remove(h)
	fs.ended()
	return removed
}

// ended closes what was removed and has no reader any more. It does not wait: its context is done. If
// another call's pin is in the way at this moment, or hundreds of files wait, later calls close them.
func (fs *files) ended() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = fs.open.Synchronize(ctx)
}
