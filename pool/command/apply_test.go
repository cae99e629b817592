//go:build !race

package command_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

func TestMisuseIsNamed(t *testing.T) {
	p := pool.Must[value](nil)
	good := command.New(p)
	mustRecord(t, good, 1)
	live := testkit.MustInsert(t, p, valueOf(2))
	good.Remove(live)
	copied := new(buffer)
	reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(good).Elem()) // behind vet's back
	for text, b := range map[string]*buffer{
		"command: nil Buffer; make one with New":  nil,
		"command: zero Buffer; make one with New": new(buffer),
		"command: a Buffer was copied":            copied,
	} {
		for _, use := range []func(){
			func() { _, _ = b.Insert(value{}) },
			func() { _, _ = b.InsertFunc(func(handle, *value) {}) },
			func() { b.Remove(live) },
			func() { b.Removals() },
			func() { b.Insertions() },
			func() { b.Len() },
			func() { b.Do(func() {}) },
			func() { b.Discard() },
			func() { b.Apply() },
			func() { command.Apply(good, b) },
		} {
			testkit.RequirePanicText(t, use, text)
		}
	}
	testkit.RequirePanicText(t, func() { good.Do(nil) }, "command: Do of a nil function")
	testkit.RequirePanicText(t, func() { command.New[value](nil) }, "command: New of a nil Pool")
	testkit.RequirePanicText(t, func() { command.New(new(pool.Pool[value])) }, "pool: use of a zero Pool")
	requireApplied(t, 1, 1, good) // nothing was done before
	i, r := command.Apply[value]()
	require.Zero(t, i+r)
}

// TestLoopsOverCommandsMayEnd: a body that leaves the loop gets no more.
func TestLoopsOverCommandsMayEnd(t *testing.T) {
	p := pool.Must(&pool.Options[value]{Shards: 1})
	b := command.New(p)
	for i := range uint64(3) {
		b.Remove(mustRecord(t, b, i))
	}
	insertions, removals := 0, 0
	for range b.Insertions() {
		insertions++
		break
	}
	for range b.Removals() {
		removals++
		break
	}
	require.Equal(t, []int{1, 1}, []int{insertions, removals})
	b.Discard()
}
