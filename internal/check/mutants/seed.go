package main

import (
	"embed"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coatcheck/internal/check/interleave"
)

// files has the patches, and README.md.
//
//go:embed seeds
var files embed.FS

// seed is one bug: a patch of the product, under a header.
type seed struct {
	file    string // below seeds, for example limbo/remove-by-load-and-store.patch
	name    string
	says    string   // the lines of the header that the fields below are parsed from
	attacks []string // labels of DESIGN.md, promises, or rows of the table
	killers []killer // the quickest first
	ends    kind     // another end that counts as a kill, or ""
	quick   bool     // part of -short
	hunks   []hunk
}

// fates are the ends of bugs that break no invariant.
var fates = []kind{interleave.Livelock, interleave.Deadlock, interleave.Panicked}

// hunk is one change of a file: the lines old must occur in it exactly once.
type hunk struct {
	file     string
	old, new []string
}

// load reads all seeds.
func load() (list []seed, err error) {
	names, err := fs.Glob(files, "seeds/*/*.patch")
	for _, name := range names {
		text, _ := files.ReadFile(name) // cannot fail
		s := seed{file: strings.TrimPrefix(name, "seeds/")}
		if wrong := s.parse(string(text)); wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, wrong))
		}
		list = append(list, s)
	}
	return list, err
}

// parse parses a patch. Its first paragraph is the seed's name. The last one before the diff
// has the other fields, one a line. The paragraphs between are for readers.
func (s *seed) parse(text string) error {
	header, diff, _ := strings.Cut(text, "\n--- a/")
	paragraphs := strings.Split(strings.TrimSpace(header), "\n\n")
	s.name, s.says = strings.TrimSuffix(paragraphs[0], "."), paragraphs[len(paragraphs)-1]
	for _, line := range strings.Split(s.says, "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "attacks":
			s.attacks = strings.Split(value, ", ")
		case "killed by":
			pkg, name, _ := strings.Cut(value, ": ")
			s.killers = append(s.killers, killer{suite{pkg, !testName.MatchString(name)}, name})
		case "ends":
			s.ends = kind(value)
		case "quick":
			s.quick = true
		default:
			return fmt.Errorf("the header has a line %q", line)
		}
	}
	var file string
	for line := range strings.Lines("--- a/" + diff) {
		switch {
		case strings.HasPrefix(line, "--- a/"):
		case strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimSpace(line[len("+++ b/"):])
		case strings.HasPrefix(line, "@@ "):
			s.hunks = append(s.hunks, hunk{file: file})
		case len(s.hunks) == 0 || !strings.Contains(" -+", line[:1]):
			return fmt.Errorf("the diff has a line %q", line)
		default:
			h := &s.hunks[len(s.hunks)-1]
			if line[0] != '+' {
				h.old = append(h.old, line[1:])
			}
			if line[0] != '-' {
				h.new = append(h.new, line[1:])
			}
		}
	}
	if s.name == "" || s.attacks == nil || s.killers == nil || s.hunks == nil || s.ends != "" && !slices.Contains(fates, s.ends) {
		return fmt.Errorf("want a name, attacks, killed by, perhaps ends with one of %q, and hunks", fates)
	}
	return nil
}

// apply returns the files of the tree at root that s changes, after the change. Hunks are
// applied one after the other.
func (s *seed) apply(root string) (after map[string]string, err error) {
	after = make(map[string]string)
	for _, h := range s.hunks {
		if after[h.file] == "" {
			data, err := os.ReadFile(filepath.Join(root, h.file))
			if err != nil {
				return nil, err
			}
			after[h.file] = string(data)
		}
		if after[h.file], err = h.apply(after[h.file]); err != nil {
			return nil, err
		}
	}
	for name, text := range after {
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// apply changes the only place in text where h fits, whatever its line number, so that
// other parts of a file may change.
func (h *hunk) apply(text string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	at, n := 0, 0
	for i := range len(lines) - len(h.old) + 1 {
		if slices.Equal(lines[i:i+len(h.old)], h.old) {
			at, n = i, n+1
		}
	}
	if n != 1 {
		return "", fmt.Errorf("these lines occur %d times in %s; want once:\n%s", n, h.file, strings.Join(h.old, ""))
	}
	return strings.Join(slices.Replace(lines, at, at+len(h.old), h.new...), ""), nil
}

// check returns an error that lists the seeds that do not apply to the tree at root.
func check(list []seed, root string) (err error) {
	for i := range list {
		if _, wrong := list[i].apply(root); wrong != nil {
			err = errors.Join(err, fmt.Errorf("seeds/%s: %w", list[i].file, wrong))
		}
	}
	return err
}

// pkg returns the package whose tests must find s, wherever they are.
func (s *seed) pkg() string {
	if pkg := s.killers[0].pkg; pkg != ordinaryPackage {
		return pkg
	}
	return poolPackage
}

// kills reports whether a scenario or a test that ends with k kills s.
func (s *seed) kills(k kind) bool {
	return k == interleave.Broken || k == failed || s.ends != "" && k == s.ends
}
