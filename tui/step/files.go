package step

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/editor"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// drawFiles draws the text beside a result, and its files.
func (d *Pane) drawFiles(p *draw.SheetPage, s *agent.StepState) {
	l := d.styles
	if s.Beside.Text != "" {
		p.Blank()
		p.Prose(l.Accent, "beside it")
		p.Put(draw.NewText(l, l.Text, strings.TrimSpace(s.Beside.Text.Visible())))
	}
	for i, a := range s.Beside.Attachments {
		p.Blank()
		facts := []string{a.Type, wording.TextSize(a.Bytes)}
		if i == 0 {
			facts = append(facts, d.keys.Name("plan.file")+" opens it or copies its path")
		}
		p.Field("file", l.Text, strings.Join(facts, " "+l.Glyphs.Separator+" "))
		p.Field("at", l.Faint, a.File)
	}
}

// noFile returns why there is no file to open.
func (d *Pane) noFile() string {
	if why := d.nothing(); why != "" {
		return why
	}
	if s := d.state(); s == nil || len(s.Beside.Attachments) == 0 {
		return "The result of this step has no files."
	}
	return ""
}

// openFile opens the first file of the result with the system's program for it.
// Where there is none, it copies the path.
func (d *Pane) openFile() keymap.Request {
	a := d.state().Beside.Attachments[0]
	if !editor.Shows(a.File, os.Getenv) {
		return keymap.Request{Copy: &keymap.Copied{What: "the path of the file", Text: a.File}}
	}
	return keymap.Request{
		Footer: "Opening " + filepath.Base(a.File),
		Cmd:    editor.Show(a.File, func(err error) tea.Msg { return keymap.AnswerMsg[struct{}]{Err: err} }),
	}
}

// filesText returns the text beside a result and its files, to copy.
func filesText(s *agent.StepState) string {
	var b strings.Builder
	if s.Beside.Text != "" {
		b.WriteString(string(s.Beside.Text) + "\n")
	}
	for _, a := range s.Beside.Attachments {
		fmt.Fprintf(&b, "%s, %d bytes: %s\n", a.Type, a.Bytes, a.File)
	}
	return b.String()
}
