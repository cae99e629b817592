package linearize

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/anishathalye/porcupine"
)

// Leave writes a visualisation, a page for a browser, and returns its file. It shows the life of
// the handle that has no explanation, or the lives of all handles if the reason is another one.
// dir is the folder; if it is empty, that is the system's folder for temporary files.
func (r *Refutation) Leave(dir string) (name string, err error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name = filepath.Join(dir, fmt.Sprintf("linearize-%s-%d.html", r.History.Plan.Layout.Name, r.History.Plan.Seed))
	parts := r.History.parts()
	if r.part != nil {
		parts = []part{*r.part}
	}
	return name, visualize(parts, name)
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
