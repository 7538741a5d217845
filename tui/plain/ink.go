package plain

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"charm.land/lipgloss/v2"

	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/draw"
)

// ink is text in a style. Without a terminal it is the text alone.
type ink struct {
	text  string
	style lipgloss.Style
}

// styles returns the styles of the terminal, or none.
func (l *Log) styles() themes.Styles {
	if l.look == nil {
		return themes.Styles{}
	}
	return l.look.Styles
}

// faint returns text that matters less.
func (l *Log) faint(format string, args ...any) ink {
	return ink{fmt.Sprintf(format, args...), l.styles().Faint}
}

// strong returns text that matters most.
func (l *Log) strong(text string) ink { return ink{text, l.styles().Strong} }

// line writes one line. All arguments are cleaned, so that text from models and
// servers neither controls the terminal nor adds lines.
func (l *Log) line(format string, args ...any) {
	cleaned := make([]any, len(args))
	for i, arg := range args {
		cleaned[i] = l.clean(arg)
	}
	l.put(fmt.Sprintf(format, cleaned...))
}

// clean returns an argument of a line as it may be printed.
func (l *Log) clean(arg any) any {
	if in, ok := arg.(ink); ok {
		return l.paint(in.style, oneLine(in.text))
	}
	switch reflect.ValueOf(arg).Kind() { //nolint:exhaustive // numbers are harmless
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return arg
	default:
		return oneLine(fmt.Sprint(arg))
	}
}

func oneLine(text string) string { return strings.ReplaceAll(untrusted.Visible(text), "\n", " ") }

// paint draws clean text in a style.
func (l *Log) paint(style lipgloss.Style, text string) string {
	if l.look == nil || text == "" {
		return text
	}
	return style.Render(text)
}

// starts prints that work begins. On a terminal the live line shows that instead.
func (l *Log) starts(format string, args ...any) {
	if l.look == nil {
		l.line(format, args...)
	}
}

// plan writes the drawing of a plan.
func (l *Log) plan(indent, drawing string) {
	if l.look == nil {
		l.block(indent, drawing, 0)
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(PaintPlan(l.look, drawing), "\n"), "\n") {
		l.put(indent + line)
	}
}

// put writes one clean line.
func (l *Log) put(line string) {
	if l.err != nil {
		return
	}
	if line != "" {
		line = l.inset() + line
	}
	_, l.err = io.WriteString(l.out, line+"\n")
}

// room returns the cells of a line behind an indent.
func (l *Log) room(indent string) int {
	const least = 20
	return max(l.width()-len(l.inset())-len(indent), least)
}

// patch writes a diff with indent before each line.
func (l *Log) patch(indent, diff string) {
	if l.look == nil {
		l.block(indent, diff, 0)
		return
	}
	d := &draw.Document{Look: l.look, Width: l.room(indent)}
	d.Changes(diff)
	for _, line := range d.Whole() {
		l.put(strings.TrimRight(indent+line, " "))
	}
}

// markdown writes text that a model or a rule wrote for people.
func (l *Log) markdown(text string) {
	if l.look == nil {
		l.block("", text, 0)
		return
	}
	diffs := diffFence.FindAllStringSubmatch(text, -1)
	for i, part := range diffFence.Split(text, -1) {
		if i > 0 {
			l.put("")
			l.patch("", diffs[i-1][1])
			l.put("")
		}
		for _, line := range draw.NewMarkdown(l.look).Lines(part, l.room("")) {
			l.put(line.Text)
		}
	}
}

// diffFence matches a fenced block of a diff in Markdown.
var diffFence = lazyregexp.New("(?ms)^```+diff\n(.*?)^```+ *$\n?")

// withoutDiffs drops the fenced diffs of an answer that a gate already showed.
func (l *Log) withoutDiffs(answer string) string {
	return diffFence.ReplaceAllStringFunc(answer, func(block string) string {
		diff := strings.TrimSpace(diffFence.FindStringSubmatch(block)[1])
		for _, shown := range l.diffs {
			if strings.TrimSpace(shown) == diff {
				return ""
			}
		}
		return block
	})
}

// planRow matches a row of a drawn plan: marks and rails, sign, title and the rest.
var planRow = lazyregexp.New(`^([−+~]? ?[│├┌└┬┴┼─|+\\/ .'-]*?)([○✓✗—?◆▸ovx=*>]) (.*?)((?:  \[.*)?)$`)

// PaintPlan draws the text of a plan, as plantext makes it, in the colours of a
// terminal.
func PaintPlan(l *draw.Look, drawing string) string {
	signs := map[string]lipgloss.Style{
		"✓": l.Success, "v": l.Success, "✗": l.Danger, "x": l.Danger, "◆": l.Warning, "*": l.Warning, "?": l.Warning, "▸": l.Running, ">": l.Running,
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(untrusted.Visible(drawing), "\n"), "\n") {
		if m := planRow.FindStringSubmatch(line); m != nil {
			sign, ok := signs[m[2]]
			if !ok {
				sign = l.Muted
			}
			line = l.Border.Render(m[1]) + sign.Render(m[2]) + " " + m[3] + l.Faint.Render(m[4])
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
