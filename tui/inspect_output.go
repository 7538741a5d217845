package tui

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/tui/untrusted"
)

// languageTest is the language of what tests write.
const languageTest = "test output"

// besideFrom is the width from which what was expected stands right of the
// output, in cells; below it it stands above.
const besideFrom = 80

// besides is the width of the column for what was expected, 0 where there is none.
func (d *detailPane) besides(s *agent.StepState) int {
	if d.tab != tabOutput || d.width < besideFrom || s.Step.ExpectedOutcome == "" {
		return 0
	}
	return d.width / 3
}

// besideOutput puts what was expected right of the output.
func (d *detailPane) besideOutput(s *agent.StepState, body []string, width int) []string {
	l := d.look
	right := []string{l.Accent.Render("expected")}
	right = append(right, paint(l.Text, wrap(untrusted.Visible(s.Step.ExpectedOutcome), width-2))...)
	out := make([]string, len(body))
	for i, line := range body {
		out[i] = line + l.Border.Render(" "+l.glyphs.Guide) + " " + l.fit(at(right, i), width-1)
	}
	return out
}

// drawSoFar draws what was expected, how far the step has come and why it failed.
func (d *detailPane) drawSoFar(p *sheetPage, s *agent.StepState) {
	l := d.look
	if s.Step.ExpectedOutcome != "" && d.besides(s) == 0 {
		p.field("expects", l.Text, s.Step.ExpectedOutcome)
	}
	if pr := s.Progress; s.Status == agent.StepActive && (pr.Total > 0 || pr.Message != "") {
		text := untrusted.Line(pr.Message)
		if pr.Total > 0 {
			text = strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*pr.Done/pr.Total, text))
		}
		p.prose(l.Muted, text)
	}
}

// drawOutput draws what came of the step so far.
func (d *detailPane) drawOutput(p *sheetPage, s *agent.StepState) {
	l := d.look
	gap := func() { p.lines = append(p.lines, "") }
	if s.Error != "" {
		gap()
		failure := newText(l, l.Danger, strings.TrimSpace(s.Error))
		if d.languageOf(s, "", s.Error) == languageTest {
			p.put(newText(l, l.Danger, failure.lines[0]))
			failure.lines, failure.prose, failure.style = failure.lines[1:], false, testStyle(l)
		}
		p.put(failure)
	}
	switch {
	case s.Status == agent.StepDone:
		gap()
		d.drawResult(p, s)
	case s.Output == "" && s.Loop != nil && s.Loop.Text != "":
		gap()
		p.put(newText(l, l.Text, strings.TrimSpace(s.Loop.Text)))
	case s.Output != "" && !strings.Contains(s.Error, strings.TrimSpace(s.Output)):
		gap()
		t := newText(l, l.Text, s.Output)
		t.prose, t.style = false, testStyle(l)
		p.put(t)
	case s.Error == "":
		gap()
		p.prose(l.Faint, "No output so far.")
	}
}

// drawResult draws what the step gave: text by what it is, an object by its
// members.
func (d *detailPane) drawResult(p *sheetPage, s *agent.StepState) {
	l := d.look
	switch r := s.Result.(type) {
	case nil:
		p.prose(l.Faint, "It gave no result.")
	case string:
		switch language := d.languageOf(s, "", r); language {
		case "":
			p.put(newText(l, l.Text, r))
		case "diff":
			p.put(newDiff(l, p.width, r))
		case languageTest:
			t := newCode(l, "", r)
			t.style = testStyle(l)
			p.put(t)
		default:
			p.put(newCode(l, language, r))
		}
	case map[string]any:
		r = d.readable(p, s, r)
		names, column := p.order(r)
		for _, name := range names {
			if text, ok := r[name].(string); ok && d.languageOf(s, name, text) == "diff" {
				p.lines = append(p.lines, l.Accent.Render(l.cut(untrusted.Line(name), p.width)))
				p.put(newDiff(l, p.width, text))
				continue
			}
			writeArgument(p, name, column, r[name], d.languageOf(s, name, r[name]))
		}
	default:
		p.put(newCode(l, "json", jsonText(r, "  ")))
	}
}

// languageOf guesses what a text is, for its colours: the value of a member of a
// call or a result, or with no name all of the result. "" is nothing that is
// known.
func (d *detailPane) languageOf(s *agent.StepState, name string, value any) string {
	written, ok := value.(string)
	if !ok {
		return "json"
	}
	start := strings.TrimSpace(written[:min(len(written), 512)])
	switch {
	case name == "diff", name == "patch", isDiff(start):
		return "diff"
	case isJSON(start) && strings.Contains(written, "\n"):
		return "json"
	case strings.HasPrefix(s.Step.Tool, "test."), strings.HasPrefix(s.Step.Tool, "proc."), name == "output":
		return languageTest
	}
	switch name {
	case "", "text", "content", "contents", "code", "old", "new", "source", "body":
		for _, key := range []string{"path", "file", "filename", "file_path"} {
			if file, ok := callArgs(s)[key].(string); ok && path.Ext(file) != "" {
				return path.Base(file)
			}
		}
	}
	return ""
}

func isDiff(start string) bool {
	return strings.HasPrefix(start, "diff --git ") || strings.HasPrefix(start, "--- ") && strings.Contains(start, "\n+++ ")
}

func isJSON(start string) bool {
	return strings.HasPrefix(start, "{\n") || strings.HasPrefix(start, "[\n") || strings.HasPrefix(start, `{"`) || strings.HasPrefix(start, `[{`)
}

var (
	testFailed = regexp.MustCompile(`^\s*(--- FAIL|FAIL|FAILED|Error|ERROR|error|panic:|E  |✗|✘|×|not ok)`)
	testPassed = regexp.MustCompile(`^\s*(--- PASS|PASS|PASSED|ok\b|✓|✔|\d+ passed)`)
	testAside  = regexp.MustCompile(`^\s*(=== |#|\?  |--- SKIP|SKIP|\$ )`)
	testPlace  = regexp.MustCompile(`^\s*[^\s:]+\.\w+:\d+`)
)

// testStyle is the style of a line that a test run wrote, by what it says.
func testStyle(l *look) func(line string) lipgloss.Style {
	return func(line string) lipgloss.Style {
		switch {
		case testFailed.MatchString(line):
			return l.Danger
		case testPassed.MatchString(line):
			return l.Success
		case testAside.MatchString(line):
			return l.Faint
		case testPlace.MatchString(line):
			return l.Warning
		default:
			return l.Text
		}
	}
}

// outputText is what came of the step as text that can be copied.
func outputText(s *agent.StepState) string {
	switch r := s.Result.(type) {
	case string:
		return r
	case nil:
	default:
		return jsonText(r, "  ") + "\n"
	}
	if s.Output == "" && s.Loop != nil && s.Loop.Text != "" {
		return s.Loop.Text
	}
	if s.Output == "" || strings.Contains(s.Error, strings.TrimSpace(s.Output)) {
		return s.Error
	}
	return s.Output
}
