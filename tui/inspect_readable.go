package tui

import (
	"fmt"
	"maps"
	"strings"

	"replan/agent"
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
		p.put(&text{look: d.look, lines: lines, style: testStyle(d.look)})
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
		p.put(guidedCode(p, strings.Trim(output, "\n"), languageTest))
	}
}
