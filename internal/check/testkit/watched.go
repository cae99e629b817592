package testkit

// Watched says that the race detector watches, or that pools remember who did what,
// which allocates and costs as much.
const Watched = Race || recorded
