// Package coatvet has analyzers that find misuse of coatcheck/pool in the source of a program, beside
// those of go vet. The command coatvet runs them (cmd/coatvet):
//
//	go vet -vettool=$(which coatvet) ./...
//
// Each message begins with the name of a check, and ends with the cure:
//
//	coatlost    a Guard, Ref, Reservation or tree.Reader that is not ended on each path, that nothing
//	            in the package ends, or that is dropped; a Reservation that is never committed
//	coatstale   a pointer into a pool after Unpin, Release, Commit, Cancel, Remove, Take or the end
//	            of a loop over All; one that is returned or left in a field although its protection
//	            ends; a resource after its end; a Get of what Options.Reset keeps for the next value;
//	            a finalizer, cleanup or weak pointer of a value in a pool
//	coatblock   a channel, time.Sleep, a Wait, the network, a database, InsertWait or Synchronize
//	            under a Guard, in a loop over All, in View or in DeleteFunc
//	coatcopy    Get, MustGet, Take and Drain of values with a lock or an atomic; a write to a copy
//	            that nobody reads
//	coathandle  type X pool.Handle[T], which loses the methods; a Pool, Worker, Ref or Reservation
//	            by value
//	coatshared  a Worker that several goroutines use
//	coatview    a pointer that leaves the function of View, Each or DeleteFunc; a value that is live
//	            before it has its own handle
//	coaterror   an insertion into a pool with a Capacity or MaxLimbo whose error is ignored, outside
//	            of tests
//	coatignore  a comment //coatvet:ignore without a reason
//
// A comment //coatvet:ignore and a reason, at the end of a line or above it, says that the line is
// right. A flag such as -coatblock=false leaves a check out.
//
// # What it follows
//
// Local variables are followed through each path of their function. Where a resource is kept in a field,
// a slice, a map or a channel, or where a function literal ends it, coatvet asks only whether the
// package has code that ends what is kept there. Functions that return a resource they opened, end one
// that they get, or only use it are known across packages. Deferred calls count as ends, and so do
// t.Cleanup and other functions that get a method such as g.Unpin.
//
// # What it does not see
//
// It tells a mistake only if it is sure enough, so it misses some. In particular:
//
//   - One of many: if a slice or a field has several Guards and the package ends some, it does not count.
//   - Exported fields and variables, which other packages may end, and resources that go into an
//     interface, or to a function that is not known, such as a value of type func.
//   - Panics: a function that panics between Pin and Unpin leaves the Guard pinned. Use defer.
//   - Pointers that go through a function of the program, a field or a map: after p := same(v), p is
//     not known. A removal in a function that is called is not known either.
//   - Waits in functions that are called. A Mutex is no wait: values in a pool are meant to have one.
//   - Handles of one pool in another, and races between goroutines. The race detector and the build tag
//     coatcheck_debug find those.
//
// Testdata/limits has an example of most. Testdata/missed.txt lists what it misses in this repository,
// where each end of a resource was deleted once.
package coatvet
