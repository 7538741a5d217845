package tui

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"replan/agent"
	"replan/tui/untrusted"
)

// readable draws what a person would read first of a result, whichever server it
// is from: how a test run went, what a search found, what was written. It returns
// the members that are left.
func (d *detailPane) readable(p *sheetPage, s *agent.StepState, r map[string]any) map[string]any {
	rest := maps.Clone(r)
	switch {
	case isTestRun(r):
		d.drawTestRun(p, r)
		for _, name := range []string{"summary", "passed", "failed", "failures", "output"} {
			delete(rest, name)
		}
	case len(matchLines(r["matches"])) > 0:
		lines := matchLines(r["matches"])
		p.put(&text{look: d.look, lines: lines, style: d.look.testStyle})
		delete(rest, "matches")
	case s.Diff != "" && !hasDiff(r):
		p.put(newDiff(d.look, p.width, s.Diff))
	default:
		return r
	}
	if len(rest) > 0 {
		p.blank()
	}
	return rest
}

func hasDiff(r map[string]any) bool {
	return r["diff"] != nil || r["patch"] != nil
}

// isTestRun reports whether a result says how tests went.
func isTestRun(r map[string]any) bool {
	_, says := r["summary"].(string)
	_, passed := r["passed"].(bool)
	return says && passed
}

// drawTestRun draws how tests went: in a sentence, by what failed, and by what
// they wrote.
func (d *detailPane) drawTestRun(p *sheetPage, r map[string]any) {
	l := d.look
	sign, style := l.glyphs.Done, l.Success
	if r["passed"] != true {
		sign, style = l.glyphs.Failed, l.Danger
	}
	summary, _ := r["summary"].(string)
	p.prose(style, sign+" "+strings.TrimSpace(summary))
	failures := failureLines(r["failures"])
	if len(failures) == 0 {
		names, _ := r["failed"].([]any)
		for _, name := range names {
			failures = append(failures, fmt.Sprint(name))
		}
	}
	if len(failures) > 0 {
		p.blank()
		p.put(newText(l, l.Danger, strings.Join(failures, "\n")))
	}
	if output, _ := r["output"].(string); strings.TrimSpace(output) != "" {
		p.blank()
		p.put(p.block(strings.Trim(output, "\n"), languageTest))
	}
}

// failureLines is each test that failed with where and why.
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

// matchLines is what a search found, a line each: path:line: text. It is nothing
// where one of them is something else.
func matchLines(value any) (lines []string) {
	list, _ := value.([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		place := placeOf(m["path"], m["line"])
		found, ok := m["text"].(string)
		if place == "" || !ok {
			return nil
		}
		lines = append(lines, place+": "+untrusted.Line(found))
	}
	return lines
}

// placeOf is a line of a file, "" where there is none.
func placeOf(file, line any) string {
	path, _ := file.(string)
	if path == "" {
		return ""
	}
	switch n := line.(type) {
	case float64:
		return fmt.Sprintf("%s:%.0f", untrusted.Line(path), n)
	case json.Number: // as events carry it
		return untrusted.Line(path) + ":" + untrusted.Line(n.String())
	case int:
		return fmt.Sprintf("%s:%d", untrusted.Line(path), n)
	default:
		return untrusted.Line(path)
	}
}
