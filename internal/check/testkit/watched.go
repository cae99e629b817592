package testkit

// Watched reports whether the race detector is on or pools record the stacks of calls. Both
// allocate.
const Watched = Race || recorded
