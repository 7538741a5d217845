package step

import (
	"fmt"
	"maps"
	"strings"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/wording"
)

// readable draws the most readable part of a result from any server. That is the outcome
// of a test run, the matches of a search, a summary, or what was written. It returns the
// remaining members.
func (o output) readable(p *draw.SheetPage, s *agent.StepState, r map[string]any) map[string]any {
	rest := maps.Clone(r)
	summary, _ := r["summary"].(string)
	switch {
	case wording.IsTestRun(r):
		drawTestRun(p, r)
		for _, name := range []string{"summary", "passed", "failed", "failures", "output"} {
			delete(rest, name)
		}
	case len(wording.MatchLines(r["matches"])) > 0:
		p.Put(draw.NewStyledCode(p.Styles, testStyle(p.Styles), strings.Join(wording.MatchLines(r["matches"]), "\n")))
		delete(rest, "matches")
	case strings.Contains(strings.TrimSpace(summary), "\n"):
		o.drawWords(p, summary)
		delete(rest, "summary")
	case s.Diff != "" && !wording.HasDiff(r):
		p.Put(draw.NewDiff(p.Styles, p.Width, s.Diff))
	default:
		return r
	}
	if len(rest) > 0 {
		p.Blank()
	}
	return rest
}

// drawTestRun draws the outcome of a test run: a sentence, the failures and the
// test output.
func drawTestRun(p *draw.SheetPage, r map[string]any) {
	l := p.Styles
	sign, style := l.Glyphs.Done, l.Success
	if r["passed"] != true {
		sign, style = l.Glyphs.Failed, l.Danger
	}
	summary, _ := r["summary"].(string)
	p.Prose(style, sign+" "+strings.TrimSpace(summary))
	failures := wording.FailureLines(r["failures"])
	if len(failures) == 0 {
		names, _ := r["failed"].([]any)
		for _, name := range names {
			failures = append(failures, fmt.Sprint(name))
		}
	}
	if len(failures) > 0 {
		p.Blank()
		p.Put(draw.NewText(l, l.Danger, strings.Join(failures, "\n")))
	}
	if output, _ := r["output"].(string); strings.TrimSpace(output) != "" {
		p.Blank()
		p.Put(guidedCode(p, strings.Trim(output, "\n"), languageTest))
	}
}
