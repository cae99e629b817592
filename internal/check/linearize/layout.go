package linearize

import (
	"coatcheck/pool"
	"coatcheck/shard"
)

// Layout describes a pool and its users.
type Layout struct {
	Name string
	pool.Options[Value]
	Workers bool // every second thread uses a Worker
}

// Layouts are the layouts that are judged. With a small Capacity, the pool has one page of
// that many slots.
var Layouts = []Layout{
	{Name: "plain", Options: options{Capacity: 64}},
	{Name: "unlimited", Options: options{Shards: 2}, Workers: true},
	{Name: "one-slot", Options: options{Capacity: 1}},
	{Name: "two-slots", Options: options{Capacity: 2, Shards: 1}, Workers: true},
	{Name: "tiny-shards", Options: options{Capacity: 8, Shards: 4, Preallocate: true}},
	{Name: "workers", Options: options{Capacity: 128, Shards: 2}, Workers: true}, // of which each keeps 8
	{Name: "reset", Options: options{Capacity: 16, Shards: 2, Reset: func(v *Value) { v.twin = nil }}, Workers: true},
	{Name: "2-bits-left", Options: options{Capacity: 64, Shards: 2, Origin: bitsLeft(2)}},
	{Name: "3-bits-left", Options: options{Capacity: 64, Shards: 4, Origin: bitsLeft(3)}, Workers: true}, // of which each keeps 4
	{Name: "4-bits-left", Options: options{Capacity: 8, Shards: 2, Origin: bitsLeft(4)}},
	{Name: "fifo", Options: options{Capacity: 4, Shards: 2, Reuse: pool.FIFO}},
	{Name: "fifo-2-bits-left", Options: options{Capacity: 32, Shards: 2, Reuse: pool.FIFO, Origin: bitsLeft(2)}},
	{Name: "fifo-workers", Options: options{Capacity: 16, Shards: 2, Reuse: pool.FIFO}, Workers: true},
}

type options = pool.Options[Value]

// bitsLeft returns the origin from which a slot has 2^n lives.
func bitsLeft(n int) uint32 { return shard.LastGeneration - 2*(1<<n-1) }
