package linearize

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/anishathalye/porcupine"
)

// Leave writes the visualisation and the steps of virtual threads into files, and returns
// their names. The visualisation is a page for a browser. It shows the life of the handle
// that has no explanation, or the lives of all handles if the reason is another one. dir is
// their folder; if it is empty, that is the system's folder for temporary files.
func (r *Refutation) Leave(dir string) ([]string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var names []string
	base := filepath.Join(dir, fmt.Sprintf("linearize-%s-%d", r.History.Plan.Layout.Name, r.History.Plan.Seed))
	parts := r.History.parts()
	if r.part != nil {
		parts = []part{*r.part}
	}
	if len(parts) > 0 {
		names = append(names, base+".html")
		if err := visualize(parts, base+".html"); err != nil {
			return names, err
		}
	}
	if r.History.Schedule != "" {
		names = append(names, base+".steps")
		if err := os.WriteFile(base+".steps", []byte(r.History.Schedule), 0o644); err != nil {
			return names, err
		}
	}
	return names, nil
}

// visualize writes a page of the parts' lives, as far as they have an explanation.
func visualize(parts []part, name string) error {
	var all []porcupine.Operation
	by := make([][]porcupine.Operation, len(parts))
	for i := range parts {
		by[i] = parts[i].operations()
		all = append(all, by[i]...)
	}
	m := model
	m.Partition = func([]porcupine.Operation) [][]porcupine.Operation { return by }
	_, info := porcupine.CheckOperationsVerbose(m, all, patience)
	return porcupine.VisualizePath(m, info, name)
}
