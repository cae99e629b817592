// Package handle has declarations with the types of a pool.
package handle

import "coatcheck/pool"

type thing struct{}

type ID pool.Handle[thing] // want `coathandle: type ID loses the methods of pool.Handle, such as MarshalText and String: use an alias, type ID = ...`

var byValue pool.Pool[thing] // want `coathandle: byValue is a Pool by value, which panics while it is zero and may not be copied: use a \*Pool`

type worker struct {
	w pool.Worker[thing] // want `w is a Worker by value`
}

func release(r pool.Ref[thing]) {} // want `r is a Ref by value`

// What is right.

type Alias = pool.Handle[thing]

type named struct{ h pool.Handle[thing] }

type pinned struct {
	p *pool.Pool[thing]
	g pool.Guard[thing]
}
