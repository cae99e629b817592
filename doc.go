// Package coatcheck has tests of several packages together. The pool is in
// coatcheck/pool.
package coatcheck
