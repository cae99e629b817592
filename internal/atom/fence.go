//go:build !arm64

package atom

// FenceLoads is the barrier of arm64; elsewhere it does nothing. Processors of amd64 and 386 keep
// loads in order. A package that runs on others too must not rely on it there.
func FenceLoads() {}
