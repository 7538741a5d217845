package step

import (
	"fmt"
	"strings"

	"replan/agent"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// drawFiles draws the text beside a result, and its files.
func drawFiles(p *draw.SheetPage, keys *keymap.Map, s *agent.StepState) {
	l := p.Styles
	if s.Beside.Text != "" {
		p.Blank()
		p.Prose(l.Accent, "beside it")
		p.Put(draw.NewText(l, l.Text, strings.TrimSpace(s.Beside.Text.Visible())))
	}
	for i, a := range s.Beside.Attachments {
		p.Blank()
		facts := []string{a.Type, wording.TextSize(a.Bytes)}
		if i == 0 {
			facts = append(facts, keys.Name("plan.file")+" opens it or copies its path")
		}
		p.Field("file", l.Text, strings.Join(facts, " "+l.Glyphs.Separator+" "))
		p.Field("at", l.Faint, a.File)
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
