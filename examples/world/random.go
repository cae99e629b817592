package main

// Random numbers depend on an identity and a tick only, and not on the worker or the
// time. So they are the same whatever the number of workers.

// mix scrambles a word: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// childID returns the identity of the n-th thing that grew from id.
func childID(id uint64, n uint32) uint64 { return mix(id ^ mix(uint64(n)+1)) }

// dice are the random numbers for one thing in one tick.
type dice uint64

func roll(id uint64, tick int) dice { return dice(mix(id + mix(uint64(tick)))) }

// below returns a number from 0 to n−1.
func (d *dice) below(n int) int {
	*d = dice(mix(uint64(*d)))
	return int(uint64(*d) >> 33 % uint64(n))
}

// spread returns a number between −by and by.
func (d *dice) spread(by float64) float64 {
	*d = dice(mix(uint64(*d)))
	return (float64(uint64(*d)>>11)/(1<<52) - 1) * by
}
