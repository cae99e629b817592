package coatvet

// This file has the check coaterror: insertions whose error is ignored.

import (
	"go/ast"

	"coatcheck/pool/coatvet/internal/api"
	"coatcheck/pool/coatvet/internal/options"
)

// ignoredErrors reports insertions whose results are not used at all, and insertions into a pool that
// is known to be bounded whose error is ignored. In an unbounded pool the only error is that of a Guard
// that somebody forgot. Tests may ignore what they like.
func ignoredErrors(s *source) {
	bounded := options.Pools(s.pass, "Capacity", "MaxLimbo")
	report := func(c api.Call) {
		s.report(c.Pos(), "the error of %s is ignored, but without a free slot the value is not in the pool: test the error", c.Name)
	}
	s.Preorder([]ast.Node{(*ast.ExprStmt)(nil), (*ast.AssignStmt)(nil)}, func(n ast.Node) {
		if s.inTest(n.Pos()) {
			return
		}
		switch n := n.(type) {
		case *ast.ExprStmt:
			if c := api.CallOf(s.info, n.X); inserts(c) {
				report(c)
			}
		case *ast.AssignStmt:
			if len(n.Rhs) != 1 || len(n.Lhs) != 2 {
				return
			}
			id, ok := n.Lhs[1].(*ast.Ident)
			if c := api.CallOf(s.info, n.Rhs[0]); ok && id.Name == "_" && inserts(c) && bounded[options.Object(s.info, c.Recv)] {
				report(c)
			}
		}
	})
}

func inserts(c api.Call) bool {
	return c.Is("Pool", "Insert", "InsertFunc", "InsertWait", "InsertFuncWait", "TryInsertFunc") ||
		c.Is("Worker", "Insert", "InsertFunc", "InsertWait", "TryInsertFunc")
}
