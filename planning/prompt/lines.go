package prompt

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// linesOf writes a result that is a list of places, declarations, files or commits as
// lines. A model reads these in a third of the tokens of JSON, and quotes them better. ok
// is false for any other result.
func linesOf(v any) (text string, ok bool) {
	object, isObject := v.(map[string]any)
	if !isObject {
		return "", false
	}
	for _, list := range []struct {
		field string
		line  func(map[string]any) string
		none  string
	}{
		{"matches", placeLine, "no line matches"},
		{"references", placeLine, "no uses"},
		{"symbols", declarationLine, "no declarations"},
		{"definitions", declarationLine, "no declarations"},
		{"entries", entryLine, "no files"},
		{"commits", commitLine, "no commits"},
	} {
		items, isList := object[list.field].([]any)
		if !isList {
			continue
		}
		lines := make([]string, 0, len(items)+2)
		for _, item := range items {
			fields, isObject := item.(map[string]any)
			line := ""
			if isObject {
				line = list.line(fields)
			}
			if line == "" {
				return "", false // of another tool, with other fields
			}
			lines = append(lines, line)
		}
		if len(lines) == 0 {
			lines = append(lines, list.none)
		}
		if note, _ := object["note"].(string); note != "" {
			lines = append(lines, note)
		}
		if cut, _ := object["truncated"].(bool); cut || list.field == "commits" && more(object["total"], len(items)) {
			lines = append(lines, "… and more"+ofAll(object["total"]))
		}
		return strings.Join(append(lines, others(object, list.field)...), "\n"), true
	}
	return changeLines(object)
}

// more reports whether a total says that a list of this length is not whole.
func more(total any, length int) bool {
	n, err := strconv.Atoi(plan.CanonicalJSON(total))
	return err == nil && n > length
}

// ofAll says how many there are in all, "" if that is unknown.
func ofAll(total any) string {
	if total == nil {
		return ""
	}
	return ", of " + plan.CanonicalJSON(total) + " in all"
}

// silent are the fields that repeat the call, or that the lines say already.
var silent = strings.Fields("path by symbol name kind definition total files added removed edits hashes truncated note")

// others writes the fields that the lines do not show, such as the diagnostics of a change.
func others(object map[string]any, shown ...string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text := plan.CanonicalJSON(object[name])
		if slices.Contains(silent, name) || slices.Contains(shown, name) || slices.Contains([]string{"null", `""`, "[]", "{}"}, text) {
			continue
		}
		lines = append(lines, name+": "+text)
	}
	return lines
}

// placeLine is a line of a file.
func placeLine(fields map[string]any) string {
	at, text := textOf(fields, "path"), textOf(fields, "text")
	if at == "" {
		return ""
	}
	lines := []string{at + ":" + plan.CanonicalJSON(fields["line"]) + ": " + strings.TrimSpace(text)}
	before, _ := fields["before"].([]any)
	after, _ := fields["after"].([]any)
	for _, around := range slices.Concat(before, after) {
		if line, ok := around.(string); ok {
			lines = append(lines, "    "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// declarationLine is a declaration with its place.
func declarationLine(fields map[string]any) string {
	at, signature := textOf(fields, "path"), textOf(fields, "signature")
	if signature == "" {
		signature = strings.TrimSpace(textOf(fields, "text"))
	}
	if at == "" || signature == "" {
		return ""
	}
	line := at + ":" + plan.CanonicalJSON(fields["line"]) + ": " + signature
	var notes []string
	if exported, known := fields["exported"].(bool); known && exported {
		notes = append(notes, "exported")
	} else {
		notes = append(notes, "not exported")
	}
	if textOf(fields, "doc") == "" {
		notes = append(notes, "no doc comment")
	}
	return line + " (" + strings.Join(notes, ", ") + ")"
}

// entryLine is a file or a folder.
func entryLine(fields map[string]any) string {
	at := textOf(fields, "path")
	for name := range fields {
		if !slices.Contains([]string{"path", "type", "size"}, name) {
			return "" // of another tool, which says more
		}
	}
	if at != "" && (fields["type"] == "dir" || fields["type"] == "folder") {
		at += "/"
	}
	return at
}

// commitLine is a commit in one line, and the rest of its message below.
func commitLine(fields map[string]any) string {
	hash, subject := textOf(fields, "hash"), textOf(fields, "subject")
	if hash == "" || subject == "" {
		return ""
	}
	line := hash[:min(len(hash), 7)] + " " + subject
	if about := strings.TrimSpace(textOf(fields, "author") + " " + firstRunes(textOf(fields, "date"), len("2006-01-02"))); about != "" {
		line += " (" + about + ")"
	}
	if body := strings.TrimSpace(textOf(fields, "body")); body != "" {
		line += "\n    " + strings.ReplaceAll(body, "\n", "\n    ")
	}
	return line
}

// changeLines writes a result with a diff: what there is besides, and the diff as it is.
func changeLines(object map[string]any) (string, bool) {
	diff, ok := object["diff"].(string)
	if !ok {
		return "", false
	}
	var lines []string
	if hash := textOf(object, "hash"); hash != "" {
		lines = append(lines, "commit "+hash[:min(len(hash), 7)])
	}
	texts := []string{"author", "date", "message", "subject", "body", "note"}
	for _, name := range texts {
		if text := strings.TrimSpace(textOf(object, name)); text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	lines = append(lines, others(object, append(texts, "diff", "hash")...)...)
	if cut, _ := object["truncated"].(bool); cut {
		lines = append(lines, "… the diff is longer than this")
	}
	if files, isList := object["files"].([]any); isList && diff == "" {
		lines = append(lines, "files: "+plan.CanonicalJSON(files))
	}
	return strings.TrimSpace(strings.Join(append(lines, diff), "\n")), true
}

// textOf returns a field that is text, "" if it is not.
func textOf(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	return text
}
