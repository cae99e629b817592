package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"coatcheck/internal/check/interleave"
)

// files has the patches.
//
//go:embed patches
var files embed.FS

// mutant is one bug: a patch of the product, under a header.
type mutant struct {
	file    string // its archive, and its patch there, for example slots/remove-by-load-and-store.patch
	name    string
	attacks []string // labels of DESIGN.md, promises, or rows of the table
	kept    string   // why no slip stands for it
	killer  killer
	ends    kind // another end that counts as a kill, or ""
	quick   bool // part of -short
	hunks   []hunk
}

// fates are the ends of bugs that break no invariant.
var fates = []kind{interleave.Livelock, interleave.Deadlock, interleave.Panicked}

// grounds are the reasons to keep a patch. docs/checks.md explains them.
var grounds = []string{"naive rule", "two places", "late stores", "judge", "no slip"}

// hunk is one change of a file: the lines old must occur in it exactly once.
type hunk struct {
	file     string
	old, new []string
}

// load reads all mutants.
func load() (list []mutant, err error) {
	names, err := fs.Glob(files, "patches/*.txtar")
	for _, name := range names {
		text, _ := files.ReadFile(name) // cannot fail
		folder := strings.TrimSuffix(path.Base(name), ".txtar")
		for file, text := range archived(string(text)) {
			m := mutant{file: folder + "/" + file}
			if wrong := m.parse(text); wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s: %s: %w", name, file, wrong))
			}
			list = append(list, m)
		}
	}
	return list, err
}

// archived yields the files of an archive in the txtar format of golang.org/x/tools: before each
// stands a line with its name, -- name --. What comes before the first is a comment.
func archived(text string) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		parts := regexp.MustCompile(`(?m)^-- (.+) --\n`).FindAllStringSubmatchIndex(text, -1)
		for i, at := range parts {
			end := len(text)
			if i+1 < len(parts) {
				end = parts[i+1][0]
			}
			if !yield(text[at[2]:at[3]], text[at[1]:end]) {
				return
			}
		}
	}
}

// parse parses a patch. Its first paragraph is the mutant's name. The last one before the diff
// has the other fields, one a line. The paragraphs between are for readers.
func (m *mutant) parse(text string) error {
	header, diff, _ := strings.Cut(text, "\n--- a/")
	paragraphs := strings.Split(strings.TrimSpace(header), "\n\n")
	m.name = strings.TrimSuffix(paragraphs[0], ".")
	for _, line := range strings.Split(paragraphs[len(paragraphs)-1], "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "attacks":
			m.attacks = strings.Split(value, ", ")
		case "kept":
			m.kept = value
		case "killed by":
			pkg, name, _ := strings.Cut(value, ": ")
			m.killer = killer{suite{pkg, ""}, name}
			switch {
			case !strings.HasPrefix(name, "Test"):
				m.killer.how = exploring
			case pkg == "internal/check/costs":
				m.killer.how = counting
			}
		case "ends":
			m.ends = kind(value)
		case "quick":
			m.quick = true
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
			m.hunks = append(m.hunks, hunk{file: file})
		case len(m.hunks) == 0 || !strings.Contains(" -+", line[:1]):
			return fmt.Errorf("the diff has a line %q", line)
		default:
			h := &m.hunks[len(m.hunks)-1]
			if line[0] != '+' {
				h.old = append(h.old, line[1:])
			}
			if line[0] != '-' {
				h.new = append(h.new, line[1:])
			}
		}
	}
	if m.name == "" || m.attacks == nil || m.killer.name == "" || m.hunks == nil || m.ends != "" && !slices.Contains(fates, m.ends) {
		return fmt.Errorf("want a name, attacks, killed by, perhaps ends with one of %q, and hunks", fates)
	}
	if !slices.Contains(grounds, m.kept) {
		return fmt.Errorf("want kept with one of %q: a slip stands for any other mutant", grounds)
	}
	return nil
}

// apply returns the files of the tree at root that m changes, after the change. Hunks are
// applied one after the other.
func (m *mutant) apply(root string) (after map[string]string, err error) {
	after = make(map[string]string)
	for _, h := range m.hunks {
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

// check returns an error that lists the mutants that do not apply to the tree at root, or that
// do not compile then, under the build tags of their killers.
func check(list []mutant, root string) (err error) {
	for _, how := range []string{"", exploring, counting} {
		compiler := newCompiler(root, how)
		for i := range list {
			m := &list[i]
			if m.killer.how != how {
				continue
			}
			after, wrong := m.apply(root)
			if wrong == nil {
				wrong = compiler.compile(after)
			}
			if wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", m.file, wrong))
			}
		}
	}
	return err
}

// kills reports whether a verdict kills m.
func (m *mutant) kills(v verdict) bool {
	return v.kind == interleave.Broken || v.kind == failed || m.ends != "" && v.kind == m.ends
}
