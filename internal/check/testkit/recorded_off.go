//go:build !coatcheck_debug

package testkit

const recorded = false
