// Package table keeps records by key without gaps, as a structure of arrays or
// as an array of structures.
//
// A loop that needs one field of a million records reads all of them, if they
// are an array of structures: a memory bus carries whole cache lines. With an array for
// each field it reads what it needs; but by hand that means a slice for each
// field, a place in the code for each slice wherever a record comes, goes, moves or is
// copied, and a rewrite to find out whether it pays. Here the layout is an argument:
//
//	type Body struct {
//		Pos, Vel Vec
//		Mass     float64
//		Name     string
//	}
//
//	t, err := table.New[ID, Body](table.SoA) // or table.AoS, and no other line changes
//	t.Add(id, Body{Name: "Ceres", Mass: 9.4e20})
//
//	mass := table.Column(t, func(b *Body) *float64 { return &b.Mass })
//	for _, m := range mass.All() { // float64s side by side, under SoA
//		total += *m
//	}
//
// Any struct is a record, without registration or generated code: with pointers,
// strings, maps and interfaces, unexported and embedded fields, and fields
// without a size.
//
// # In the order in which you will need them
//
// A [Table] has the records. [New] makes one for keys of any comparable type.
// [ForHandles] makes one whose keys are a pool's handles, which it looks up by
// slot, without hashing: what a value of the pool has and others have not. A
// handle that the pool refuses finds nothing.
//
// An [Index] is the place of a record, or [None]: nothing here panics because a
// key is not there.
//
// A [View] is a column: one field of all records, typed, found once by a selector.
//
// # Three ways to name a record
//
//	name       from                      costs             good until
//	key        the user                  a look-up         the record is removed
//	Index      Add, Lookup, OnMove       an addition       a removal: then the removed record's Index names
//	                                                       the last record, which OnMove tells, and the
//	                                                       last record's names nothing
//	reference  View.At, All, Batch;      nothing           the table grows, is trimmed or a record leaves; Set keeps it
//	*F         elements of View.Slice
//	handle,    the pool                  two loads more    the value is removed from the pool
//	as key                               than Contains
//
// Growth keeps every Index, and every View; a [View] never ends. A
// reference that is kept for longer stays memory-safe, like any Go pointer, but it is
// memory that the table has left, or another record's field. A copy of a record,
// from [Table.Copy], is the caller's for good.
//
// # Memory
//
// Each column is one block on whole pages of 4 KiB, beginning on the boundary of
// a page, and so are the keys; columns are blocks of their own, so that goroutines that
// work on different ones share no cache line. There is room for a power of two of
// records: at first as many as fit each column's smallest block, then twice as many each time.
// The smallest block is a page, or eight where the type holds pointers,
// because Go aligns no smaller one of these; so a table of few records with many
// columns of pointers is better off under AoS, or as a map. [Table.Trim] alone
// makes a table smaller.
//
// The row that a record has left is zeroed at once: a table holds nothing back
// from the garbage collector, and does not even show it columns without pointers.
//
// # Who may do what at once
//
// A table has no locks. Any number of goroutines may read it; one may change
// it while nobody reads, and whoever reads afterwards synchronizes with that (a
// mutex, a channel, a WaitGroup). Writing through references, or the slices of
// columns, is a change of these fields alone: goroutines may work on
// different columns at once, or on different records of one, while nobody adds or
// removes.
//
// The pool of a table of handles may be used by anybody meanwhile.
//
// # Which layout
//
// SoA where loops use few of many fields, AoS where most uses take the whole
// record, or go from record to record at random. Under SoA a record that is
// added, removed or copied touches a cache line for each field. Measure: it is
// one argument.
//
// # Where it comes from
//
// In the words of entity component systems a pool is the registry, its handles are the
// entities, and a table from [ForHandles] is a sparse set of components.
//
// Structures of arrays are as old as vector machines; tables of records by key
// whose layout is a parameter are known from C++. What is different here: records
// may hold pointers, absence is an Index and not an exception, a key may be a
// handle that is seen to be stale, and the columns are found without macros or
// generated code.
package table
