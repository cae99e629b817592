// Package ignore has comments that keep lines from being reported.
package ignore

import "coatcheck/pool"

func deliberate(p *pool.Pool[int]) {
	p.Pin() //coatvet:ignore this test is about leaks
	//coatvet:ignore the pool ends with the program
	p.Pin()
	p.Pin() // want `coatlost`
	//coatvet:ignorant of this
	p.Pin() // want `coatlost`
	p.Pin() //coatvet:ignore // want `coatignore: //coatvet:ignore has no reason: write //coatvet:ignore and why the code is right`
}
