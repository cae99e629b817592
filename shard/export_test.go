package shard

// ReclaimMost is how many slots one Reclaim moves.
const ReclaimMost = reclaimMost
