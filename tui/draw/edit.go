package draw

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf16"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

// Editor edits a text, such as the title and arguments of a step as JSON.
type Editor struct {
	styles *Styles
	area   textarea.Model
	fault  string // error in the text
	tab    string // stands for a tab; "" makes tabs two spaces

	versions []editState // earlier texts, oldest first
	typing   bool        // the last change typed a letter
}

// Refuse shows why the text was not taken.
func (e *Editor) Refuse(why string) { e.fault = why }

// Fault returns the error in the text, or why it was not taken; "" for neither.
func (e *Editor) Fault() string { return e.fault }

// NewEditor opens an editor on a call's arguments. It returns nil if they are
// too long to edit on a screen.
func NewEditor(l *Styles, args map[string]any) *Editor {
	return newEditor(l, escaped(wording.JSONText(args, "  ")), "")
}

// NewLine opens an editor on an empty line of text.
func NewLine(l *Styles) *Editor { return newEditor(l, "", "") }

// OneLine returns the text on one line, without blanks around it.
func (e *Editor) OneLine() string { return strings.Join(strings.Fields(e.area.Value()), " ") }

// newEditor opens an editor on a text, in which tab stands for a tab; "" makes tabs two
// spaces. It returns nil if the text is too long.
func newEditor(l *Styles, text, tab string) *Editor {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = 0
	area.Prompt = ""
	area.SetVirtualCursor(false)
	area.KeyMap.PageUp.SetKeys("pgup")
	area.KeyMap.PageDown.SetKeys("pgdown")
	e := &Editor{styles: l, area: area, tab: tab}
	e.Retheme()
	e.area.SetValue(text)
	if e.area.Value() != text {
		return nil
	}
	e.area.MoveToBegin()
	e.area.Focus() // ignore its command for a blinking cursor: this one does not blink
	return e
}

// escaped replaces characters that a terminal would obey or hide with
// equivalent JSON escapes. In JSON, such characters occur only in strings.
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

// Retheme applies the colors of the theme.
func (e *Editor) Retheme() {
	l := e.styles
	state := textarea.StyleState{
		Text: l.Text, CursorLine: l.Text, Placeholder: l.Faint, Prompt: l.Accent,
		Selection: l.Selected(l.Text), EndOfBuffer: l.Text, Base: lipgloss.NewStyle(),
	}
	styles := e.area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Cursor.Color = nil
	e.area.SetStyles(styles)
}

// Args parses the text of the editor. If it is not valid, Args returns nil and
// sets the fault.
func (e *Editor) Args() map[string]any {
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

// text returns the text as edited.
func (e *Editor) text() string { return e.area.Value() }

// Update passes a message to the text area.
func (e *Editor) Update(msg tea.Msg) tea.Cmd {
	e.fault = ""
	if paste, ok := msg.(tea.PasteMsg); ok {
		paste.Content = escaped(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", cmp.Or(e.tab, "  ")).Replace(paste.Content))
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

// Wishes returns how many lines the text needs at a width.
func (e *Editor) Wishes(width int) int {
	lines := 0
	for line := range strings.SplitSeq(e.area.Value(), "\n") {
		lines += 1 + VisibleWidth(line)/max(width, 1)
	}
	return lines
}

// SetSize sets the size of the text area, in cells and lines.
func (e *Editor) SetSize(width, height int) {
	if e.area.Width() != width || e.area.Height() != height {
		e.area.SetWidth(width)
		e.area.SetHeight(height)
	}
}

// height returns the lines that the text area has.
func (e *Editor) height() int { return e.area.Height() }

// Lines returns the editor's content.
func (e *Editor) Lines() []string { return SteadyLines(e.area.View()) }

// Cursor returns the text cursor, relative to the editor's upper left corner.
func (e *Editor) Cursor() *tea.Cursor { return e.area.Cursor() }
