// Package jobs is the parallel job system of examples/jobs, which examples/remote uses as well.
// The scheduler is in node.go, sched.go and worker.go; graph.go makes the graph of
// packages, and check.go type-checks them. main.go begins both programs.
package jobs

import (
	"context"
	"fmt"

	"coatcheck/pool"

	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"
)

// The scheduler runs a graph of jobs on a fixed number of workers.
//
//	begin ─▶ package job ──── open ────▶ parse tasks ──── finish ────▶ removed
//	             ▲        once no import  one a file,   once no file     │
//	             │        is unchecked    any worker    is unparsed      │
//	             └───────── one less for each that imports it ───────────┘
//
// Jobs and tasks are nodes in the pool, and they name each other by handles. A node
// counts what its job waits for. The worker that finishes the last import, or the last file,
// makes the job ready. There is no other coordination: no lock is held while
// a job runs, and no worker waits for a particular other one.
//
// Ready jobs are in a channel. It has room for all jobs and tasks, a word each, so that no
// worker waits to send. The worker that finishes the last package closes it. An error or a
// cancelled context ends a run early; running jobs finish. A panic ends the program.

// Work is the work of the jobs. The scheduler calls Check once for u, after every Parse of u
// and every Check of u's imports has returned, and what these wrote is visible to it.
// Calls for different files and packages may be concurrent.
type Work interface {
	Parse(u *Unit, file int) error
	Check(ctx context.Context, u *Unit) error
}

// Outcome is the counts of a run.
type Outcome struct {
	Inserted  int
	Removed   int
	Elsewhere int // of those removed: inserted by another worker
	Reuses    int // of those inserted: into a slot that had held a node before
	Allocated int // slots that have memory at the end
}

// scheduler is the state that the workers of one run share.
type scheduler struct {
	work  Work
	nodes *pool.Pool[node]
	ready chan handle // packages to open or to check, files to parse

	// left counts the package jobs that are not done.
	//
	//	writers  begin; then the workers that finish a package
	//	readers  the same: the worker that decrements it to zero closes ready
	//	moves    number of packages → 0, by ones
	//	orders   nothing: the closing does
	left atomic.Int32
}

// firstGeneration is that of a slot which was never used.
const firstGeneration = 1

// Schedule runs the jobs of all units and returns once every worker has left. An error of
// a job stops the run, and so does the end of ctx. A run without an error has done every
// job, and has found its pool empty at the end.
func Schedule(ctx context.Context, units []*Unit, workers int, jobs Work) (Outcome, error) {
	nodes, err := pool.New(&pool.Options[node]{Origin: firstGeneration})
	if err != nil {
		return Outcome{}, err
	}
	most := len(units)
	for _, u := range units {
		most += len(u.Files)
	}
	s := &scheduler{work: jobs, nodes: nodes, ready: make(chan handle, most)}
	crew := make([]*worker, workers)
	for i := range crew {
		crew[i] = &worker{scheduler: s, number: i, slots: nodes.Worker()}
	}
	err = crew[0].begin(units)
	if err == nil {
		group, ctx := errgroup.WithContext(ctx)
		for _, w := range crew {
			group.Go(func() error { return w.loop(ctx) })
		}
		err = group.Wait()
	}
	var out Outcome
	for _, w := range crew {
		w.slots.Close()
		out.Inserted += w.did.Inserted
		out.Removed += w.did.Removed
		out.Elsewhere += w.did.Elsewhere
		out.Reuses += w.did.Reuses
	}
	if err == nil {
		err = s.settle(ctx)
	}
	out.Allocated = nodes.Stats().Allocated
	return out, err
}

// settle checks that the run left nothing in the pool, after the last removed slots are
// reclaimed.
func (s *scheduler) settle(ctx context.Context) error {
	if err := s.nodes.Synchronize(ctx); err != nil {
		return err
	}
	if stats := s.nodes.Stats(); stats.Live != 0 || stats.Limbo != 0 {
		return fmt.Errorf("the pool is not empty at the end: %d nodes live, %d slots in limbo", stats.Live, stats.Limbo)
	}
	return nil
}
