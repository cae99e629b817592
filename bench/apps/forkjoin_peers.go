package apps

type pointerJob struct {
	parent *pointerJob
	work
}

func joinPointers(leaves uint64, goroutines int) uint64 {
	fork := func(parent *pointerJob, leaves uint64) *pointerJob {
		j := &pointerJob{parent: parent, work: work{leaves: leaves}}
		j.waits.Store(2)
		return j
	}
	c := newCrew(goroutines, fork(nil, leaves))
	return c.run(func(own []*pointerJob) {
		for j, ok := c.next(&own); ok; j, ok = c.next(&own) {
			if j.leaves > 1 {
				for _, leaves := range j.halves() {
					own = append(own, fork(j, leaves))
				}
				continue
			}
			for sum, last := uint64(1), true; last; {
				j = j.parent
				if j == nil {
					c.end(sum)
					break
				}
				sum, last = j.join(sum)
			}
		}
	})
}

type namedJob struct {
	parent uint64
	work
}

// joinNamed names jobs by the keys of a map.
func joinNamed(jobs named[*namedJob], leaves uint64, goroutines int) uint64 {
	fork := func(parent, leaves uint64) uint64 {
		j := &namedJob{parent: parent, work: work{leaves: leaves}}
		j.waits.Store(2)
		return jobs.insert(j)
	}
	c := newCrew(goroutines, fork(0, leaves))
	return c.run(func(own []uint64) {
		for h, ok := c.next(&own); ok; h, ok = c.next(&own) {
			j, _ := jobs.get(h)
			if j.leaves > 1 {
				for _, leaves := range j.halves() {
					own = append(own, fork(h, leaves))
				}
				continue
			}
			for sum, last := uint64(1), true; last; {
				jobs.remove(h)
				if h = j.parent; h == 0 {
					c.end(sum)
					break
				}
				j, _ = jobs.get(h)
				sum, last = j.join(sum)
			}
		}
	})
}
