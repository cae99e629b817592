//go:build coatcheck_debug

package poolhttp

// recorded says whether all pools record who opens what, so that the page shows it.
const recorded = true
