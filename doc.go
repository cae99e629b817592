// Package coatcheck holds the tests that go across the packages. The pool is in
// coatcheck/pool.
package coatcheck
