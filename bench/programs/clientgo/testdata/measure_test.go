package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/tikvpb"
	prometheus "github.com/prometheus/client_model/go"
	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/metrics"
)

const (
	requests  = 5_000
	stretches = 5
	neighbors = 100_000
)

// memory is a stream that answers each batch at once, but for the next unanswered requests.
type memory struct {
	tikvpb.Tikv_BatchCommandsClient
	unanswered atomic.Int64
	responses  chan *tikvpb.BatchCommandsResponse
}

func (m *memory) Send(b *tikvpb.BatchCommandsRequest) error {
	if m.unanswered.Load() > 0 {
		m.unanswered.Add(-int64(len(b.RequestIds)))
		return nil
	}
	responses := make([]*tikvpb.BatchCommandsResponse_Response, len(b.RequestIds))
	for i := range responses {
		responses[i] = &tikvpb.BatchCommandsResponse_Response{Cmd: &tikvpb.BatchCommandsResponse_Response_Empty{}}
	}
	m.responses <- &tikvpb.BatchCommandsResponse{RequestIds: slices.Clone(b.RequestIds), Responses: responses}
	return nil
}

func (m *memory) Recv() (*tikvpb.BatchCommandsResponse, error) {
	if r, ok := <-m.responses; ok {
		return r, nil
	}
	return nil, errors.New("the stream is closed")
}

// hooked is a context whose first use runs a function. The receiver uses it once it has
// found the entry, before it sends the response.
type hooked struct {
	context.Context
	once sync.Once
	run  func()
}

func (h *hooked) Value(key any) any {
	h.once.Do(h.run)
	return h.Context.Value(key)
}

func TestMeasureHandles(t *testing.T) {
	if os.Getenv("MEASURE_HANDLES") == "" {
		t.Skip("not asked for")
	}
	server, port := startMockTikvService() // it serves no request
	defer server.Stop()
	clients := NewRPCClient()
	defer clients.Close()
	conn, err := clients.getConnArray(fmt.Sprintf("127.0.0.1:%d", port), true, func(c *config.TiKVClient) { c.GrpcConnectionCount = 1 })
	if err != nil {
		t.Fatal(err)
	}
	c := conn.batchCommandsClients[0]
	m := &memory{responses: make(chan *tikvpb.BatchCommandsResponse, 1)}
	c.client = &batchCommandsStream{Tikv_BatchCommandsClient: m}
	go c.batchRecvLoop(c.tikvClientCfg, c.tikvLoad, c.client)
	defer close(m.responses) // after Close, so that the receiver ends

	request := func(ctx context.Context) error {
		_, err := sendBatchRequest(ctx, "", "", conn.batchConn, &tikvpb.BatchCommandsRequest_Request{}, time.Minute)
		return err
	}
	// measure prints the best of some stretches, since other load can only add to it.
	measure := func(name string, callers int) {
		best := time.Duration(math.MaxInt64)
		for range stretches {
			start := time.Now()
			var all sync.WaitGroup
			for range callers {
				all.Add(1)
				go func() {
					defer all.Done()
					for range requests / callers {
						if err := request(context.Background()); err != nil {
							t.Error(err)
						}
					}
				}()
			}
			all.Wait()
			best = min(best, time.Since(start))
		}
		figure(name+", ns", float64(best)/requests)
	}
	measure("a request", 1)
	measure("a request of 50 callers", 50)

	m.unanswered.Store(neighbors)
	for range neighbors {
		conn.batchCommandsCh <- &batchCommandsEntry{ctx: context.Background(), req: &tikvpb.BatchCommandsRequest_Request{},
			res: make(chan *tikvpb.BatchCommandsResponse_Response, 1)}
	}
	for m.unanswered.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	measure("a request among 100,000", 1)

	// The sender fails the requests while the receiver has found one of them.
	panics := receiverPanics(t)
	failed := make(chan struct{})
	broken := &hooked{Context: context.Background(), run: func() {
		go func() {
			c.failPendingRequests(errors.New("the stream is broken"))
			close(failed)
		}()
		<-failed
	}}
	_ = request(broken) // the response or the error
	<-failed
	if err := request(context.Background()); err != nil {
		t.Error("the receiver is gone:", err)
	}
	figure("panics of the receiver as requests fail", receiverPanics(t)-panics)
}

func receiverPanics(t *testing.T) float64 {
	var m prometheus.Metric
	if err := metrics.TiKVPanicCounter.WithLabelValues(metrics.LabelBatchRecvLoop).Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

func figure(name string, x float64) { fmt.Printf("figure\t%s\t%f\n", name, x) }
