package client

import (
	"coatcheck/pool"

	"github.com/tikv/client-go/v2/util"
)

// entries are the requests that wait for a response; a request's number is its handle.
type (
	entries = pool.Pool[*batchCommandsEntry]
	handle  = pool.Handle[*batchCommandsEntry]
)

func newEntries() *entries { return pool.Must[*batchCommandsEntry](nil) }

// insert gives e its handle. The loop that sends recovers, and restarts.
func (c *batchCommandsClient) insert(e *batchCommandsEntry) {
	h, err := c.batched.Insert(e)
	if err != nil {
		panic(err)
	}
	e.handle = h
}

// id returns the number to send. An entry outside a client has the number in the batch.
func (e *batchCommandsEntry) id(batch uint64) uint64 {
	if e.handle == 0 {
		return batch
	}
	return uint64(e.handle)
}

// failPendingRequests fails all requests. One that the receiver has taken gets its response.
func (c *batchCommandsClient) failPendingRequests(err error) {
	_, _ = util.EvalFailpoint("panicInFailPendingRequests")
	for _, e := range c.batched.Drain() {
		e.error(err)
	}
}
