package intent

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
)

// The bounds of an answer. What is beyond them is counted and left out.
const (
	maxRows  = 30    // of a list
	maxLines = 120   // of what stands in a fence
	maxSpan  = 200   // characters of one line
	maxNote  = 800   // characters of what an operator remarks
	maxProse = 12000 // bytes of text that a summary brings along
)

// code writes a text as a Markdown code span on one line, whatever it holds.
// It is empty where the text is.
func code(text string) string { return span(text, maxSpan) }

// noted is what an operator remarks on its result, as a paragraph of its own.
func noted(v value) string {
	if note := span(v.at("note").text(), maxNote); note != "" {
		return "\n\nNote: " + note
	}
	return ""
}

// span is code with a bound of its own.
func span(text string, bound int) string {
	text = brief(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "�")), bound)
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// plain writes a text that should be one of an operator's own words, such as
// func or types; anything else becomes a code span.
func plain(text string) string {
	if text != "" && len(text) <= 20 && strings.Trim(text, lowercase+" ") == "" {
		return strings.TrimSpace(text)
	}
	return code(text)
}

// fence writes a text as a fenced block, cut where it is long.
func fence(language, text string) string {
	text = strings.TrimRight(strings.ToValidUTF8(text, "�"), "\n")
	lines := strings.Split(text, "\n")
	cut := len(lines) - maxLines
	if cut > 0 {
		lines = lines[:maxLines]
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > maxSpan {
			lines[i] = string(runes[:maxSpan-1]) + "…"
		}
	}
	text = strings.Join(lines, "\n")
	marks := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	block := marks + language + "\n" + text + "\n" + marks
	if cut > 0 {
		block += "\n\n… and " + count(cut, "more line", "more lines")
	}
	return block
}

// prose takes over Markdown that an operator wrote, cut where it is long. A
// fence that the cut leaves open is closed.
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

// longestRun is the length of the longest run of a mark.
func longestRun(text string, mark rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != mark {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// rows writes a list; what is beyond the bound is counted. total is how many
// there are altogether, where more were found than stand in the list.
func rows(lines []string, total int, one, many string) string {
	total = max(total, len(lines))
	if len(lines) > maxRows {
		lines = lines[:maxRows]
	}
	text := ""
	if len(lines) > 0 {
		text = "- " + strings.Join(lines, "\n- ")
	}
	if rest := total - len(lines); rest > 0 {
		text += fmt.Sprintf("\n\n… and %s", count(rest, "more "+one, "more "+many))
	}
	return text
}

// count writes a number with the word for what is counted.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// value is a JSON value of any shape that something is looked for in; what is
// not there is the zero value of its kind.
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
