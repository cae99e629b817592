package testkit

// Watched says that the race detector is on, or that pools record the stacks of calls,
// which allocates too.
const Watched = Race || recorded
