// Command clientgo puts the pending requests of github.com/tikv/client-go on a pool, in a copy,
// runs that package's tests on it, and measures the difference.
//
//	go -C bench/programs run ./clientgo
//
// The client sends requests in batches over a stream. Its table is a sync.Map from the number
// of a request to the caller that waits. The receiver loads an entry, sends the response and
// then deletes the entry. If the stream breaks, the sender fails all entries meanwhile, which
// closes their channels, and the receiver panics. With handles from a pool the receiver takes
// the entry first. The measurement has that order of events, and counts the panics.
package main

import (
	_ "embed"

	"coatcheck/bench/programs/internal/patched"
)

//go:embed testdata/handles.go
var handles []byte

//go:embed testdata/measure_test.go
var measurement []byte

func main() {
	const file = "client_batch.go"
	patched.Main(patched.Module{
		Path: "github.com/tikv/client-go/v2", Version: "v2.0.7", Folder: "internal/client",
		File: file, Cut: []string{"(c *batchCommandsClient) failPendingRequests"},
		Edits: []patched.Edit{
			{File: file, Old: "type batchCommandsEntry struct {", New: "type batchCommandsEntry struct {\n\thandle handle"},
			{File: file, Old: "batched          sync.Map", New: "batched *entries"},
			{File: "client.go", Old: "sync.Map{}", New: "newEntries()"},
			{File: file, Old: "b.requestIDs, b.idAlloc", New: "b.requestIDs, e.id(b.idAlloc)"},
			{File: file, Old: "batchReq.RequestIds, b.idAlloc", New: "batchReq.RequestIds, e.id(b.idAlloc)"},
			{File: file, Old: "cli.batched.Store(id, e)", New: "cli.insert(e)"},
			{File: file, Old: "value, ok := c.batched.Load(requestID)", New: "entry, ok := c.batched.Take(handle(requestID))"},
			{File: file, Old: "entry := value.(*batchCommandsEntry)\n"},
			{File: file, Old: "c.batched.Delete(requestID)\n"},
		},
		Added: handles, Measurement: measurement,
	})
}
