package programs

// work is what an operation costs beside accesses, in nanoseconds, by program and
// implementation. See Program.Work.
var work = map[string]float64{}
