package main

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// mentions finds the mentions of the module by its path.
//
// A mention of a package is the module's path, a slash and a directory of the module, with
// no path before it: coatcheck/pool, also in "\tcoatcheck/pool", but not
// ../coatcheck/pool, github.com/them/coatcheck/pool or coatcheck/pools. A mention of the
// module is its path with a version or a replacement: coatcheck@v0.0.0 or
// coatcheck=../coatcheck. An import is a package in quotes.
type mentions struct {
	old, new string
	pattern  *regexp.Regexp
}

// newMentions returns the mentions of old in a tree that has the files names.
func newMentions(old, new string, names []string) (*mentions, error) {
	var tops []string
	for _, name := range names {
		if top, _, nested := strings.Cut(name, "/"); nested && !strings.HasPrefix(top, ".") {
			tops = append(tops, regexp.QuoteMeta(top))
		}
	}
	slices.Sort(tops)
	pattern, err := regexp.Compile(`(^|[^\w./-]|\\[nt])` + regexp.QuoteMeta(old) +
		`(/(?:` + strings.Join(slices.Compact(tops), "|") + `)(?:_test)?\b|@|=)`)
	return &mentions{old, new, pattern}, err
}

// inText renames the mentions in a text.
func (m *mentions) inText(text []byte) []byte {
	return m.pattern.ReplaceAll(text, []byte("${1}"+m.new+"${2}"))
}

// inModule renames the module, the requirements and the replacements of a go.mod.
func (m *mentions) inModule(name string, text []byte) ([]byte, error) {
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	if p, ours := m.moved(f.Module.Mod.Path); ours {
		if err := f.AddModuleStmt(p); err != nil {
			return nil, err
		}
	}
	for _, r := range f.Require {
		m.inLine(r.Syntax, r.Mod.Path)
	}
	for _, r := range f.Replace {
		m.inLine(r.Syntax, r.Old.Path)
	}
	f.SortBlocks()
	return modfile.Format(f.Syntax), nil
}

// inLine renames the module p in a line of a go.mod, if it is in this tree. Package modfile
// has no function for it that keeps the line in its block.
func (m *mentions) inLine(line *modfile.Line, p string) {
	if to, ours := m.moved(p); ours {
		line.Token[slices.Index(line.Token, p)] = to
	}
}

// moved returns the new path of a module, and reports whether it is in this tree.
func (m *mentions) moved(p string) (string, bool) {
	rest, ours := strings.CutPrefix(p, m.old)
	return m.new + rest, ours && (rest == "" || rest[0] == '/')
}

// The text of the README between these two is true only while the path has no host.
const (
	homeless = "<!-- home:begin -->"
	housed   = "<!-- home:end -->"
)

// inReadme replaces the text about a module that cannot be fetched by the command that
// fetches it. The README of a module that moves again has the command, which is a mention.
func (m *mentions) inReadme(text []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(text, []byte(homeless+"\n"))
	if !found {
		return text, nil
	}
	_, after, found := bytes.Cut(rest, []byte(housed+"\n"))
	if !found {
		return nil, errors.New(homeless + " without " + housed)
	}
	return slices.Concat(before, []byte("```sh\ngo get "+m.new+"@latest\n```\n"), after), nil
}
