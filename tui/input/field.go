package input

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/session"
	"replan/planning/intent"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// maxHeight is the maximum height of the text field in lines. Longer text
// scrolls.
const maxHeight = 8

// field is the text field with the texts sent before.
type field struct {
	styles    *draw.Styles
	area      textarea.Model
	width     int
	sent      []string     // in this folder, oldest first
	elsewhere []string     // sent in other folders
	secret    string       // text last sent with a leading blank, which keeps it out of the history
	at        int          // index of the text shown from sent; its length if none is shown
	unsent    string       // text typed before the user went back in the history
	pastes    []pastedText // texts that the tokens stand for
	command   bool         // the text is a command, whose mark stands in the place of the prompt
	closed    []string     // messages shown while the field is closed, longest first
}

// invite sets what an empty field says.
func (f *field) invite(words string) { f.area.Placeholder = words }

// wasSent reports whether a text was sent from here before.
func (f *field) wasSent(text string) bool { return slices.Contains(f.sent, text) }

// earlier returns the texts sent before, from here and from other folders.
func (f *field) earlier() (here, elsewhere []string) { return f.sent, f.elsewhere }

// newField returns an empty text field.
func newField(l *draw.Styles) *field {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = maxHeight
	area.MaxContentHeight = 10_000
	area.DynamicHeight = true
	area.MinHeight = 1
	area.SetVirtualCursor(false)
	// Enter sends, and other parts of the screen handle the remaining keys.
	area.KeyMap.InsertNewline.Unbind()
	area.KeyMap.PageUp.Unbind()
	area.KeyMap.PageDown.Unbind()
	f := &field{styles: l, area: area}
	f.Retheme()
	f.area.Focus()
	return f
}

// Retheme applies the colors of the theme.
func (f *field) Retheme() {
	l := f.styles
	f.area.SetPromptFunc(2, func(p textarea.PromptInfo) string {
		switch {
		case p.LineNumber > 0:
			return "  "
		case f.command:
			return intent.CommandMark + " "
		default:
			return l.Glyphs.Prompt + " "
		}
	})
	mark := l.Accent
	if f.command {
		mark = l.Warning.Bold(true)
	}
	state := textarea.StyleState{
		Text: l.Text, CursorLine: l.Text, Placeholder: l.Faint, Prompt: mark,
		Selection: l.Selected(l.Text), EndOfBuffer: l.Text, Base: lipgloss.NewStyle(),
	}
	styles := f.area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Blurred.Prompt = l.Faint
	styles.Cursor.Color = nil
	f.area.SetStyles(styles)
}

// setSize sets the width in cells, including the prompt, and the maximum number of
// visible lines.
func (f *field) setSize(width, lines int) {
	lines = max(min(lines, maxHeight), 1)
	if f.area.MaxHeight != lines || f.width != width {
		f.width, f.area.MaxHeight = width, lines
		f.area.SetWidth(width)
	}
}

// fieldHeight returns the height of the input in lines.
func (f *field) fieldHeight() int {
	if f.closed != nil {
		return 1
	}
	return max(f.area.Height(), 1)
}

// Close blocks typing and shows the longest of words that fits.
func (f *field) Close(words ...string) {
	f.closed = words
	f.area.Blur()
}

// TakesText reports whether the user can type.
func (f *field) TakesText() bool { return f.closed == nil }

// Text returns the text in the field, in which tokens stand for long pasted
// texts. That of a command begins with its mark.
func (f *field) Text() string { return f.mark() + f.area.Value() }

// mark returns the mark of a command, which the field shows in the place of the prompt; "" for
// other texts.
func (f *field) mark() string {
	if f.command {
		return intent.CommandMark
	}
	return ""
}

// setCommand sets whether the text is a command.
func (f *field) setCommand(is bool) {
	if f.command != is {
		f.command = is
		f.Retheme()
	}
}

// IsCommand reports whether the text is a command.
func (f *field) IsCommand() bool { return f.command }

// turned makes a mark that was typed or pasted before all other text one of a command, and
// leaves the command if a key erases before its beginning. It reports whether the key is done.
func (f *field) turned(k tea.KeyPressMsg) bool {
	before, _ := f.split()
	switch keys := &f.area.KeyMap; {
	case !f.command && before == "" && k.Text == intent.CommandMark:
		f.setCommand(true)
	case f.command && before == intent.CommandMark && keymap.Matches(k, keys.DeleteCharacterBackward, keys.DeleteWordBackward):
		f.setCommand(false)
	default:
		return false
	}
	return true
}

// Empty reports whether nothing is typed.
func (f *field) Empty() bool { return f.Text() == "" }

// value returns the typed text with its tokens expanded.
func (f *field) value() string { return strings.TrimSpace(f.expanded()) }

// toSend returns the value to send. It keeps a leading blank that excludes the text
// from the history.
func (f *field) toSend() string {
	text := f.value()
	if !strings.HasPrefix(f.Text(), " ") {
		return text
	}
	f.secret = text
	return " " + text
}

// Clear removes the text.
func (f *field) Clear() {
	f.set("")
	f.pastes, f.at = nil, len(f.sent)
}

// split returns the text before and after the cursor.
func (f *field) split() (before, after string) {
	text := f.area.Value()
	at := 0
	for range f.area.Line() {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for range f.area.Column() {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return f.mark() + text[:at], text[at:]
}

// setSplit sets the text and places the cursor between the two parts.
func (f *field) setSplit(before, after string) {
	before, is := strings.CutPrefix(before, intent.CommandMark)
	f.setCommand(is)
	f.area.SetValue(after)
	f.area.MoveToBegin()
	f.area.InsertString(before)
}

// breakLine replaces a backslash before the cursor with a new line, and reports
// whether there was one.
func (f *field) breakLine() bool {
	before, after := f.split()
	before, escaped := strings.CutSuffix(before, `\`)
	if escaped {
		f.setSplit(before+"\n", after)
	}
	return escaped
}

// set replaces the text.
func (f *field) set(text string) {
	text, is := strings.CutPrefix(text, intent.CommandMark)
	f.setCommand(is)
	f.area.SetValue(text)
	f.area.MoveToEnd()
}

// SetFocus sets whether the field receives keys.
func (f *field) SetFocus(focused bool) {
	if focused && f.closed == nil {
		f.area.Focus() // its command blinks a cursor, and this one does not blink
		return
	}
	f.area.Blur()
}

// Remember adds a text to the history.
func (f *field) Remember(text string) {
	if text == f.secret {
		f.at = len(f.sent)
		return
	}
	if n := len(f.sent); text != "" && (n == 0 || f.sent[n-1] != text) {
		f.sent = append(f.sent, text)
	}
	f.at = len(f.sent)
}

// Restore inserts texts sent in other sessions before those of this session.
func (f *field) Restore(h session.History) {
	here := slices.Clone(h.Here)
	for _, text := range f.sent {
		if !slices.Contains(here, text) {
			here = append(here, text)
		}
	}
	f.sent, f.elsewhere, f.at = here, h.Elsewhere, len(here)
}

// update passes a message to the text field. Deleting a token deletes it as a
// whole.
func (f *field) update(msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if isKey && (f.turned(k) || f.erased(k)) {
		return nil
	}
	was, _ := f.split()
	var cmd tea.Cmd
	f.area, cmd = f.area.Update(msg)
	if isKey {
		f.stepOver(was)
	}
	return cmd
}

// newline inserts a new line at the cursor.
func (f *field) newline() {
	was, _ := f.split()
	f.area.InsertString("\n")
	f.stepOver(was)
}

// hasBefore reports whether the cursor is on the first line and the history has an
// earlier text.
func (f *field) hasBefore() bool {
	return f.area.Line() == 0 && f.area.LineInfo().RowOffset == 0 && f.at > 0 && len(f.sent) > 0
}

// hasAfter reports whether the cursor is on the last line and the history has a
// later text.
func (f *field) hasAfter() bool {
	return f.at < len(f.sent) && f.area.Line() >= f.area.LineCount()-1
}

// back shows the previous text of the history.
func (f *field) back() {
	if f.at == len(f.sent) {
		f.unsent = f.Text()
	}
	f.at--
	f.set(f.sent[f.at])
}

// forward shows the next text of the history, and finally the unsent one.
func (f *field) forward() {
	f.at++
	if f.at == len(f.sent) {
		f.set(f.unsent)
	} else {
		f.set(f.sent[f.at])
	}
}

// lines returns the drawn lines of the input.
func (f *field) lines() []string {
	if f.closed == nil {
		return draw.SteadyLines(f.area.View())
	}
	line := ""
	for _, line = range f.closed {
		if draw.VisibleWidth(line) <= f.width {
			break
		}
	}
	return []string{f.styles.Faint.Render(f.styles.Cut(line, f.width))}
}

// cursor returns the position of the text cursor, relative to the input's upper
// left corner.
func (f *field) cursor() *tea.Cursor { return f.area.Cursor() }

// pointAt moves the cursor to a cell of the input.
func (f *field) pointAt(x, y int) {
	c := f.cursor()
	if c == nil || f.closed != nil || y < 0 || y >= f.area.Height() {
		return
	}
	was, _ := f.split()
	for n := c.Y; n < y; n++ {
		f.area.CursorDown()
	}
	for n := c.Y; n > y; n-- {
		f.area.CursorUp()
	}
	const prompt = 2 // cells
	row := f.area.LineInfo()
	lines := strings.Split(f.area.Value(), "\n")
	text := []rune(lines[min(f.area.Line(), len(lines)-1)])
	column, end := row.StartColumn, min(row.StartColumn+row.Width, len(text))
	for cells := prompt; column < end; column++ {
		if cells += draw.VisibleWidth(string(text[column])); cells > x {
			break
		}
	}
	if column == end && end < len(text) && end > row.StartColumn {
		column-- // past the last cell of a wrapped row, the position belongs to the next row
	}
	f.area.SetCursorColumn(column)
	f.stepOver(was)
}
