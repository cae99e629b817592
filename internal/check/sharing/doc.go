// Package sharing has tests of what several goroutines hold of one pool at a time: guards,
// Refs, Workers and their reach, loops over all values, and Synchronize, which waits for them.
package sharing
