package wording

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/patch"
)

// isTestRun reports whether a result describes a test run.
func isTestRun(r map[string]any) bool {
	_, summarized := r["summary"].(string)
	_, passed := r["passed"].(bool)
	return summarized && passed
}

// failureLines returns each failed test with its location and reason.
func failureLines(value any) (lines []string) {
	list, _ := value.([]any)
	for _, v := range list {
		f, ok := v.(map[string]any)
		if !ok {
			continue
		}
		name, _ := f["name"].(string)
		message, _ := f["message"].(string)
		if place := placeOf(f["file"], f["line"]); place != "" {
			name += "  " + place
		}
		lines = append(lines, strings.TrimSpace(name))
		for line := range strings.SplitSeq(strings.Trim(message, "\n"), "\n") {
			if line != "" {
				lines = append(lines, "  "+line)
			}
		}
	}
	return lines
}

// placeOf formats a line of a file, or returns "" if there is none.
func placeOf(file, line any) string {
	path, _ := file.(string)
	if path == "" {
		return ""
	}
	switch n := line.(type) {
	case float64:
		return fmt.Sprintf("%s:%.0f", untrusted.Line(path), n)
	case json.Number: // the type used in events
		return untrusted.Line(path) + ":" + untrusted.Line(n.String())
	case int:
		return fmt.Sprintf("%s:%d", untrusted.Line(path), n)
	default:
		return untrusted.Line(path)
	}
}

// placesOf formats places in files as lines of the form path:line: text, with
// missing parts left out. It returns nothing if any item has a different form.
func placesOf(value any) (lines []string) {
	list, _ := value.([]any)
	for _, v := range list {
		item, _ := v.(map[string]any)
		line := placeOf(item["path"], item["line"])
		if line == "" {
			return nil
		}
		if text, _ := item["text"].(string); strings.TrimSpace(text) != "" {
			line += ": " + strings.TrimSpace(text)
		}
		lines = append(lines, line)
	}
	return lines
}

// ResultLines formats the most readable part of a result: the outcome of a test run
// with its failures, or the places found. It returns nothing if the result has
// neither.
func ResultLines(result any) []string {
	members, _ := result.(map[string]any)
	if isTestRun(members) {
		return append([]string{summaryOf(members)}, failureLines(members["failures"])...)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if lines := placesOf(members[name]); len(lines) > 0 && members["diff"] == nil {
			return lines
		}
	}
	return nil
}

// summaryOf returns the sentence of a test run about its outcome.
func summaryOf(r map[string]any) string {
	summary, _ := r["summary"].(string)
	return untrusted.FirstLine(strings.TrimSpace(summary))
}

// counted lists the members of results that are lists, with the noun for one item.
var counted = []struct{ member, noun string }{
	{"matches", "match"},
	{"references", "reference"},
	{"definitions", "definition"},
	{"symbols", "symbol"},
	{"entries", "entry"},
	{"commits", "commit"},
	{"findings", "finding"},
	{"projects", "project"},
}

// ResultText returns the text of a result that came with files, with a line for
// each file, and false for any other result.
func ResultText(result any) (string, bool) {
	text, files, ok := plan.FilesOf(result)
	for _, f := range files {
		text += fmt.Sprintf("\n%s, %s: %s", f.Type, TextSize(f.Bytes), f.File)
	}
	return text, ok
}

// ResultWords says in a few words what a step found or did, or returns "" if its
// result does not show that.
func ResultWords(result any) string {
	if text, ok := result.(string); ok && text != "" {
		return english.Count(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line")
	}
	if _, files, ok := plan.FilesOf(result); ok {
		return english.Count(len(files), "file")
	}
	members, _ := result.(map[string]any)
	if isTestRun(members) {
		return summaryOf(members)
	}
	for _, c := range counted {
		if list, ok := members[c.member].([]any); ok {
			return english.Count(len(list), c.noun)
		}
	}
	if diff, _ := members["diff"].(string); diff != "" {
		p := patch.Parse(diff)
		return fmt.Sprintf("%s +%d -%d", english.Count(len(p.Files), "file"), p.Added, p.Removed)
	}
	return ""
}
