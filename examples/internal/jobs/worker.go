package jobs

import (
	"context"
	"fmt"

	"coatcheck/pool"
)

// worker runs jobs, one after another. Its slots and its counts are its own, so workers do
// not share cache lines for them; the counts are added up at the end.
type worker struct {
	*scheduler
	number int
	slots  *pool.Worker[node]
	did    Outcome // read once the worker has left
}

// begin inserts a job for each package, links it to the jobs that wait for it, and makes
// the jobs ready that wait for nothing. It runs before any worker does, so the plain
// fields of a node need no lock.
func (w *worker) begin(units []*Unit) error {
	jobs := make([]handle, len(units))
	for i, u := range units {
		h, err := w.insert(task{unit: u}, len(u.Imports)+len(u.Files))
		if err != nil {
			return err
		}
		jobs[i] = h
	}
	w.left.Store(int32(len(units)))

	for i, u := range units {
		if len(u.Imports) == 0 {
			w.ready <- jobs[i]
		}
		for _, imported := range u.Imports {
			// A plain append to a node that has a handle is right only because no other
			// goroutine has the handle yet.
			h := jobs[imported.Index]
			n, ok := w.nodes.Pointer(h)
			if !ok {
				return lost(h)
			}
			n.dependents = append(n.dependents, jobs[i])
		}
	}
	return nil
}

// loop runs ready jobs until there are none, or one fails.
func (w *worker) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case h, ok := <-w.ready:
			if !ok {
				return nil
			}
			if err := w.run(ctx, h); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// run does what a job or a task is ready for. Until it hands the job on, no other worker removes it.
func (w *worker) run(ctx context.Context, h handle) error {
	n, ok := w.nodes.Pointer(h)
	switch {
	case !ok:
		return lost(h)
	case !n.parent.IsZero():
		return w.parse(h, n)
	case n.waits.Load() > 0:
		return w.open(h, n.unit)
	}
	return w.finish(ctx, h, n.unit)
}

// open hands out the files of a package, whose imports are all checked, as parse tasks.
func (w *worker) open(job handle, u *Unit) error {
	tasks := make([]handle, len(u.Files))
	for i := range u.Files {
		h, err := w.insert(task{unit: u, file: i, parent: job}, 0)
		if err != nil {
			return err
		}
		tasks[i] = h
	}
	// After the last insertion: once the last of them is sent, the package may be checked and
	// its job removed.
	for _, h := range tasks {
		w.ready <- h
	}
	return nil
}

// parse runs a parse task and removes it.
func (w *worker) parse(h handle, n *node) error {
	if err := w.work.Parse(n.unit, n.file); err != nil {
		return err
	}
	done, err := w.take(h)
	if err != nil {
		return err
	}
	return w.countDown(done.parent)
}

// finish checks a parsed package, and removes its job. The jobs that waited for it wait for
// one less.
func (w *worker) finish(ctx context.Context, job handle, u *Unit) error {
	if err := w.work.Check(ctx, u); err != nil {
		return err
	}
	n, err := w.take(job)
	if err != nil {
		return err
	}
	if w.left.Dec() == 0 {
		close(w.ready)
	}
	for _, h := range n.dependents {
		if err := w.countDown(h); err != nil {
			return err
		}
	}
	return nil
}

// countDown counts one less that a package job waits for. If that was the last of its imports,
// or of its files, the job is ready.
func (w *worker) countDown(job handle) error {
	n, ok := w.nodes.Pointer(job)
	if !ok {
		return lost(job)
	}
	files := len(n.unit.Files) // not after Dec: then others may run the job, and remove it
	// Publishes what was done; the last observes what all others did.
	if left := int(n.waits.Dec()); left == 0 || left == files {
		w.ready <- job
	}
	return nil
}

// insert inserts a node for a task, built in place.
func (w *worker) insert(t task, waits int) (handle, error) {
	t.insertedBy = w.number
	h, err := w.slots.InsertFunc(func(_ handle, n *node) {
		n.task = t
		n.waits.Store(int32(waits))
	})
	if err != nil {
		return h, fmt.Errorf("inserting a job: %w", err)
	}
	w.did.Inserted++
	if h.Generation() != firstGeneration {
		w.did.Reuses++
	}
	return h, nil
}

// take removes a node and moves it out. No other worker uses it: its files are parsed,
// its imports checked, and one worker finishes it.
func (w *worker) take(h handle) (node, error) {
	n, ok := w.slots.Take(h)
	if !ok {
		return n, lost(h)
	}
	w.did.Removed++
	if n.insertedBy != w.number {
		w.did.Elsewhere++
	}
	return n, nil
}

// lost is the error for a handle that the pool refuses. Each job is removed once, by its
// last user, so it means a bug here or in the pool.
func lost(h handle) error {
	return fmt.Errorf("job %v is gone before it was done", h)
}
