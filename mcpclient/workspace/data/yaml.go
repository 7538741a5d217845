package data

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// yamlFormat is YAML. Only its scalars in one line can be set.
type yamlFormat struct{}

func (yamlFormat) slots(document string) ([]slot, error) {
	var all []slot
	lines := strings.SplitAfter(document, "\n")
	starts := make([]int, len(lines)+1)
	for i, line := range lines {
		starts[i+1] = starts[i] + len(line)
	}
	decoder := yaml.NewDecoder(strings.NewReader(document))
	for {
		var root yaml.Node
		if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var walk func(n *yaml.Node, key string)
		walk = func(n *yaml.Node, key string) {
			switch n.Kind {
			case yaml.DocumentNode:
				for _, child := range n.Content {
					walk(child, key)
				}
			case yaml.MappingNode:
				for i := 0; i+1 < len(n.Content); i += 2 {
					walk(n.Content[i+1], below(key, n.Content[i].Value))
				}
			case yaml.SequenceNode:
				for i, child := range n.Content {
					walk(child, below(key, fmt.Sprint(i)))
				}
			case yaml.ScalarNode:
				if n.Line >= 1 && n.Line <= len(lines) {
					all = append(all, scalar(document, starts[n.Line-1], n, key))
				}
			}
		}
		walk(&root, "")
	}
}

// scalar returns the slot of a scalar in the line that begins at an offset.
func scalar(document string, line int, n *yaml.Node, key string) slot {
	start := line
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(document[start:])
		start += size
	}
	s := slot{key: key, start: start, end: start}
	rest, _, _ := strings.Cut(document[start:], "\n")
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		s.fixed = "is a text of several lines"
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		end := closing(rest)
		if s.end += end; end == 0 {
			s.fixed = "is a text of several lines"
		}
	case n.Value == "" || !strings.HasPrefix(rest, n.Value):
		s.fixed = "is written in an unusual way"
	default:
		s.end += len(n.Value)
	}
	return s
}

// closing returns the length of the quoted text that a line begins with; 0 if it does
// not end in the line.
func closing(line string) int {
	for i := 1; i < len(line) && (line[0] == '"' || line[0] == '\''); i++ {
		switch {
		case line[0] == '"' && line[i] == '\\':
			i++
		case line[i] != line[0]:
		case line[0] == '\'' && strings.HasPrefix(line[i+1:], "'"):
			i++
		default:
			return i + 1
		}
	}
	return 0
}

func (yamlFormat) quote(old, text string) (string, error) {
	switch {
	case strings.HasPrefix(old, `"`):
		return quoted(text), nil
	case strings.HasPrefix(old, "'") && !strings.Contains(text, "\n"):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
	}
	var as map[string]any
	if err := yaml.Unmarshal([]byte("v: "+text), &as); err == nil && as["v"] == text {
		return text, nil
	}
	return quoted(text), nil
}

func (yamlFormat) add(string, string, string) (string, bool, error) { return "", false, nil }
