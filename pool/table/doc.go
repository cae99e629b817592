// Package table keeps records by key without gaps, as a structure of arrays or as an
// array of structures.
//
// In an array of structures, a loop that needs one field of a million records loads all
// fields, since memory is read by whole cache lines. With an array for each field it
// loads only what it needs. By hand that means a slice for each field, and a line of code
// for each slice wherever a record is added, removed, moved or copied. To find out
// whether it pays takes a rewrite. Here the layout is an argument:
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
// Any struct is a record, without registration or generated code. It may have pointers,
// strings, maps and interfaces, unexported and embedded fields, and fields of size zero.
//
// # In the order in which you will need them
//
// A [Table] has the records. [New] makes one for keys of any comparable type. [ForHandles]
// makes one whose keys are a pool's handles, for data that some values of the pool have. It
// looks a record up by slot, without hashing. A handle that the pool refuses finds nothing.
// [ForLive] makes one for handles of a dense store.
//
// An [Index] is the place of a record, or [None]: no method panics because a key is not
// there.
//
// A [View] is a column: one field of all records, typed, found once by a selector.
//
// # Three ways to name a record
//
//	name       from                      costs             valid until
//	key        the user                  a look-up         the record is removed
//	Index      Add, Lookup, OnMove       an addition       a sort, or a removal, which moves the last record into
//	                                                       the gap; or, by handles, an Add that replaces
//	                                                       the record of a dead handle. OnMove tells each
//	reference  View.At, All, Batch;      nothing           the table grows, is trimmed or a record leaves; Set keeps it
//	*F         elements of View.Slice
//	handle,    the pool                  two loads more    the value is removed from the pool
//	as key                               than Contains
//
// Growth and Trim keep every Index and every View; a [View] never ends. A reference that is kept
// for longer stays memory-safe, like any Go pointer, but it points to memory that the
// table has left, or to another record's field. A copy of a record, from [Table.Get],
// belongs to the caller. So does the one that [Table.OnDead] gives of the record of a dead
// handle, for programs whose records have something to end.
//
// # Memory
//
// Each column is one block of whole 4 KiB pages, and so are the keys. Since columns are
// separate blocks, goroutines that work on different ones share no cache line. There is
// room for a power of two of records: at first as many as fit a page of the widest
// column, then twice as many each time.
//
// So a table of few records with many columns is better under AoS, or as a map. Only
// [Table.Trim] makes a table smaller. [Table.Grow] makes room, for the index of the keys
// as well.
//
// The row of a removed record is zeroed at once, so a table keeps nothing reachable that
// has left it. The garbage collector does not scan columns without pointers.
//
// # Snapshots
//
// [Table.WriteTo] writes the records with their keys, and [Table.ReadFrom] reads them into a
// table of either layout. Handles as keys stay valid with their pool: write both, and read
// the pool first.
//
//	_, err = entities.WriteTo(f)      // a pool
//	_, err = shields.WriteTo(f)       // a table for its handles
//	…
//	entities, err = pool.ReadFrom[Entity](f, nil)
//	shields, err = table.ForHandles[Entity, Shield](entities, table.SoA)
//	_, err = shields.ReadFrom(f)
//
// # Concurrency
//
// A table has no locks. Any number of goroutines may read it. One goroutine may change it
// while none reads, and later readers must synchronize with that change (by a mutex, a
// channel, a WaitGroup). Writing through references, or through the slices of columns,
// changes these fields alone. So goroutines may work at once on different columns, or on
// different records of one column, while no record is added or removed.
//
// Any goroutine may use the pool of a table of handles meanwhile.
//
// # Which layout
//
// SoA where loops use few of many fields; AoS where most uses take the whole record, or
// visit records in random order. Under SoA a record that is added, removed or copied
// touches a cache line for each field. Measure: it is one argument.
package table
