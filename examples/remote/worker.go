package main

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/tools/go/gcexportdata"

	"coatcheck/examples/internal/jobs"
)

// A worker asks with its inbox as the reply subject. Orders go there. The reply subject of an
// order ends with two handles: of the worker, and of the call.
const (
	askSubject    = "jobs.ask"
	answerSubject = "jobs.answer."
	askEvery      = time.Second // while there is no order
)

// order is what a worker shall check.
type order struct {
	Path     string
	Arch     string            // the processor whose sizes types have
	Files    []string          // their names
	Sources  [][]byte          // what is in them
	Packages map[string][]byte // export data of imported packages, unless sent before
	Imports  map[string]string // import paths, by the path in the files
}

// answer is what a worker found.
type answer struct {
	Error  string // the package's own: another worker would find the same
	Export []byte
	Digest string
	Took   time.Duration
}

// encode compresses, since servers limit messages: to 1 MiB by default.
func encode(v any) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err := errors.Join(gob.NewEncoder(z).Encode(v), z.Close()); err != nil {
		panic(err) // it has more than 1 GiB
	}
	return b.Bytes()
}

func decode(data []byte, v any) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return gob.NewDecoder(z).Decode(v)
}

// connect connects, and for a minute or two tries it again after an interruption.
func connect(url string, options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect(url, append(options, nats.ReconnectWait(100*time.Millisecond), nats.MaxReconnects(600))...)
}

// worker does what it is ordered. It reads no files: an order has the sources of a package, and
// the export data of what it imports.
type worker struct {
	nc       *nats.Conn
	publish  func(reply string, answer []byte) error // nc.Publish, but in tests
	fset     *token.FileSet
	packages jobs.Imports // by import path
}

// newWorker makes a worker whose connection has the name of its inbox.
func newWorker(url string) (*worker, error) {
	nc, err := connect(url, nats.Name(nats.NewInbox()))
	if err != nil {
		return nil, err
	}
	return &worker{nc, nc.Publish, token.NewFileSet(), jobs.Imports{}}, nil
}

// work returns an error when there has been no coordinator for the time of patience.
func (w *worker) work(patience time.Duration) error {
	inbox := w.nc.Opts.Name
	sub, err := w.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	for heard := time.Now(); time.Since(heard) < patience; {
		if err := w.nc.PublishRequest(askSubject, inbox, nil); err != nil {
			return err
		}
		m, err := sub.NextMsg(askEvery)
		if errors.Is(err, nats.ErrNoResponders) { // there is no coordinator
			time.Sleep(askEvery / 10)
			continue
		}
		if err == nil {
			a, wrong := w.check(m.Data)
			if wrong != nil {
				a.Error = wrong.Error()
			}
			err = w.publish(m.Reply, encode(a))
		}
		if err != nil && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
		heard = time.Now()
	}
	return fmt.Errorf("no coordinator for %v", patience)
}

// check type-checks the package of an order.
func (w *worker) check(data []byte) (a answer, err error) {
	begun := time.Now()
	var o order
	if err := decode(data, &o); err != nil {
		return a, err
	}
	for path, export := range o.Packages {
		if _, err := gcexportdata.Read(bytes.NewReader(export), w.fset, w.packages, path); err != nil {
			return a, err
		}
	}
	imports := make(jobs.Imports, len(o.Imports))
	for spelt, path := range o.Imports {
		imports[spelt] = w.packages[path]
	}
	files := make([]*ast.File, len(o.Files))
	for i, name := range o.Files {
		if files[i], err = jobs.ParseFile(w.fset, o.Path, name, o.Sources[i]); err != nil {
			return a, err
		}
	}
	p, err := jobs.CheckFiles(w.fset, o.Path, o.Arch, files, imports)
	if err != nil {
		return a, err
	}
	var export bytes.Buffer
	err = gcexportdata.Write(&export, w.fset, p)
	return answer{Export: export.Bytes(), Digest: jobs.Digest(p), Took: time.Since(begun)}, err
}
