//go:build !race && !coatcheck_debug

package main

const slowed = false
