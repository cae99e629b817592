//go:build !race

package contract_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a snapshot does with each field that may decide a later answer. A new field fails the test until it is
// listed: whoever adds it says whether a copy answers as the original, and with a test where it is written.
//
//	written   the snapshot has it: where
//	replays   written in the order of reuse, of a pool with an Origin and one shard (shard/replay_order.go)
//	derived   worked out by what reads the snapshot, or by the next calls: from what
//	option    from the Options of whatever reads it
//	own       a copy begins anew, rightly: why
const stateKinds = "written replays derived option own"

// Fields whose name is _ are left out. An embedded field has the name of its type.
var state = map[string]string{
	"pool.core": `
		arena     written  its parts, below
		domain    own      guards are not in a snapshot; stamps are kept as ages
		records   own      of callers, under the build tag
		tracer    option   TraceGuards
		replays   option   Origin and Shards
		workers   own      a copy has no Workers: what they kept is vacant there
		reserved  own      a copy has no Reservations: what they had is vacant there
		collected own      a figure
		supply    own      as reserved`,
	"shard.Arena": `
		Config       option   the layout and the limits; Origin and the stage of slots that were never used are written, in the header
		Table        written  see slots.Table
		affinity     own      hints; with one shard they decide nothing
		stampPerSlot derived  from Capacity and MaxLimbo, which must be alike for the order
		mostOwned    derived  from Capacity
		fastBelow    derived  from stampPerSlot and apartBelow
		plainBelow   derived  from fastBelow and Reset
		apartBelow   derived  from the greatest handle that was restored, and OnRemove
		Events       option   OnInsert and OnRemove
		apart        derived  from the pages that skip, and OnRemove
		holds        own      a copy has no Refs
		verdicts     own      findings are shared by refusals that meet
		refusals     own      figures
		reported     own      as refusals
		quarantine   own      under the build tag, and without an Origin alone: a copy begins with none
		magazines    own      a copy has no Workers
		waiters      own      nobody waits in a new pool`,
	"shard.shard": `
		free     replays  free
		fresh    replays  fresh
		ahead    own      with several shards only
		searches replays  searches
		unworn   replays  unworn
		fifo     option   Reuse
		number   derived  0 where there is an order
		arena    own      the copy's
		limbo    replays  limbo and pushed
		late     replays  late
		unborn   own      what was inserted counts anew
		mu       own      a lock
		misses   own      goroutines that met
		backlog  replays  see shard.backlog
		ready    replays  ready
		kept     derived  from the lists`,
	"shard.backlog": `
		arena    own      the copy's
		waiting  replays  waiting
		waits    derived  from the lists
		seals    replays  seals
		floor    replays  floorAge
		epoch.Frontier replays  account
		inResets own      no Reset is under way in a new pool
		runs     own      as inResets`,
	"shard/slots.Table": `
		Current          written  the generation of each slot, and its value; skips, where the pool was restored itself
		next             replays  next; without an order, the slots that are written
		exhausted        derived  from the generations
		spent            derived  from the generations
		RecommitRange    replays  again
		decommittedSlots derived  from the pages without memory
		gone             own      what was inserted counts anew
		unborn           own      as gone
		vacancy          own      guards marks of vacant values, under the build tag
		mu               own      a lock
		decommitted      replays  gone; without an order, their floors are written as generations
		stub             replays  stub
		max              option   with Capacity
		inUse            option   Capacity
		whole            option   Preallocate
		origins          written  the header
		first            written  the header
		layout           derived  from T
		stampPerSlot     derived  as shard.Arena's
		newFirst         option   Reuse and Capacity
		sizes            derived  from T; an order of other sizes is dropped
		changes          own      names states; only whether it is the same counts
		needed           own      with several shards only`,
	"pool/dense.Store": `
		phase     own      nothing was created or killed since Refresh, or WriteTo refuses
		room      written  values and handles, in order
		alive     derived  from the number of values
		base      derived  alive between phases
		waits     derived  from the handles that wait
		exhausted derived  from the zero handles
		used      derived  from the number of handles
		mirrors   written  the index of the first handle
		ranked    own      each rank is stored again when CreateAt asks
		limit     derived  see bound
		origin    written  the first handle's generation
		origins   derived  from origin
		fresh     written  the second handle's generation
		line      own      a copy begins a line, unless Origin is set: ReadFrom says what is lost then
		sizes     option   Capacity; slotLimit may be less because of line
		options   option   all
		moves     own      functions
		notes     own      empty between calls
		waiting   written  in the order of reuse
		tail      derived  alive between phases
		unborn    own      0 between phases`,
	"pool/dense.slot": `
		generation written in the handle, or the next one's
		position   derived from the order of the values`,
	"pool/table.Table": `
		rows    written  the records, in order
		keys    written  with the records
		index   derived  from the keys
		moves   own      functions, which ReadFrom leaves as they are
		deaths  own      as moves
		calling own      empty between calls`,
	"pool/table.rows": `
		n         written  how many records
		allocated derived  by Add
		first     derived  from R
		layout    own      the receiver's, which New was given
		record    derived  R
		columns   written  the records
		key       derived  with the keys
		places    derived  by growth`,
	"pool/tree.Forest": `
		pool    written  the links are part of the values
		field[T] own      a function, given to New
		*seqlock own      orders changes of one process
		ends    derived  empty at first: what is not in it is looked for`,
	"pool/tree.Links": `
		Words written by MarshalBinary`,
	"pool/pending.Calls": `
		outstanding own  calls of one process: there is no snapshot
		waiters     own  as outstanding
		closed      own  as outstanding
		created     own  as outstanding
		mu          own  as outstanding
		sleepers    own  as outstanding`,
}

func TestSnapshotsKnowEachField(t *testing.T) {
	for name, text := range state {
		var listed []string
		for line := range strings.Lines(strings.TrimSpace(text)) {
			words := strings.Fields(line)
			require.GreaterOrEqual(t, len(words), 3, "%s: %s", name, line)
			require.Contains(t, strings.Fields(stateKinds), words[1], "%s.%s", name, words[0])
			listed = append(listed, words[0])
		}
		dot := strings.LastIndexByte(name, '.')
		require.Equal(t, fieldsOf(t, filepath.Join(root, name[:dot]), name[dot+1:]), listed,
			"the fields of %s: say of each new one what a snapshot does with it", name)
	}
}

// fieldsOf returns the fields of a struct that the package in the folder declares, in order.
func fieldsOf(t *testing.T, folder, name string) (names []string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			declared, ok := spec.Type.(*ast.StructType)
			require.True(t, ok, "%s is no struct", name)
			for _, f := range declared.Fields.List {
				if f.Names == nil {
					names = append(names, types.ExprString(f.Type))
				}
				for _, n := range f.Names {
					if n.Name != "_" {
						names = append(names, n.Name)
					}
				}
			}
			return true
		})
	}
	require.NotEmpty(t, names, "no struct %s in %s", name, folder)
	return names
}
