package main

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/tools/go/gcexportdata"

	"coatcheck/examples/internal/jobs"
)

// A worker asks with its name, and with its inbox as the reply subject. Orders go there. The
// reply subject of an order ends with two handles: of the worker, and of the call.
const (
	askSubject    = "jobs.ask"
	answerSubject = "jobs.answer."
	askEvery      = time.Second // while there is no order
)

// order is what a worker shall check.
type order struct {
	Path     string
	Arch     string            // the processor whose sizes types have
	Files    []named           // their sources
	Packages []named           // export data of imported packages, unless sent before
	Imports  map[string]string // import paths, by the path in the files
}

type named struct {
	Name string
	Data []byte
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

func newWorker(url, name string) (*worker, error) {
	nc, err := connect(url, nats.Name(name))
	if err != nil {
		return nil, err
	}
	return &worker{nc, nc.Publish, token.NewFileSet(), jobs.Imports{}}, nil
}

// workerName is the name of a worker process and of its connection.
func workerName(pid int) string {
	host, err := os.Hostname()
	return fmt.Sprint(host, err, "/", pid)
}

// work returns an error when there has been no coordinator for the time of patience.
func (w *worker) work(patience time.Duration) error {
	inbox := w.nc.NewInbox()
	sub, err := w.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	for heard := time.Now(); time.Since(heard) < patience; {
		if err := w.nc.PublishRequest(askSubject, inbox, []byte(w.nc.Opts.Name)); err != nil {
			return err
		}
		m, err := sub.NextMsg(askEvery)
		switch {
		case errors.Is(err, nats.ErrNoResponders): // there is no coordinator
			time.Sleep(askEvery / 10)
			continue
		case err == nil:
			err = w.obey(m)
		case errors.Is(err, nats.ErrTimeout):
			err = nil
		}
		if err != nil {
			return err
		}
		heard = time.Now()
	}
	return fmt.Errorf("no coordinator for %v", patience)
}

// obey does what an order says, and answers.
func (w *worker) obey(m *nats.Msg) error {
	begun := time.Now()
	a, err := w.check(m.Data)
	if err != nil {
		a.Error = err.Error()
	}
	a.Took = time.Since(begun)
	return w.publish(m.Reply, encode(a))
}

// check type-checks the package of an order.
func (w *worker) check(data []byte) (a answer, err error) {
	var o order
	if err := decode(data, &o); err != nil {
		return a, err
	}
	for _, p := range o.Packages {
		if _, err := gcexportdata.Read(bytes.NewReader(p.Data), w.fset, w.packages, p.Name); err != nil {
			return a, err
		}
	}
	imports := make(jobs.Imports, len(o.Imports))
	for spelt, path := range o.Imports {
		imports[spelt] = w.packages[path]
	}
	files := make([]*ast.File, len(o.Files))
	for i, f := range o.Files {
		if files[i], err = jobs.ParseFile(w.fset, o.Path, f.Name, f.Data); err != nil {
			return a, err
		}
	}
	p, err := jobs.CheckFiles(w.fset, o.Path, o.Arch, files, imports)
	if err != nil {
		return a, err
	}
	var export bytes.Buffer
	err = gcexportdata.Write(&export, w.fset, p)
	return answer{Export: export.Bytes(), Digest: jobs.Digest(p)}, err
}
