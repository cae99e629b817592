// Package errors has insertions.
package errors

import "coatcheck/pool"

func bounded() {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	h, _ := p.Insert(1) // want `coaterror: the error of Insert is ignored, but without a free slot the value is not in the pool: test the error`
	p.Insert(2)         // want `coaterror: the error of Insert is ignored`
	p.Remove(h)
}

type limited struct{ p *pool.Pool[int] }

func (l *limited) insert() {
	l.p = pool.Must(&pool.Options[int]{MaxLimbo: 100})
	_, _ = l.p.Insert(1) // want `the error of Insert is ignored`
}

// What is right.

func unbounded(p *pool.Pool[int]) pool.Handle[int] {
	h, _ := p.Insert(1)
	return h
}

func tested() error {
	p := pool.Must(&pool.Options[int]{Capacity: 1})
	_, err := p.Insert(1)
	return err
}
