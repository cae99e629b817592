package apps

// ready is a heap of names, the most urgent and then the oldest first.
type ready[N any] struct {
	heap []due[N]
	seq  uint64
}

type due[N any] struct {
	order uint64
	name  N
}

// push adds a name. A smaller urgency comes first.
func (r *ready[N]) push(urgency uint64, name N) {
	r.seq++
	d := due[N]{urgency<<48 | r.seq, name}
	r.heap = append(r.heap, d)
	i := len(r.heap) - 1
	for ; i > 0 && r.heap[(i-1)/2].order > d.order; i = (i - 1) / 2 {
		r.heap[i] = r.heap[(i-1)/2]
	}
	r.heap[i] = d
}

// pop takes the first name.
func (r *ready[N]) pop() (name N, ok bool) {
	last := len(r.heap) - 1
	if last < 0 {
		return name, false
	}
	name = r.heap[0].name
	d, i := r.heap[last], 0
	r.heap[last] = due[N]{} // a pointer would keep its task
	r.heap = r.heap[:last]
	if last == 0 {
		return name, true
	}
	for {
		child := 2*i + 1
		if child+1 < last && r.heap[child+1].order < r.heap[child].order {
			child++
		}
		if child >= last || r.heap[child].order >= d.order {
			break
		}
		r.heap[i] = r.heap[child]
		i = child
	}
	r.heap[i] = d
	return name, true
}
