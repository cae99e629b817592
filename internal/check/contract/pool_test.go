// These files use every name that other programs are compiled against, with its type. So a name that
// goes, or changes its type, does not compile here. What may be added is not here.
//
// A function is assigned to a variable of its type, and a method as a function of its receiver. A
// method of values is that of the value and not of a pointer: both have it then. Fields and error
// variables are pointed to, since a pointer is of one type exactly. Options are literals.
package contract_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/pool"
)

// T is the values' type, and its parts are those of records.
type T struct {
	X float64
	N int
}

// handle is that of a T.
type handle = pool.Handle[T]

// isUint64 compiles for types whose numbers are uint64.
func isUint64[H ~uint64]() {}

// isUint8 compiles for types whose numbers are uint8.
func isUint8[E ~uint8]() {}

// Handle.
var (
	_                                      = isUint64[handle]
	_ func(handle) uint32                  = handle.Index
	_ func(handle) uint32                  = handle.Generation
	_ func(handle) bool                    = handle.IsZero
	_ func(handle) string                  = handle.String
	_ func(handle) ([]byte, error)         = handle.MarshalText
	_ func(*handle, []byte) error          = (*handle).UnmarshalText
	_ func(handle, []byte) ([]byte, error) = handle.AppendText
	_ func(string) (handle, error)         = pool.ParseHandle[T]
	_ func(handle) (driver.Value, error)   = handle.Value
	_ func(*handle, any) error             = (*handle).Scan

	_ fmt.Stringer             = handle(0)
	_ encoding.TextMarshaler   = handle(0)
	_ encoding.TextAppender    = handle(0)
	_ encoding.TextUnmarshaler = (*handle)(nil)
	_ driver.Valuer            = handle(0)
	_ sql.Scanner              = (*handle)(nil)
	_ map[handle]T             // it is comparable
)

// A handle's number converts both ways.
const _ uint64 = uint64(pool.Handle[T](math.MaxUint64))

// Options, and what makes a pool.
var (
	_ = pool.Options[T]{
		Capacity:    1,
		Preallocate: true,
		Reuse:       pool.FIFO,
		MaxLimbo:    1,
		Shards:      1,
		Reset:       func(*T) {},
		Origin:      1,
		TraceGuards: 1,
	}

	options pool.Options[T]
	_                   = []*int{&options.Capacity, &options.MaxLimbo, &options.Shards, &options.TraceGuards}
	_       *bool       = &options.Preallocate
	_       *pool.Reuse = &options.Reuse
	_       *func(*T)   = &options.Reset
	_       *uint32     = &options.Origin

	_ func(*pool.Options[T]) (*pool.Pool[T], error) = pool.New[T]
	_ func(*pool.Options[T]) *pool.Pool[T]          = pool.Must[T]

	_            = isUint8[pool.Reuse]
	_ pool.Reuse = pool.LIFO
	_            = [...]int{pool.LIFO: 0, pool.FIFO: 0}

	// MaxCapacity has no type of its own.
	_ int    = pool.MaxCapacity
	_ uint64 = pool.MaxCapacity
)

const (
	_ = uint(pool.MaxCapacity - min(1<<32-1024, math.MaxInt))
	_ = uint(min(1<<32-1024, math.MaxInt) - pool.MaxCapacity)
)

// Errors.
var _ = []*error{
	&pool.ErrFull, &pool.ErrStalled, &pool.ErrExhausted,
	&pool.ErrCorrupt, &pool.ErrVersion, &pool.ErrType,
}

// Pool.
var (
	_ func(*pool.Pool[T], T) (handle, error)                                          = (*pool.Pool[T]).Insert
	_ func(*pool.Pool[T], func(h handle, v *T)) (handle, error)                       = (*pool.Pool[T]).InsertFunc
	_ func(*pool.Pool[T]) (*pool.Reservation[T], error)                               = (*pool.Pool[T]).Reserve
	_ func(*pool.Pool[T], handle) (T, bool)                                           = (*pool.Pool[T]).Get
	_ func(*pool.Pool[T], handle) T                                                   = (*pool.Pool[T]).MustGet
	_ func(*pool.Pool[T], handle, func(*T)) bool                                      = (*pool.Pool[T]).View
	_ func(*pool.Pool[T], handle) bool                                                = (*pool.Pool[T]).Contains
	_ func(*pool.Pool[T], handle) (*T, bool)                                          = (*pool.Pool[T]).Pointer
	_ func(*pool.Pool[T], handle) bool                                                = (*pool.Pool[T]).Remove
	_ func(*pool.Pool[T], handle) (T, bool)                                           = (*pool.Pool[T]).Take
	_ func(*pool.Pool[T], func(h handle, v *T) error) (handle, error)                 = (*pool.Pool[T]).TryInsertFunc
	_ func(*pool.Pool[T], context.Context, T) (handle, error)                         = (*pool.Pool[T]).InsertWait
	_ func(*pool.Pool[T], context.Context, func(h handle, v *T)) (handle, error)      = (*pool.Pool[T]).InsertFuncWait
	_ func(*pool.Pool[T], context.Context) (*pool.Reservation[T], error)              = (*pool.Pool[T]).ReserveWait
	_ func(*pool.Pool[T], int)                                                        = (*pool.Pool[T]).Grow
	_ func(*pool.Pool[T], []handle) int                                               = (*pool.Pool[T]).RemoveBatch
	_ func(*pool.Pool[T]) pool.Guard[T]                                               = (*pool.Pool[T]).Pin
	_ func(*pool.Pool[T], handle) (*pool.Ref[T], bool)                                = (*pool.Pool[T]).Hold
	_ func(*pool.Pool[T], handle) pool.Ptr[T]                                         = (*pool.Pool[T]).Ptr
	_ func(*pool.Pool[T]) *pool.Worker[T]                                             = (*pool.Pool[T]).Worker
	_ func(*pool.Pool[T]) iter.Seq2[handle, *T]                                       = (*pool.Pool[T]).All
	_ func(*pool.Pool[T], context.Context, int, func(handle, *T) error) error         = (*pool.Pool[T]).Each
	_ func(*pool.Pool[T]) iter.Seq2[handle, T]                                        = (*pool.Pool[T]).Drain
	_ func(*pool.Pool[T], func(handle, *T) bool) int                                  = (*pool.Pool[T]).DeleteFunc
	_ func(*pool.Pool[T]) int                                                         = (*pool.Pool[T]).Clear
	_ func(*pool.Pool[T]) int                                                         = (*pool.Pool[T]).Len
	_ func(*pool.Pool[T]) int                                                         = (*pool.Pool[T]).Cap
	_ func(*pool.Pool[T], context.Context) error                                      = (*pool.Pool[T]).Synchronize
	_ func(*pool.Pool[T]) int64                                                       = (*pool.Pool[T]).Trim
	_ func(*pool.Pool[T]) pool.Stats                                                  = (*pool.Pool[T]).Stats
	_ func(*pool.Pool[T], io.Writer) (int64, error)                                   = (*pool.Pool[T]).WriteTo
	_ func(io.Reader, *pool.Options[T]) (*pool.Pool[T], error)                        = pool.ReadFrom[T]
	_ func(io.Reader, *pool.Options[T], func(*int) (T, error)) (*pool.Pool[T], error) = pool.ReadFromFunc[int, T]

	_ io.WriterTo = (*pool.Pool[T])(nil)
)

// Guard, Ref and Reservation.
var (
	_ func(*pool.Guard[T], handle) (*T, bool)    = (*pool.Guard[T]).Pointer
	_ func(*pool.Guard[T]) iter.Seq2[handle, *T] = (*pool.Guard[T]).All
	_ func(*pool.Guard[T])                       = (*pool.Guard[T]).Unpin

	_ func(*pool.Ref[T]) *T     = (*pool.Ref[T]).Pointer
	_ func(*pool.Ref[T]) handle = (*pool.Ref[T]).Handle
	_ func(*pool.Ref[T])        = (*pool.Ref[T]).Release

	_ func(*pool.Reservation[T]) handle = (*pool.Reservation[T]).Handle
	_ func(*pool.Reservation[T]) *T     = (*pool.Reservation[T]).Pointer
	_ func(*pool.Reservation[T]) handle = (*pool.Reservation[T]).Commit
	_ func(*pool.Reservation[T])        = (*pool.Reservation[T]).Cancel
)

// Ptr has these two fields, in this order, and no other.
var (
	_ = struct {
		Pool   *pool.Pool[T]
		Handle handle
	}(pool.Ptr[T]{})
	_ = pool.Ptr[T]{Pool: nil, Handle: 0}

	_ func(pool.Ptr[T]) bool           = pool.Ptr[T].Live
	_ func(pool.Ptr[T]) (T, bool)      = pool.Ptr[T].Get
	_ func(pool.Ptr[T], func(*T)) bool = pool.Ptr[T].View
	_ func(pool.Ptr[T]) bool           = pool.Ptr[T].Remove
)

// Worker.
var (
	_ func(*pool.Worker[T], T) (handle, error)                    = (*pool.Worker[T]).Insert
	_ func(*pool.Worker[T], func(h handle, v *T)) (handle, error) = (*pool.Worker[T]).InsertFunc
	_ func(*pool.Worker[T], handle) bool                          = (*pool.Worker[T]).Remove
	_ func(*pool.Worker[T], handle) (T, bool)                     = (*pool.Worker[T]).Take
	_ func(*pool.Worker[T], context.Context, T) (handle, error)   = (*pool.Worker[T]).InsertWait
	_ func(*pool.Worker[T])                                       = (*pool.Worker[T]).Flush
	_ func(*pool.Worker[T])                                       = (*pool.Worker[T]).Close
)

// Stats.
var (
	stats pool.Stats
	_     = struct {
		Live, Free, Limbo, Cached, Reserved, Held, Workers, Dropped, Exhausted int

		Worn                float64
		Allocated, Capacity int
		Bytes               int64

		MaxLimbo, RefusedFull, RefusedStalled, RefusedExhausted, Pinned int

		PinAge           time.Duration
		Epoch, OldestPin uint64
	}(stats) // all of them, in this order

	_ func(pool.Stats) slog.Value = pool.Stats.LogValue
	_ slog.LogValuer              = pool.Stats{}
)

// Package epoch.
var (
	_ func() *epoch.Domain                       = epoch.New
	_ func(*epoch.Domain) epoch.Guard            = (*epoch.Domain).Pin
	_ func(*epoch.Guard)                         = (*epoch.Guard).Unpin
	_ func(*epoch.Domain) uint64                 = (*epoch.Domain).Epoch
	_ func(*epoch.Domain, context.Context) error = (*epoch.Domain).Synchronize
)

// Programs keep these numbers and texts in files, and tell errors apart by what they wrap.
func TestValues(t *testing.T) {
	h := handle(7<<32 | 5)
	require.Equal(t, [2]uint32{5, 7}, [2]uint32{h.Index(), h.Generation()})
	require.Equal(t, "5@7", h.String())
	require.Equal(t, "none", handle(0).String())
	require.True(t, handle(0).IsZero())
	require.Equal(t, [2]pool.Reuse{0, 1}, [2]pool.Reuse{pool.LIFO, pool.FIFO})
	require.ErrorIs(t, pool.ErrStalled, pool.ErrFull)
	require.ErrorIs(t, pool.ErrExhausted, pool.ErrFull)
}
