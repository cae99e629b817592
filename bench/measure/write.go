package measure

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"
)

// writer writes a line in Go's benchmark format for each round of a case.
type writer struct {
	out    *benchfmt.Writer
	config []benchfmt.Config
	begun  bool
}

func newWriter(w io.Writer, config []benchfmt.Config) *writer {
	return &writer{out: benchfmt.NewWriter(w), config: config}
}

// more are the units of which more is better.
var more = []string{"ops/s"}

func (w *writer) write(c *contestant) error {
	if !w.begun {
		w.begun = true
		for _, unit := range more {
			m := &benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"},
				OrigUnit:        unit,
				Value:           "higher",
			}
			if err := w.out.Write(m); err != nil {
				return err
			}
		}
	}
	for i := range c.rounds {
		f := &c.rounds[i]
		ops := float64(f.ops)
		r := &benchfmt.Result{
			Config: w.config,
			Name:   benchfmt.Name(c.name),
			Iters:  f.ops,
			Values: []benchfmt.Value{
				value(f.perOp(), "ns/op"),
				value(1e9/f.perOp(), "ops/s"),
				value(float64(f.bytes)/ops, "B/op"),
				value(float64(f.objects)/ops, "allocs/op"),
			},
		}
		for _, unit := range slices.Sorted(maps.Keys(f.extra)) {
			r.Values = append(r.Values, value(f.extra[unit], unit))
		}
		if err := w.out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// value rounds a figure to five digits.
func value(x float64, unit string) benchfmt.Value {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		rounded = x
	}
	return benchfmt.Value{Value: rounded, Unit: unit}
}
