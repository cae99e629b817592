package jobs

import (
	"context"
	"fmt"

	"coatcheck/pool"
)

// worker runs jobs, one after another. Its slots and its tally are its own, so workers do
// not share cache lines for them; the tallies are added up at the end.
type worker struct {
	*scheduler
	number int
	slots  *pool.Worker[node]
	tally  tally // read once the worker has left
}

// begin inserts a job for each package, links it to the jobs that wait for it, and makes
// the jobs ready that wait for nothing. It runs before any worker does, so the plain
// fields of a node need no lock.
func (w *worker) begin(units []*Unit) error {
	jobs := make([]handle, len(units))
	for i, u := range units {
		h, err := w.insert(func(n *node) {
			n.task = task{kind: packageJob, unit: u}
			n.unmet.Store(int32(len(u.Imports)))
			n.unparsed.Store(int32(len(u.Files)))
		})
		if err != nil {
			return err
		}
		jobs[i] = h
	}
	w.left.Store(int32(len(units)))

	g := w.nodes.Pin()
	defer g.Unpin()
	for i, u := range units {
		if len(u.Imports) == 0 {
			w.ready <- jobs[i]
		}
		for _, imported := range u.Imports {
			// A plain append to a node that has a handle is right only because no other
			// goroutine has the handle yet.
			n, ok := g.Get(jobs[imported.Index])
			if !ok {
				return lost(jobs[imported.Index])
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
			t, err := w.look(h)
			if err != nil {
				return err
			}
			switch t.kind {
			case packageJob:
				err = w.open(ctx, h, t.unit)
			case parseTask:
				err = w.parse(ctx, h, t)
			}
			if err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// open starts a package whose imports are all checked: it hands out its files as parse
// tasks.
func (w *worker) open(ctx context.Context, job handle, u *Unit) error {
	if len(u.Files) == 0 {
		return w.finish(ctx, job, u)
	}
	tasks := make([]handle, len(u.Files))
	for i := range u.Files {
		h, err := w.insert(func(n *node) {
			n.task = task{kind: parseTask, unit: u, file: i, parent: job}
		})
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

// parse runs a parse task and removes it. The worker that parses the last file of a
// package checks the package.
func (w *worker) parse(ctx context.Context, h handle, t task) error {
	if err := w.work.Parse(t.unit, t.file); err != nil {
		return err
	}
	if _, err := w.take(h); err != nil {
		return err
	}
	last, err := w.fileDone(t.parent)
	if err != nil || !last {
		return err
	}
	return w.finish(ctx, t.parent, t.unit)
}

// fileDone counts down the unparsed files of a package job, and reports whether this was
// the last.
func (w *worker) fileDone(job handle) (last bool, err error) {
	g := w.nodes.Pin()
	defer g.Unpin()
	n, ok := g.Get(job)
	if !ok {
		return false, lost(job)
	}
	// Publishes this file's tree; zero observes those of all others.
	return n.unparsed.Dec() == 0, nil
}

// finish checks a parsed package, removes its job and releases the jobs that waited for
// it.
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
	return w.importDone(n.dependents)
}

// importDone counts down the unmet imports of jobs. Those for which this was the last are ready.
func (w *worker) importDone(dependents []handle) error {
	g := w.nodes.Pin()
	defer g.Unpin()
	for _, h := range dependents {
		n, ok := g.Get(h)
		if !ok {
			return lost(h)
		}
		// Publishes the checked package; zero observes the other imports.
		if n.unmet.Dec() == 0 {
			w.ready <- h
		}
	}
	return nil
}

// insert inserts a node, built in place.
func (w *worker) insert(build func(n *node)) (handle, error) {
	h, err := w.slots.InsertFunc(func(_ handle, n *node) {
		build(n)
		n.insertedBy = w.number
	})
	if err != nil {
		return h, fmt.Errorf("inserting a job: %w", err)
	}
	w.tally.Inserted++
	if h.Generation() != firstGeneration {
		w.tally.Reuses++
	}
	return h, nil
}

// look copies a node's task.
func (w *worker) look(h handle) (task, error) {
	g := w.nodes.Pin()
	defer g.Unpin()
	n, ok := g.Get(h)
	if !ok {
		return task{}, lost(h)
	}
	return n.task, nil
}

// take removes a node and moves it out. No other worker uses it: its files are parsed,
// its imports checked, and one worker finishes it.
func (w *worker) take(h handle) (node, error) {
	n, ok := w.slots.Take(h)
	if !ok {
		return n, lost(h)
	}
	w.tally.Removed++
	if n.insertedBy != w.number {
		w.tally.Elsewhere++
	}
	return n, nil
}

// lost is the error for a handle that the pool refuses. Each job is removed once, by its
// last user, so it means a bug here or in the pool.
func lost(h handle) error {
	return fmt.Errorf("job %v is gone before it was done", h)
}
