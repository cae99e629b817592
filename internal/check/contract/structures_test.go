package contract_test

import (
	"context"
	"expvar"
	"fmt"
	"io"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/cgohandle"
	"coatcheck/pool/command"
	"coatcheck/pool/dense"
	"coatcheck/pool/pending"
	"coatcheck/pool/poolhttp"
	"coatcheck/pool/table"
	"coatcheck/pool/tree"
)

// isUintptr compiles for types whose numbers are uintptr.
func isUintptr[H ~uintptr]() {}

// isInt compiles for types whose numbers are int.
func isInt[I ~int]() {}

// Package cgohandle.
var (
	_                                    = isUintptr[cgohandle.Handle]
	_ func(any) cgohandle.Handle         = cgohandle.New
	_ func(cgohandle.Handle) any         = cgohandle.Handle.Value
	_ func(cgohandle.Handle) (any, bool) = cgohandle.Handle.Lookup
	_ func(cgohandle.Handle)             = cgohandle.Handle.Delete
	_ func(any) cgohandle.Handle         = cgohandle.NewHandle // New, by the name that runtime/cgo has for it
	_ func() int64                       = cgohandle.Trim

	_ func() *cgohandle.Table[T]                   = cgohandle.NewTable[T]
	_ func(*cgohandle.Table[T], T) uintptr         = (*cgohandle.Table[T]).New
	_ func(*cgohandle.Table[T], uintptr) T         = (*cgohandle.Table[T]).Value
	_ func(*cgohandle.Table[T], uintptr) (T, bool) = (*cgohandle.Table[T]).Lookup
	_ func(*cgohandle.Table[T], uintptr)           = (*cgohandle.Table[T]).Delete
	_ func(*cgohandle.Table[T]) int                = (*cgohandle.Table[T]).Len
)

// Package poolhttp.
var (
	_ func(string, *pool.Pool[T]) = poolhttp.Register[T]
	_ func() http.Handler         = poolhttp.Handler
	_                             = expvar.Func(poolhttp.Vars)
)

// Package dense.
var (
	_ = dense.Options[T]{Capacity: 1, Origin: 1, Unordered: true, OnDestroy: func(handle, *T) {}}

	storeOptions dense.Options[T]
	_            *int              = &storeOptions.Capacity
	_            *uint32           = &storeOptions.Origin
	_            *bool             = &storeOptions.Unordered
	_            *func(handle, *T) = &storeOptions.OnDestroy

	_ func(*dense.Options[T]) (*dense.Store[T], error) = dense.New[T]
	_ func(*dense.Options[T]) *dense.Store[T]          = dense.Must[T]

	_ func(*dense.Store[T], T) (handle, error)       = (*dense.Store[T]).Create
	_ func(*dense.Store[T], handle) bool             = (*dense.Store[T]).Kill
	_ func(*dense.Store[T], handle) bool             = (*dense.Store[T]).Alive
	_ func(*dense.Store[T], handle) dense.State      = (*dense.Store[T]).State
	_ func(*dense.Store[T], handle) (*T, bool)       = (*dense.Store[T]).Get
	_ func(*dense.Store[T]) (created, destroyed int) = (*dense.Store[T]).Refresh
	_ func(*dense.Store[T]) []T                      = (*dense.Store[T]).Values
	_ func(*dense.Store[T]) []handle                 = (*dense.Store[T]).Handles
	_ func(*dense.Store[T]) iter.Seq2[handle, *T]    = (*dense.Store[T]).All
	_ func(*dense.Store[T], int)                     = (*dense.Store[T]).Reserve
	_ func(*dense.Store[T])                          = (*dense.Store[T]).Clear
	_ func(*dense.Store[T]) int                      = (*dense.Store[T]).Len
	_ func(*dense.Store[T]) int                      = (*dense.Store[T]).Cap
	_ func(*dense.Store[T]) int64                    = (*dense.Store[T]).Trim
	_ func(*dense.Store[T], func(a, b *T) int)       = (*dense.Store[T]).SortFunc
	_ func(*dense.Store[T], handle) dense.Ptr[T]     = (*dense.Store[T]).Ptr

	_ = [...]dense.State{dense.Alive, dense.Dead, dense.Unused}

	_ func(dense.Ptr[T]) (*T, bool) = dense.Ptr[T].Get
	_ func(dense.Ptr[T]) bool       = dense.Ptr[T].Alive
	_ func(dense.Ptr[T]) bool       = dense.Ptr[T].Kill

	_ func(*dense.Store[T], io.Writer) (int64, error)             = (*dense.Store[T]).WriteTo
	_ func(io.Reader, *dense.Options[T]) (*dense.Store[T], error) = dense.ReadFrom[T]
	_ io.WriterTo                                                 = (*dense.Store[T])(nil)
)

// Package table.
var (
	_                           = isUint8[table.Layout]
	_                           = [...]table.Layout{table.SoA, table.AoS}
	_ func(table.Layout) string = table.Layout.String
	_ fmt.Stringer              = table.SoA

	_ func(table.Layout) (*table.Table[string, T], error)                            = table.New[string, T]
	_ func(*pool.Pool[int], table.Layout) (*table.Table[pool.Handle[int], T], error) = table.ForHandles[int, T]

	_                        = isInt[table.Index]
	_                        = [...]table.Index{table.None}
	_ func(table.Index) bool = table.Index.IsSet

	_ func(*table.Table[string, T], string, T) table.Index                = (*table.Table[string, T]).Add
	_ func(*table.Table[string, T], []string, []T) bool                   = (*table.Table[string, T]).AddBatch
	_ func(*table.Table[string, T], string) table.Index                   = (*table.Table[string, T]).Remove
	_ func(*table.Table[string, T], table.Index) table.Index              = (*table.Table[string, T]).RemoveAt
	_ func(*table.Table[string, T], func(k string, from, to table.Index)) = (*table.Table[string, T]).OnMove
	_ func(*table.Table[string, T], string) table.Index                   = (*table.Table[string, T]).Lookup
	_ func(*table.Table[string, T], table.Index) (string, error)          = (*table.Table[string, T]).KeyAt
	_ func(*table.Table[string, T], string) (T, error)                    = (*table.Table[string, T]).Copy
	_ func(*table.Table[string, T], table.Index) (T, error)               = (*table.Table[string, T]).CopyAt
	_ func(*table.Table[string, T], string, T) bool                       = (*table.Table[string, T]).Set
	_ func(*table.Table[string, T], table.Index, T) bool                  = (*table.Table[string, T]).SetAt
	_ func(*table.Table[string, T]) []string                              = (*table.Table[string, T]).Keys
	_ func(*table.Table[string, T]) int                                   = (*table.Table[string, T]).Len
	_ func(*table.Table[string, T]) int                                   = (*table.Table[string, T]).Allocated
	_ func(*table.Table[string, T]) int                                   = (*table.Table[string, T]).Pages
	_ func(*table.Table[string, T]) table.Layout                          = (*table.Table[string, T]).Layout
	_ func(*table.Table[string, T], int)                                  = (*table.Table[string, T]).Reserve
	_ func(*table.Table[string, T]) iter.Seq2[string, T]                  = (*table.Table[string, T]).All
	_ func(*table.Table[string, T])                                       = (*table.Table[string, T]).Clear
	_ func(*table.Table[string, T]) int64                                 = (*table.Table[string, T]).Trim

	_ func(*table.Table[string, T], io.Writer) (int64, error) = (*table.Table[string, T]).WriteTo
	_ func(*table.Table[string, T], io.Reader) (int64, error) = (*table.Table[string, T]).ReadFrom
	_ io.WriterTo                                             = (*table.Table[string, T])(nil)
	_ io.ReaderFrom                                           = (*table.Table[string, T])(nil)

	_ func(*table.Table[string, T], func(*T) *float64) table.View[float64] = table.Column[float64, string, T]

	_ func(table.View[int]) int                           = table.View[int].Len
	_ func(table.View[int], table.Index) *int             = table.View[int].At
	_ func(table.View[int]) iter.Seq2[table.Index, *int]  = table.View[int].All
	_ func(table.View[int], []table.Index, []*int) []*int = table.View[int].Batch
	_ func(table.View[int]) ([]int, bool)                 = table.View[int].Slice
)

// Package tree.
type node struct{ Links tree.Links[node] }

type name = pool.Handle[node]

var (
	_ func(*pool.Pool[node], func(*node) *tree.Links[node]) *tree.Forest[node] = tree.New[node]

	_ func(f *tree.Forest[node], parent, child name) error = (*tree.Forest[node]).Append
	_ func(f *tree.Forest[node], parent, child name) error = (*tree.Forest[node]).Prepend
	_ func(f *tree.Forest[node], sibling, h name) error    = (*tree.Forest[node]).InsertAfter
	_ func(f *tree.Forest[node], sibling, h name) error    = (*tree.Forest[node]).InsertBefore
	_ func(f *tree.Forest[node], h, newParent name) error  = (*tree.Forest[node]).Move
	_ func(*tree.Forest[node], name) error                 = (*tree.Forest[node]).Detach

	_ func(*tree.Forest[node], name) error                  = (*tree.Forest[node]).RemoveLeaf
	_ func(*tree.Forest[node], name) (name, bool)           = (*tree.Forest[node]).FirstChild
	_ func(*tree.Forest[node], name) (name, bool)           = (*tree.Forest[node]).LastChild
	_ func(*tree.Forest[node], name) (name, bool)           = (*tree.Forest[node]).Next
	_ func(*tree.Forest[node], name) (name, bool)           = (*tree.Forest[node]).Prev
	_ func(*tree.Forest[node], name) (name, bool)           = (*tree.Forest[node]).Parent
	_ func(*tree.Forest[node], name) iter.Seq2[name, *node] = (*tree.Forest[node]).Children
	_ func(*tree.Forest[node], name) iter.Seq2[name, *node] = (*tree.Forest[node]).Descendants
	_ func(*tree.Forest[node], name) iter.Seq2[name, *node] = (*tree.Forest[node]).Ancestors
	_ func(*tree.Forest[node], name) int                    = (*tree.Forest[node]).Depth
	_ func(*tree.Forest[node], name) int                    = (*tree.Forest[node]).Remove
	_ func(*tree.Forest[node]) int                          = (*tree.Forest[node]).Repair
	_ func(*tree.Forest[node]) tree.Reader[node]            = (*tree.Forest[node]).Pin
	_ func(*tree.Forest[node]) tree.Reader[node]            = (*tree.Forest[node]).Phase

	_ func(*tree.Reader[node], name) (name, bool)           = (*tree.Reader[node]).FirstChild
	_ func(*tree.Reader[node], name) (name, bool)           = (*tree.Reader[node]).LastChild
	_ func(*tree.Reader[node], name) (name, bool)           = (*tree.Reader[node]).Next
	_ func(*tree.Reader[node], name) (name, bool)           = (*tree.Reader[node]).Prev
	_ func(*tree.Reader[node], name) (name, bool)           = (*tree.Reader[node]).Parent
	_ func(*tree.Reader[node], name) iter.Seq2[name, *node] = (*tree.Reader[node]).Children
	_ func(*tree.Reader[node], name) iter.Seq2[name, *node] = (*tree.Reader[node]).Descendants
	_ func(*tree.Reader[node], name) iter.Seq2[name, *node] = (*tree.Reader[node]).PostOrder
	_ func(*tree.Reader[node], name) iter.Seq2[name, *node] = (*tree.Reader[node]).Ancestors
	_ func(*tree.Reader[node]) iter.Seq2[name, *node]       = (*tree.Reader[node]).Roots
	_ func(*tree.Reader[node], name) int                    = (*tree.Reader[node]).Depth
	_ func(*tree.Reader[node])                              = (*tree.Reader[node]).Unpin

	_ = []*error{&tree.ErrCycle, &tree.ErrStale, &tree.ErrHasParent, &tree.ErrHasChildren, &tree.ErrBroken}
)

// Package command.
var (
	_ func(*pool.Pool[T]) *command.Buffer[T]                 = command.New[T]
	_ func(*command.Buffer[T], T) (handle, error)            = (*command.Buffer[T]).Insert
	_ func(*command.Buffer[T], handle)                       = (*command.Buffer[T]).Remove
	_ func(*command.Buffer[T]) (inserted, removed int)       = (*command.Buffer[T]).Apply
	_ func(bs ...*command.Buffer[T]) (inserted, removed int) = command.Apply[T]
	_ func(*command.Buffer[T]) int                           = (*command.Buffer[T]).Discard
	_ func(*command.Buffer[T]) int                           = (*command.Buffer[T]).Len
	_ func(*command.Buffer[T]) iter.Seq2[handle, *T]         = (*command.Buffer[T]).Insertions
)

// Package pending.
var (
	_ = pending.Options{Capacity: 1}

	callOptions pending.Options
	_           *int = &callOptions.Capacity

	_ func(*pending.Options) *pending.Calls[T]                          = pending.New[T]
	_ func(*pending.Calls[T]) (pending.Call[T], error)                  = (*pending.Calls[T]).Start
	_ func(*pending.Calls[T], context.Context) (pending.Call[T], error) = (*pending.Calls[T]).StartWait
	_ func(*pending.Calls[T], uint64, T) bool                           = (*pending.Calls[T]).Deliver
	_ func(*pending.Calls[T], uint64, error) bool                       = (*pending.Calls[T]).Fail
	_ func(*pending.Calls[T], error) int                                = (*pending.Calls[T]).FailAll
	_ func(*pending.Calls[T], error)                                    = (*pending.Calls[T]).Close
	_ func(*pending.Calls[T]) int                                       = (*pending.Calls[T]).Len

	_ func(pending.Call[T]) <-chan struct{}             = pending.Call[T].Done
	_ func(pending.Call[T]) uint64                      = pending.Call[T].ID
	_ func(pending.Call[T], context.Context) (T, error) = pending.Call[T].Wait
	_ func(pending.Call[T], time.Duration) (T, error)   = pending.Call[T].WaitTimeout
	_ func(pending.Call[T]) bool                        = pending.Call[T].Cancel
)

// Programs compile without the types of the parameters: the compiler must find them, in their order.
func TestTypesAreInferred(t *testing.T) {
	p, err := pool.New(&pool.Options[int]{})
	require.NoError(t, err)
	byHandle, err := table.ForHandles[int, T](p, table.AoS)
	require.NoError(t, err)
	require.Zero(t, table.Column(byHandle, func(r *T) *float64 { return &r.X }).Len())
	require.Equal(t, table.Index(-1), table.None)
	require.Equal(t, [2]table.Layout{0, 1}, [2]table.Layout{table.SoA, table.AoS})

	inserted, removed := command.Apply(command.New(p), command.New(p))
	require.Zero(t, inserted+removed)
	require.Zero(t, tree.New(pool.Must[node](nil), func(n *node) *tree.Links[node] { return &n.Links }).Repair())
	require.NotNil(t, dense.Must(&dense.Options[int]{}))
	poolhttp.Register("contract", p)
}
