// Package shared has Workers and goroutines.
package shared

import (
	"sync"

	"coatcheck/pool"
)

func inALoop(p *pool.Pool[int]) {
	w := p.Worker()
	for range 4 {
		go func() { _, _ = w.Insert(1) }() // want `coatshared: several goroutines use the Worker w: let each make one of its own`
	}
}

func two(p *pool.Pool[int], wg *sync.WaitGroup) {
	w := p.Worker()
	wg.Go(func() { _, _ = w.Insert(1) })
	wg.Go(func() { w.Remove(1) }) // want `several goroutines use the Worker w`
}

// What is right.

func own(p *pool.Pool[int]) {
	for range 4 {
		go func() {
			w := p.Worker()
			_, _ = w.Insert(1)
		}()
	}
	for range 4 {
		w := p.Worker()
		go func() { _, _ = w.Insert(1) }()
	}
}

func rounds(p *pool.Pool[int], rounds int) {
	for range rounds {
		func() {
			w := p.Worker()
			go func() { _, _ = w.Insert(1) }()
		}()
	}
}
