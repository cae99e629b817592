package workload

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

func param(key, value string) suite.Param { return suite.Param{Key: key, Value: value} }

func number(key string, value int) suite.Param { return param(key, strconv.Itoa(value)) }

// casesOf returns a case for each peer with one of those names.
func casesOf[R any](params []suite.Param, open func(p peer.Peer[R]) suite.Run, names ...string) (cases []suite.Case) {
	for _, p := range peer.All[R]() {
		if slices.Contains(names, p.Name) {
			cases = append(cases, suite.Case{Impl: p.Name, Params: params, Open: func() suite.Run { return open(p) }})
		}
	}
	return cases
}

// liveHeap runs the garbage collector and returns the bytes that it leaves.
func liveHeap() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// emptied requires of a session the values 1 … n, which it removes, and then closes it.
func emptied(store peer.Store, session peer.Session, names peer.Names) error {
	err := cleared(session, names, 1)
	session.Close()
	if left := store.Len(); left > 0 && err == nil {
		err = fmt.Errorf("%d of %d removed values are still live", left, names.Len())
	}
	return err
}
