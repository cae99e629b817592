//go:build coatcheck_debug

package testkit

const recorded = true
