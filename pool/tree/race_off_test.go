//go:build !race && !coatcheck_debug

package tree_test

const recorded = false
