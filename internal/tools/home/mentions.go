package main

import (
	"errors"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
)

// mentions finds the mentions of the module by its path.
//
// A mention of a package is the module's path, a slash and a directory of the module, with
// no path before it: coatcheck/pool, also in "\tcoatcheck/pool", but not
// ../coatcheck/pool, github.com/them/coatcheck/pool or coatcheck/pools. A mention of the
// module is its path with a version or a replacement: coatcheck@v0.0.0 or
// coatcheck=../coatcheck. An import is a package in quotes. The path of a profile of
// net/http/pprof is a mention too. In a go.mod, a mention is the
// path of a module between spaces.
type mentions struct {
	new, version    string
	text, inModFile *regexp.Regexp
}

// newMentions returns the mentions of old in a tree whose root has these folders.
func newMentions(old, new, version string, folders []string) *mentions {
	old = regexp.QuoteMeta(old)
	for i := range folders {
		folders[i] = regexp.QuoteMeta(folders[i])
	}
	return &mentions{
		new:       new,
		version:   version,
		text:      regexp.MustCompile(`(^|[^\w./-]|\\[nt]|/debug/pprof/)` + old + `(/(?:` + strings.Join(folders, "|") + `)(?:_test)?\b|@|=)`),
		inModFile: regexp.MustCompile(`(\s)` + old + `((?:/\S*)?\s)`),
	}
}

// inText renames the mentions in a text.
func (m *mentions) inText(text string) string {
	return m.text.ReplaceAllString(text, "${1}"+m.new+"${2}")
}

// inModule renames the module, the requirements and the replacements of a go.mod, and sets
// the version of a requirement of the module.
func (m *mentions) inModule(text string) (string, error) {
	f, err := modfile.Parse("go.mod", []byte(m.inModFile.ReplaceAllString(text, "${1}"+m.new+"${2}")), nil)
	if err != nil {
		return "", err
	}
	for _, r := range f.Require {
		if r.Mod.Path == m.new {
			if err := f.AddRequire(m.new, m.version); err != nil {
				return "", err
			}
		}
	}
	f.SortBlocks()
	return string(modfile.Format(f.Syntax)), nil
}

// The text of a document between these two is true only while the path has no host.
const (
	homeless = "<!-- home:begin -->"
	housed   = "<!-- home:end -->"
)

// inDocument replaces the text about a module that cannot be fetched by the command that
// fetches it. The document of a module that moves again has the command, which is a mention.
func (m *mentions) inDocument(text string) (string, error) {
	before, rest, found := strings.Cut(text, homeless+"\n")
	if !found {
		return text, nil
	}
	_, after, found := strings.Cut(rest, housed+"\n")
	if !found {
		return "", errors.New(homeless + " without " + housed)
	}
	return before + "```sh\ngo get " + m.new + "/pool@latest\n```\n" + after, nil
}
