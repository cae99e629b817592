// Package memory has tests of what memory a pool takes and in which order it uses its slots
// again: what allocates, what stays when values go, what Grow, Trim and AutoTrim do, what the
// garbage collector finds, what Reset is shown, and what Stats counts.
package memory
