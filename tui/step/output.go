package step

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// languageTest is the language of test output.
const languageTest = "test output"

// output draws what tools and models wrote.
type output struct {
	words *draw.Markdown // of models
	keys  *keymap.Map
}

// besideOutput puts the expected outcome at the right of the output.
func besideOutput(l *draw.Styles, o output, s *agent.StepState, body []string, width int) []string {
	right := []string{l.Accent.Render("expected")}
	right = append(right, o.expected(s, width-2)...)
	out := make([]string, len(body))
	for i, line := range body {
		out[i] = line + l.Border.Render(" "+l.Glyphs.Guide) + " " + l.Fit(draw.At(right, i), width-1)
	}
	return out
}

// drawSoFar draws the expected outcome, unless it is elsewhere, the progress of the step and its error.
func (o output) drawSoFar(p *draw.SheetPage, s *agent.StepState, expected bool) {
	l := p.Styles
	if s.Step.ExpectedOutcome != "" && expected {
		o.drawExpected(&p.Document, s)
	}
	if pr := s.Progress; s.Status == agent.StepRunning && (pr.Total > 0 || pr.Message != "") {
		text := pr.Message.Line()
		if pr.Total > 0 {
			text = strings.TrimSpace(fmt.Sprintf("%.0f%% %s", 100*pr.Done/pr.Total, text))
		}
		p.Prose(l.Muted, text)
	}
}

// draw draws the output of the step so far.
func (o output) draw(p *draw.SheetPage, s *agent.StepState) {
	l := p.Styles
	gap := func() { p.Add("") }
	switch why, declined := s.Declined(); {
	case declined:
		gap()
		p.Prose(l.Text, "You declined this call"+wording.ReasonGiven(why)+". It was not made.")
	case s.Error != "":
		gap()
		failure := strings.TrimSpace(s.Error.Visible())
		sentence, tests, _ := strings.Cut(failure, "\n")
		if languageOf(s, "", s.Error.Visible()) != languageTest {
			sentence, tests = failure, ""
		}
		p.Put(draw.NewText(l, l.Danger, sentence))
		if tests != "" {
			p.Put(draw.NewStyledCode(l, testStyle(l), tests))
		}
	}
	switch {
	case s.Status == agent.StepCompleted:
		gap()
		o.drawResult(p, s)
	case s.Output == "" && s.Loop != nil && s.Loop.Text != "":
		gap()
		if s.Status.Ended() {
			o.drawWords(p, s.Loop.Text)
		} else { // it grows with every event
			p.Put(draw.NewText(l, l.Text, strings.TrimSpace(s.Loop.Text)))
		}
	case s.Output != "" && !s.Error.Contains(strings.TrimSpace(s.Output)):
		gap()
		p.Put(draw.NewStyledCode(l, testStyle(l), s.Output))
	case s.Error == "":
		gap()
		p.Prose(l.Faint, "No output so far.")
	}
	drawFiles(p, o.keys, s)
}

// drawExpected draws the expected outcome.
func (o output) drawExpected(p *draw.Document, s *agent.StepState) {
	p.FieldLines("expects", func(width int) []string { return o.expected(s, width) })
}

// expected returns the lines of the expected outcome.
func (o output) expected(s *agent.StepState, width int) []string {
	return draw.Texts(o.words.Lines(s.Step.ExpectedOutcome.Markdown(), width))
}

// mostWords is the size of a model's text, in bytes, above which its Markdown is not
// rendered, since that takes too long for one frame.
const mostWords = 64 << 10

// drawWords draws what a model wrote.
func (o output) drawWords(p *draw.SheetPage, text string) {
	if len(text) > mostWords {
		p.Put(draw.NewText(p.Styles, p.Styles.Text, strings.TrimSpace(text)))
		return
	}
	p.Put(draw.Drawn(draw.Texts(o.words.Lines(text, p.Width))))
}

// drawResult draws the result of the step: text by its language, an object by
// its members.
func (o output) drawResult(p *draw.SheetPage, s *agent.StepState) {
	l, result := p.Styles, s.Result
	if shown := wording.ShownOf(s); shown.Known() {
		o.drawShown(p, s, shown)
		return
	}
	if text, _, ok := plan.FilesOf(result); ok {
		result = text // the files follow
	}
	switch r := result.(type) {
	case nil:
		p.Prose(l.Faint, "There is no result.")
	case string:
		switch language := languageOf(s, "", r); {
		case language == "" && s.Step.Executor != plan.ExecutorTool && s.Step.Executor != "":
			o.drawWords(p, r)
		case language == "":
			p.Put(draw.NewText(l, l.Text, r))
		case language == "diff":
			p.Put(draw.NewDiff(l, p.Width, r))
		case language == languageTest:
			p.Put(draw.NewStyledCode(l, testStyle(l), r))
		default:
			p.Put(draw.NewCode(l, language, r))
		}
	case map[string]any:
		drawMembers(p, s, r)
	default:
		p.Put(draw.NewCode(l, "json", wording.JSONText(r, "  ")))
	}
}

// languageOf guesses the language of a text for highlighting: a member of a
// call or result, or the whole result if name is "". It returns "" if the
// language is unknown.
func languageOf(s *agent.StepState, name string, value any) string {
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
			if file, ok := wording.CallArgs(s)[key].(string); ok && path.Ext(file) != "" {
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

// testStyle returns the style of a line of test output, by its content.
func testStyle(l *draw.Styles) func(line string) lipgloss.Style {
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

// outputText returns the output of the step as text to copy.
func outputText(s *agent.StepState) string {
	result := s.Result
	if text, _, ok := plan.FilesOf(result); ok {
		result = text + "\n"
	}
	switch r := result.(type) {
	case string:
		return r + filesText(s)
	case nil:
	default:
		return wording.JSONText(r, "  ") + "\n" + filesText(s)
	}
	if s.Output == "" && s.Loop != nil && s.Loop.Text != "" {
		return s.Loop.Text
	}
	if s.Output == "" || s.Error.Contains(strings.TrimSpace(s.Output)) {
		return string(s.Error)
	}
	return s.Output
}
