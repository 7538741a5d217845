package intent

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"replan/internal/english"
	"replan/internal/markdown"
)

// The bounds of an answer. The rest is counted and left out.
const (
	maxRows  = 30    // of a list
	maxLines = 120   // of a fence
	maxSpan  = 200   // characters of one line
	maxNote  = 800   // characters of an operator's note
	maxProse = 12000 // bytes of text that a summary brings along
)

// code quotes a text as a span of code, as far as a row shows it.
func code(text string) string { return markdown.Code(text, maxSpan) }

// fence quotes a text as a block of code, as far as an answer shows it.
func fence(language, text string) string { return markdown.Fence(language, text, maxLines) }

// noted is an operator's remark on its result, as a paragraph of its own.
func noted(v value) string {
	if note := markdown.Code(v.at("note").text(), maxNote); note != "" {
		return "\n\nNote: " + note
	}
	return ""
}

// plain writes a text that should be one of an operator's own words, such as
// func or types; anything else becomes a code span.
func plain(text string) string {
	if text != "" && len(text) <= 20 && strings.Trim(text, lowercase+" ") == "" {
		return strings.TrimSpace(text)
	}
	return code(text)
}

// prose copies Markdown of an operator, cut if it is long. A fence left open by
// the cut is closed.
func prose(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "�"))
	cut := len(text) > maxProse
	if cut {
		text = strings.ToValidUTF8(text[:maxProse], "")
		if at := strings.LastIndexByte(text, '\n'); at > 0 {
			text = text[:at]
		}
	}
	open := ""
	for _, line := range strings.Split(text, "\n") {
		bare := strings.TrimLeft(line, " ")
		for _, mark := range []string{"`", "~"} {
			run := bare[:len(bare)-len(strings.TrimLeft(bare, mark))]
			rest := strings.TrimSpace(bare[len(run):])
			switch {
			case len(run) < 3 || len(bare) < len(line)-3:
			case open == "" && (mark == "~" || !strings.Contains(rest, "`")):
				open = run
			case open != "" && strings.HasPrefix(run, open) && rest == "":
				open = ""
			}
		}
	}
	if open != "" {
		text += "\n" + open
	}
	if cut {
		text += "\n\n… and more"
	}
	return text
}

// rows writes a list of things that a noun names; those beyond the bound are
// counted. total is how many there are altogether, where the list is cut already.
func rows(lines []string, total int, noun string) string {
	rest := max(total, len(lines)) - min(len(lines), maxRows)
	lines = lines[:min(len(lines), maxRows)]
	text := ""
	if len(lines) > 0 {
		text = "- " + strings.Join(lines, "\n- ")
	}
	if rest > 0 {
		text += "\n\n… and " + english.Count(rest, "more "+noun)
	}
	return text
}

// value is a JSON value of any shape; a missing part is the zero value of its
// type.
type value struct{ v any }

func (v value) at(key string) value {
	fields, _ := v.v.(map[string]any)
	return value{fields[key]}
}

func (v value) isObject() bool { _, ok := v.v.(map[string]any); return ok }

func (v value) list() []value {
	items, _ := v.v.([]any)
	all := make([]value, len(items))
	for i, item := range items {
		all[i] = value{item}
	}
	return all
}

func (v value) text() string {
	switch s := v.v.(type) {
	case string:
		return s
	case json.Number:
		return s.String()
	}
	return ""
}

func (v value) flag() bool { b, _ := v.v.(bool); return b }

func (v value) number() int {
	var f float64
	switch n := v.v.(type) {
	case json.Number:
		f, _ = n.Float64()
	case float64:
		f = n
	case int:
		return n
	}
	if math.IsNaN(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return 0
	}
	return int(f)
}

// place is path:line as a code span.
func (v value) place() string {
	where := v.at("path").text()
	if where == "" {
		where = v.at("file").text()
	}
	if line := v.at("line").number(); line > 0 && where != "" {
		where = fmt.Sprintf("%s:%d", where, line)
	}
	return code(where)
}

// filesAre counts files as the subject of a sentence.
func filesAre(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return english.Count(n, "file") + " are"
}
