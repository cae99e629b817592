//go:build !(amd64 && gc && !race) && !interleave

package pool

// copiesWithoutPin is false where the processor may put off loads past later ones,
// and under the race detector: it would take a copy that is thrown away for a race,
// and must see the reads of those that are not between a pin's ends.
const copiesWithoutPin = false
