package main

// Seeds against tree.Forest: what a walk promises beside changes (K1 to K3), how
// neighbours agree (W1 to W3), and what mends the links, which is not a matter of
// schedules.

const (
	treeIn      = "pool/tree"
	treeWalk    = "pool/tree/walk.go"
	treeGap     = "pool/tree/gap.go"
	treeChange  = "pool/tree/change.go"
	treeForest  = "pool/tree/forest.go"
	treeIterate = "pool/tree/iterate.go"
	treeRemove  = "pool/tree/remove.go"
	treeRepair  = "pool/tree/repair.go"
)

var treeSeeds = []seed{
	{
		name: "a node is not stamped when it is linked", in: treeIn, attacks: "K1",
		edits: []edit{{treeGap, "\tn.stamp.Store(stamp)\n\tnext, prev := at.ends()", "\tnext, prev := at.ends()"}},
		by:    []string{"Children against Move to the end", "Descendants against Append", "Children against Append"},
		quick: true,
	},
	{
		name: "a node is not stamped when it is unlinked", in: treeIn, attacks: "K1, K2",
		edits: []edit{{treeGap, "\tn.next.Store(0)\n\tn.stamp.Store(stamp)", "\tn.next.Store(0)\n\t_ = stamp"}},
		tests: []string{"TestWalksEndWhateverTheWriterDoes"},
	},
	{
		name: "a change is not told by the version", in: treeIn, attacks: "K1",
		edits: []edit{{treeForest, "\tf.version.Store(stamp)\n", "\t_ = stamp\n"}},
		by:    []string{"Children against Move to the end", "Children against Detach"},
	},
	{
		name: "a quick step does not look at the version", in: treeIn, attacks: "K1, K2",
		edits: []edit{{treeWalk, "\t\tif w.f.version.Load() != w.seen {\n\t\t\treturn w.stepSlow()\n\t\t}\n", ""}},
		by:    []string{"Children against Detach", "Children against Move to the end", "Descendants against Move up"},
		quick: true,
	},
	{
		name: "an attempt counts though links have changed", in: treeIn, attacks: "K1, K2",
		edits: []edit{{treeWalk, "return to, version, ok && w.f.version.Load() == version", "return to, version, ok"}},
		by:    []string{"Children against two writers"},
		quick: true,
	},
	{
		name: "an attempt begins while links are being changed", in: treeIn, attacks: "K1, K2",
		edits: []edit{{treeWalk, "if version = w.f.version.Load(); version%2 == 1 {", "if version = w.f.version.Load(); false {"}},
		by: []string{"Children against Move to the end", "Descendants against Move up",
			"Children against Move into another list", "Descendants against Move down"},
	},
	{
		name: "a walk yields what is new", in: treeIn, attacks: "K1, K3",
		edits: []edit{{treeWalk, "\t\tif links.stamp.Load() <= w.began {\n\t\t\treturn found", "\t\tif true {\n\t\t\treturn found"}},
		by:    []string{"Children against Prepend and InsertAfter", "Children against Move to the end"},
		quick: true,
	},
	{
		name: "a walk goes on from where its node went", in: treeIn, attacks: "K2, K3",
		edits: []edit{{treeWalk, "w.f.look(&w.g, h); w.old(links) {", "w.f.look(&w.g, h); links != nil {"}},
		by:    []string{"Children against Move into another list", "Descendants against Move up", "Descendants against Move down", "Children against Move to the end"},
		quick: true,
	},
	{
		name: "a walk begins in the middle of a change", in: treeIn, attacks: "K1",
		edits: []edit{{treeWalk, "if w.began = w.f.version.Load(); w.began%2 == 1 {", "if w.began = w.f.version.Load(); false {"}},
		by:    []string{"Children against Append", "Children against Move to the end", "Descendants against Append"},
	},
	{
		name: "a walk loses its way when its node goes", in: treeIn, attacks: "walks",
		edits: []edit{{treeWalk, "\t\t\t\tlevel = min(level, levels-1)\n", "\t\t\t\tlevel = 1\n"}},
		tests: []string{"TestWalkGoesOnBehindALostSubtree"},
	},
	{
		name: "a walk forgets what followed its node", in: treeIn, attacks: "walks",
		edits: []edit{{treeWalk, "p.at == h && next != nil", "false && next != nil"}},
		by:    []string{"Children against Move to the end", "Children against Detach"},
		tests: []string{"TestWalksEndWhateverTheWriterDoes", "TestOperationsMatchModel"},
	},
	{
		name: "a walk forgets the parent of its node", in: treeIn, attacks: "walks",
		edits: []edit{{treeWalk, "\t\t\tif h == w.at {\n\t\t\t\th = w.parent\n", "\t\t\tif false {\n"}},
		tests: []string{"TestWalkLosesMoreFarDown"},
	},
	{
		name: "a walk follows what has moved away", in: treeIn, attacks: "K2",
		edits: []edit{{treeWalk, "next != nil && next.stamp.Load() <= kept", "next != nil && kept > 0"}},
		tests: []string{"TestLostWalkYieldsNothingTwice"},
	},
	{
		name: "a walk follows what moved long ago", in: treeIn, attacks: "K2",
		edits: []edit{{treeWalk, "level, kept = level-1, w.began {", "level = level-1 {"}},
		tests: []string{"TestLostWalkYieldsNothingTwice"},
	},
	{
		name: "a walk loses what came behind its node", in: treeIn, attacks: "walks",
		edits: []edit{{treeWalk, "h, level, kept := w.at, w.level, w.seen", "h, level, kept := w.at, w.level, w.began"}},
		tests: []string{"TestLoopsTakeAwayWhatTheyGet"},
	},
	{
		name: "a walk enters again what it has gone through", in: treeIn, attacks: "K2, K3",
		edits: []edit{{treeWalk, "if w.deep && h == w.at {", "if w.deep {"}},
		tests: []string{"TestWalksGoForwards"},
	},
	{
		name: "a list's first child keeps a sibling before it", in: treeIn, attacks: "W1",
		edits: []edit{{treeGap, "\tnext, prev := at.ends()\n\tset(next, at.after)\n\tset(prev, at.before)\n",
			"\tnext, prev := at.ends()\n\tset(next, at.after)\n\tif at.before != 0 || at.a == nil {\n\t\tset(prev, at.before)\n\t}\n"}},
		by:    []string{"Children against Move to the end", "Children against Move to the end, one after the other"},
		quick: true,
	},
	{
		name: "a node is linked one way", in: treeIn, attacks: "W2",
		edits: []edit{{treeGap, "\tset(&n.prev, at.before)\n", ""}},
		by:    []string{"Children against Append", "Children against Prepend and InsertAfter"},
		quick: true,
	},
	{
		name: "a gap is closed one way", in: treeIn, attacks: "W2",
		edits: []edit{{treeGap, "\tset(next, at.after)\n\tset(prev, at.before)\n", "\tset(next, at.after)\n\t_ = prev\n"}},
		by:    []string{"Children against Detach", "Children against Move into another list"},
	},
	{
		name: "a node names its old parent in its new list", in: treeIn, attacks: "W3",
		edits: []edit{{treeGap, "\tset(&n.parent, at.parent)\n", "\tif n.parent.Load() == 0 {\n\t\tset(&n.parent, at.parent)\n\t}\n"}},
		by:    []string{"Children against Move into another list", "Descendants against Move up", "Ancestors against Move"},
		quick: true,
	},
	{
		name: "writers do not take turns", in: treeIn, attacks: "W3",
		edits: []edit{{treeChange,
			"func (f *Forest[T]) Move(h, newParent pool.Handle[T]) error {\n\tf.mu.Lock()\n\tdefer f.mu.Unlock()\n",
			"func (f *Forest[T]) Move(h, newParent pool.Handle[T]) error {\n"}},
		by: []string{"two writers"},
	},
	{
		name: "depth is that of no moment", in: treeIn, attacks: "ancestors",
		edits: []edit{{treeIterate, "if f.version.Load() != version {", "if false {"}},
		by:    []string{"Ancestors against Moves one above the other"},
	},
	{
		name: "a node goes below itself", in: treeIn, attacks: "cycles",
		edits: []edit{{treeChange, "\t\tcase up == h:\n\t\t\treturn ErrCycle", "\t\tcase up == h:\n\t\t\treturn nil"}},
		tests: []string{"TestErrorsChangeNothing"},
	},
	{
		name: "a gap is filled though its sides do not meet", in: treeIn, attacks: "broken lists",
		edits: []edit{{treeChange, "load[T](next) != at.after || load[T](prev) != at.before", "next == nil || prev == nil"}},
		tests: []string{"TestGapWhoseSidesDoNotMeetIsBroken"},
	},
	{
		name: "Repair forgets who stands between two dead", in: treeIn, attacks: "Repair",
		edits: []edit{{treeRepair, "\tr.between()\n", ""}},
		tests: []string{"TestRepairMends"},
	},
	{
		name: "Repair leaves circles", in: treeIn, attacks: "Repair",
		edits: []edit{{treeRepair, "\tr.circles()\n", ""}},
		tests: []string{"TestScrambledLinksDoNoHarm"},
	},
	{
		name: "Repair leaves orphans", in: treeIn, attacks: "Repair",
		edits: []edit{{treeRepair, "\tr.orphans()\n", ""}},
		tests: []string{"TestOrphansBecomeRoots"},
	},
	{
		name: "Repair sews nothing", in: treeIn, attacks: "Repair",
		edits: []edit{{treeRepair, "\tr.sew()\n", ""}},
		tests: []string{"TestRepairMends"},
	},
	{
		name: "Repair moves what others have passed", in: treeIn, attacks: "K2",
		edits: []edit{{treeRepair, "\t\tif moved || load[T](&n.prev) != tail {\n\t\t\tn.stamp.Store(r.stamp)\n\t\t}\n", ""}},
		tests: []string{"TestRepairSendsNoWalkBack"},
	},
	{
		name: "Remove takes children from the front alone", in: treeIn, attacks: "Remove",
		edits: []edit{{treeRemove, "[...]pool.Handle[T]{load[T](&n.first), load[T](&n.last)}", "[...]pool.Handle[T]{load[T](&n.first)}"}},
		tests: []string{"TestRemoveReachesBehindADeadChild"},
	},
	{
		name: "Remove counts what others have removed", in: treeIn, attacks: "Remove",
		edits: []edit{{treeRemove, "\t\tif f.pool.Remove(at) {\n\t\t\tremoved++\n\t\t}\n", "\t\tf.pool.Remove(at)\n\t\tremoved++\n"}},
		by:    []string{"Remove against a removal behind the back"},
	},
	{
		name: "Remove leaves its node in the list", in: treeIn, attacks: "W2",
		edits: []edit{{treeRemove, "\tif load[T](&n.parent) != 0 {\n\t\tf.cut(&g, h, n)\n\t}\n", "\t_ = f.cut\n"}},
		by:    []string{"Children against Remove", "Descendants against Remove"},
	},
}
