// Package inline has loops over a forest as a user's package has them: without importing sync/atomic.
// TestLoopsInline reads what the compiler says about them.
package inline

import (
	"coatcheck/pool"
	"coatcheck/pool/tree"
)

type node struct {
	n     uint64
	links tree.Links[node]
}

func children(r *tree.Reader[node], h pool.Handle[node]) (sum uint64) {
	for _, v := range r.Children(h) {
		sum += v.n
	}
	return sum
}

func descendants(r *tree.Reader[node], h pool.Handle[node]) (sum uint64) {
	for _, v := range r.Descendants(h) {
		sum += v.n
	}
	return sum
}

func postOrder(r *tree.Reader[node], h pool.Handle[node]) (sum uint64) {
	for _, v := range r.PostOrder(h) {
		sum += v.n
	}
	return sum
}

func ancestors(r *tree.Reader[node], h pool.Handle[node]) (sum uint64) {
	for _, v := range r.Ancestors(h) {
		sum += v.n
	}
	return sum
}

func neighbours(r *tree.Reader[node], f *tree.Forest[node], h pool.Handle[node]) {
	h, _ = r.Parent(h)
	h, _ = r.FirstChild(h)
	h, _ = r.Next(h)
	_, _ = f.Next(h)
}

var _ = []any{children, descendants, postOrder, ancestors, neighbours}
