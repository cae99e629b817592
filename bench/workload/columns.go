package workload

import (
	"fmt"

	"coatcheck/bench/suite"
	"coatcheck/pool/table"
)

// columns asks what a table's layout is worth.
func columns() suite.Question {
	return suite.Question{
		ID:    "Columns",
		Title: "What does it cost to read one field of every record?",
		About: "Records of sixteen 8-byte fields; one field of all is added up, in order, for each record that is read. soa and aos are coatcheck's table as a structure of arrays and as an array of structures: by the column as a slice, which only soa has, by View.All and by View.At. " +
			"struct is a plain slice of such records, column a plain slice of the field alone, which is the least that it can cost. A million records are more than the caches hold, ten thousand structures as well, but not ten thousand fields.",
		Roles: map[string]suite.Role{"soa": suite.Ours, "aos": suite.Ours, "struct": suite.Reference, "column": suite.Reference},
		Charts: []suite.Chart{
			{Title: "Read one 8-byte field of each 128-byte record", Unit: "ns/op"},
		},
		Groups: func(env suite.Env) []suite.Group {
			sizes := []int{10_000, 1_000_000}
			if env.Quick {
				sizes = []int{1_000}
			}
			var groups []suite.Group
			for _, rows := range sizes {
				groups = append(groups, suite.Group{Cases: columnCases(rows)})
			}
			return groups
		},
	}
}

// columnRecord is a record of 128 bytes. Its fields have names, since a table's
// columns are fields.
type columnRecord struct {
	A, B, C, D, E, F, G, H uint64
	I, J, K, L, M, N, O, P uint64
}

// recordOf is record number i: only the field that is read tells them apart.
func recordOf(i int) columnRecord { return columnRecord{A: 1, G: uint64(i) + 1, P: 3} }

// columnCases are the ways to read field G of so many records.
func columnCases(rows int) []suite.Case {
	records := &common[[]columnRecord]{create: func() ([]columnRecord, error) {
		rs := make([]columnRecord, rows)
		for i := range rs {
			rs[i] = recordOf(i)
		}
		return rs, nil
	}}
	tables := map[string]*common[*table.Table[uint64, columnRecord]]{
		"soa": {create: func() (*table.Table[uint64, columnRecord], error) { return fullTable(table.SoA, rows) }},
		"aos": {create: func() (*table.Table[uint64, columnRecord], error) { return fullTable(table.AoS, rows) }},
	}
	var cases []suite.Case
	add := func(impl, by string, open opened) {
		cases = append(cases, loopCase(suite.Case{Impl: impl, Params: wayParams("rows", rows, by)}, looped{rows, sumTo(rows)}, open))
	}
	for _, impl := range []string{"soa", "aos"} {
		for _, way := range []struct {
			by   string
			scan func(table.View[uint64]) uint64
		}{{"all", scanAll}, {"at", scanAt}} {
			add(impl, way.by, func() (func() looped, func() error, error) {
				t, err := tables[impl].open()
				if err != nil {
					return nil, nil, err
				}
				view := table.Column(t, func(r *columnRecord) *uint64 { return &r.G })
				return scanned(rows, func() uint64 { return way.scan(view) }), tables[impl].close, nil
			})
		}
	}
	add("soa", "slice", func() (func() looped, func() error, error) {
		t, err := tables["soa"].open()
		if err != nil {
			return nil, nil, err
		}
		view := table.Column(t, func(r *columnRecord) *uint64 { return &r.G })
		if _, ok := view.Slice(); !ok {
			return nil, nil, fmt.Errorf("the column is not contiguous")
		}
		return scanned(rows, func() uint64 {
			column, _ := view.Slice()
			return scanColumn(column)
		}), tables["soa"].close, nil
	})
	add("struct", "", func() (func() looped, func() error, error) {
		rs, err := records.open()
		return scanned(rows, func() uint64 { return scanRecords(rs) }), records.close, err
	})
	add("column", "", func() (func() looped, func() error, error) {
		column := make([]uint64, rows)
		for i := range column {
			column[i] = recordOf(i).G
		}
		return scanned(rows, func() uint64 { return scanColumn(column) }), nil, nil
	})
	return cases
}

// fullTable makes a table of so many records.
func fullTable(layout table.Layout, rows int) (*table.Table[uint64, columnRecord], error) {
	t, err := table.New[uint64, columnRecord](layout)
	if err != nil {
		return nil, err
	}
	t.Reserve(rows)
	for i := range rows {
		if t.Add(uint64(i), recordOf(i)) != table.Index(i) {
			return nil, fmt.Errorf("record %d was not added at its place", i)
		}
	}
	return t, nil
}

// scanned is a scan as a loop: its records are as many as there are.
func scanned(rows int, scan func() uint64) func() looped {
	return func() looped { return looped{rows, scan()} }
}

func scanAll(v table.View[uint64]) (sum uint64) {
	for _, field := range v.All() {
		sum += *field
	}
	return
}

func scanAt(v table.View[uint64]) (sum uint64) {
	for i := range table.Index(v.Len()) {
		sum += *v.At(i)
	}
	return
}

func scanColumn(column []uint64) (sum uint64) {
	for _, field := range column {
		sum += field
	}
	return
}

func scanRecords(records []columnRecord) (sum uint64) {
	for i := range records {
		sum += records[i].G
	}
	return
}
