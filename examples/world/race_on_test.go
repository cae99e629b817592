//go:build race || coatcheck_debug

package main

// slowed says that everything takes ten times as long here.
const slowed = true
