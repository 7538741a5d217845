package data

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"replan/internal/tomledit"
)

// tomlFormat is TOML.
type tomlFormat struct{}

func (tomlFormat) slots(document string) ([]slot, error) {
	var (
		p      unstable.Parser
		all    []slot
		within string
	)
	lists := map[string]int{} // how many tables a [[list]] has so far
	data := []byte(document)
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			within = elementOf(keyOf(e), lists)
		case unstable.ArrayTable:
			name := keyOf(e)
			within = below(elementOf(name, lists), fmt.Sprint(lists[name]))
			lists[name]++
		case unstable.KeyValue:
			all = append(all, keyValues(data, e, within)...)
		default:
		}
	}
	return all, p.Error()
}

// elementOf returns the key of a table below the last one of a list.
func elementOf(name string, lists map[string]int) string {
	for list, n := range lists {
		if rest, ok := strings.CutPrefix(name, list+"."); ok {
			return fmt.Sprintf("%s.%d.%s", list, n-1, rest)
		}
	}
	return name
}

func keyOf(n *unstable.Node) string {
	var parts []string
	for it := n.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, ".")
}

// keyValues returns the slots of a key with its value, and of those in an inline table.
func keyValues(data []byte, e *unstable.Node, within string) []slot {
	at := 0
	for it := e.Key(); it.Next(); {
		at = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	end := int(e.Raw.Offset + e.Raw.Length)
	at += bytes.IndexByte(data[at:end], '=') + 1
	at += len(data[at:end]) - len(bytes.TrimLeft(data[at:end], " \t"))
	s := slot{key: below(within, keyOf(e)), start: at, end: at + len(bytes.TrimRight(data[at:end], " \t\r\n"))}
	all := []slot{s}
	if e.Value().Kind == unstable.InlineTable {
		for it := e.Value().Children(); it.Next(); {
			all = append(all, keyValues(data, it.Node(), s.key)...)
		}
	}
	return all
}

func (tomlFormat) quote(old, text string) (string, error) {
	switch {
	case strings.HasPrefix(old, "'") && !strings.HasPrefix(old, "'''") && !strings.ContainsAny(text, "'\n"):
		return "'" + text + "'", nil
	case strings.HasPrefix(old, `"`) || strings.HasPrefix(old, "'"):
		return quoted(text), nil
	}
	var decoded map[string]any
	if err := toml.Unmarshal([]byte("value = "+text), &decoded); err != nil {
		return "", fmt.Errorf("the value there is %s; %q is no value of TOML of that kind", old, text)
	}
	return text, nil
}

func (tomlFormat) add(document, key, value string) (string, bool, error) {
	if !plainLiteral(value) || toml.Unmarshal([]byte("value = "+value), new(map[string]any)) != nil {
		value = quoted(value)
	}
	section, name, below := strings.Cut(key, ".")
	if !below {
		at := len(document) // before the first table
		for n := 0; n < len(document); {
			line, _, _ := strings.Cut(document[n:], "\n")
			if strings.HasPrefix(strings.TrimSpace(line), "[") {
				at = n
				break
			}
			n += len(line) + 1
		}
		head := document[:at]
		line := key + " = " + value + "\n"
		if kept := strings.TrimRight(head, "\r\n"); kept == "" {
			return line + head + document[at:], true, nil
		} else if len(kept) < len(head) {
			return kept + "\n" + line + head[len(kept)+1:] + document[at:], true, nil
		}
		return head + "\n" + line + document[at:], true, nil
	}
	if strings.Contains(name, ".") || !strings.Contains(document, section) {
		return "", false, nil
	}
	after, err := tomledit.Set([]byte(document), section, name, value)
	return string(after), err == nil, err
}
