package tui

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/planning/plan"
	"replan/tui/untrusted"
)

// editor is where the arguments of a failed step are edited, as JSON.
type editor struct {
	look  *look
	area  textarea.Model
	fault string // what is wrong with the text

	versions []editState // of the text, oldest first
	typing   bool        // the last change was a letter
}

// newEditor opens an editor on a call's arguments. It returns nil where they are
// too long to be edited on a screen.
func newEditor(l *look, args map[string]any) *editor {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = 0
	area.Prompt = ""
	area.SetVirtualCursor(false)
	area.KeyMap.PageUp.SetKeys("pgup")
	area.KeyMap.PageDown.SetKeys("pgdown")
	e := &editor{look: l, area: area}
	e.retheme()
	text := escaped(jsonText(args, "  "))
	e.area.SetValue(text)
	if e.area.Value() != text {
		return nil
	}
	e.area.MoveToBegin()
	e.area.Focus() // returns a command for a cursor that blinks, which this one does not
	return e
}

// escaped writes what a terminal would obey or not show as JSON escapes, which
// mean the same. In JSON such characters stand in texts alone.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || untrusted.Visible(string(r)) == string(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// retheme takes the colours of the theme.
func (e *editor) retheme() {
	l := e.look
	state := textarea.StyleState{
		Text: l.Text, CursorLine: l.Text, Placeholder: l.Faint, Prompt: l.Accent,
		Selection: l.Selected(l.Text), EndOfBuffer: l.Text, Base: lipgloss.NewStyle(),
	}
	styles := e.area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Cursor.Color = nil
	e.area.SetStyles(styles)
}

// args reads what stands in the editor. Where those are no arguments, fault says
// why, and they are nil.
func (e *editor) args() map[string]any {
	value, err := plan.DecodeValue([]byte(e.area.Value()))
	if err != nil {
		e.fault = untrusted.Line("This is not JSON" + strings.TrimPrefix(err.Error(), "decode JSON"))
		return nil
	}
	args, ok := value.(map[string]any)
	if !ok {
		e.fault = "Arguments are an object, as in {\"name\": \"value\"}."
	}
	return args
}

// update gives a message to the text.
func (e *editor) update(msg tea.Msg) tea.Cmd {
	e.fault = ""
	if paste, ok := msg.(tea.PasteMsg); ok {
		paste.Content = escaped(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "  ").Replace(paste.Content))
		msg = paste
	}
	before := e.now()
	var cmd tea.Cmd
	e.area, cmd = e.area.Update(msg)
	if e.area.Value() != before.text {
		e.changed(before, msg)
	} else {
		e.typing = false
	}
	return cmd
}

// wishes is how many lines the text would like in that width.
func (e *editor) wishes(width int) int {
	lines := 0
	for line := range strings.SplitSeq(e.area.Value(), "\n") {
		lines += 1 + visibleWidth(line)/max(width, 1)
	}
	return lines
}

// setSize makes the text that many cells wide and lines high.
func (e *editor) setSize(width, height int) {
	if e.area.Width() != width || e.area.Height() != height {
		e.area.SetWidth(width)
		e.area.SetHeight(height)
	}
}

// lines is the editor's content.
func (e *editor) lines() []string { return steadyLines(e.area.View()) }

// cursor is where the text cursor stands, from the editor's upper left corner.
func (e *editor) cursor() *tea.Cursor { return e.area.Cursor() }
