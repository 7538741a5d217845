package retrieval

import (
	"encoding/json"
	"slices"
	"strings"
)

// finders are the terms in names of tools that find things.
var finders = parts("search find list get query lookup resolve retrieve")

// neededID is a required argument that is an id.
type neededID struct {
	name  string
	terms []string // of its name, without "id"
	about string   // the terms of its description, with blanks around each
}

// neededIDs returns the ids that a tool requires.
func neededIDs(t *tool) []neededID {
	var schema struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if len(t.InputSchema) > longest || json.Unmarshal(t.InputSchema, &schema) != nil {
		return nil
	}
	var ids []neededID
	for _, name := range schema.Required {
		terms := parts(name)
		if at := slices.Index(terms, "id"); at >= 0 {
			about := " " + strings.Join(parts(schema.Properties[name].Description), " ") + " "
			ids = append(ids, neededID{name, slices.Delete(terms, at, at+1), about})
		}
	}
	return ids
}

// foundBy reports whether a tool, whose name has these terms, finds the id. It finds what
// the id is of, or the description of the id names the tool. It must not need the id.
func (id neededID) foundBy(t *tool, name []string) bool {
	n := len(name)
	named := n >= 2 && strings.Contains(id.about, " "+strings.Join(name[n-2:], " ")+" ")
	if !named && (!slices.ContainsFunc(id.terms, func(term string) bool { return slices.Contains(name, term) }) ||
		!slices.ContainsFunc(name, func(term string) bool { return slices.Contains(finders, term) })) {
		return false
	}
	return !slices.ContainsFunc(neededIDs(t), func(other neededID) bool { return other.name == id.name })
}

// parts lists the terms of a text, and those of a compound such as createIssue without
// the compound itself.
func parts(text string) (terms []string) {
	var b strings.Builder
	for i := range len(text) {
		if i > 0 && isUpper(text[i]) && isLower(text[i-1]) {
			b.WriteByte(' ')
		}
		b.WriteByte(text[i])
	}
	newSplitter(func(term []byte) { terms = append(terms, string(term)) }).split(b.String())
	return terms
}
