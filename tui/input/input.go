package input

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/session"
	"replan/tui/draw"
)

// MaxInputHeight is the maximum height of the input in lines. Longer text scrolls.
const MaxInputHeight = 8

// Input is the text field with a history of sent texts.
type Input struct {
	look    *draw.Look
	Area    textarea.Model
	width   int
	History []string
	Others  []string // texts sent in other folders
	secret  string   // text last sent with a leading blank, which keeps it out of the history
	at      int      // position in history; its length if none is shown
	draft   string   // text typed before the user opened the history
	pastes  []pasted // texts that the tokens stand for
	closed  []string // messages shown while the input is closed, longest first
}

// New returns the text field. It shows text while it is empty.
func New(l *draw.Look, text string) *Input {
	area := textarea.New()
	area.ShowLineNumbers = false
	area.CharLimit = 0
	area.MaxHeight = MaxInputHeight
	area.MaxContentHeight = 10_000
	area.DynamicHeight = true
	area.MinHeight = 1
	area.Placeholder = "What shall be done?"
	area.SetVirtualCursor(false)
	// Enter sends, and other parts of the screen handle the remaining keys.
	area.KeyMap.InsertNewline.Unbind()
	area.KeyMap.PageUp.Unbind()
	area.KeyMap.PageDown.Unbind()
	i := &Input{look: l, Area: area}
	i.Retheme()
	i.Area.SetValue(text)
	i.Area.Focus()
	return i
}

// Retheme applies the colours of the theme.
func (i *Input) Retheme() {
	l := i.look
	i.Area.SetPromptFunc(2, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return l.Glyphs.Prompt + " "
		}
		return "  "
	})
	state := textarea.StyleState{
		Text: l.Text, CursorLine: l.Text, Placeholder: l.Faint, Prompt: l.Accent,
		Selection: l.Selected(l.Text), EndOfBuffer: l.Text, Base: lipgloss.NewStyle(),
	}
	styles := i.Area.Styles()
	styles.Focused, styles.Blurred = state, state
	styles.Blurred.Prompt = l.Faint
	styles.Cursor.Color = nil
	i.Area.SetStyles(styles)
}

// SetSize sets the width in cells, including the prompt, and the maximum number of
// visible lines.
func (i *Input) SetSize(width, lines int) {
	lines = max(min(lines, MaxInputHeight), 1)
	if i.Area.MaxHeight != lines || i.width != width {
		i.width, i.Area.MaxHeight = width, lines
		i.Area.SetWidth(width)
	}
}

// Height returns the height of the input in lines.
func (i *Input) Height() int {
	if i.closed != nil {
		return 1
	}
	return max(i.Area.Height(), 1)
}

// Close blocks typing and shows the longest of words that fits.
func (i *Input) Close(words ...string) {
	i.closed = words
	i.Area.Blur()
}

// TakesText reports whether the user can type.
func (i *Input) TakesText() bool { return i.closed == nil }

// Empty reports whether nothing is typed.
func (i *Input) Empty() bool { return i.Area.Value() == "" }

// Value returns the typed text with its tokens expanded.
func (i *Input) Value() string { return strings.TrimSpace(i.Expanded()) }

// Sent returns the value to send. It keeps a leading blank that excludes the text
// from the history.
func (i *Input) Sent() string {
	text := i.Value()
	if !strings.HasPrefix(i.Area.Value(), " ") {
		return text
	}
	i.secret = text
	return " " + text
}

// Clear removes the text.
func (i *Input) Clear() {
	i.Set("")
	i.pastes, i.at = nil, len(i.History)
}

// Split returns the text before and after the cursor.
func (i *Input) Split() (before, after string) {
	text := i.Area.Value()
	at := 0
	for range i.Area.Line() {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for range i.Area.Column() {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at], text[at:]
}

// SetSplit sets the text and places the cursor between the two parts.
func (i *Input) SetSplit(before, after string) {
	i.Area.SetValue(after)
	i.Area.MoveToBegin()
	i.Area.InsertString(before)
}

// BreakLine replaces a backslash before the cursor with a new line, and reports
// whether there was one.
func (i *Input) BreakLine() bool {
	before, after := i.Split()
	before, escaped := strings.CutSuffix(before, `\`)
	if escaped {
		i.SetSplit(before+"\n", after)
	}
	return escaped
}

// Set replaces the text.
func (i *Input) Set(text string) {
	i.Area.SetValue(text)
	i.Area.MoveToEnd()
}

// SetFocus sets whether the field receives keys.
func (i *Input) SetFocus(focused bool) {
	if focused && i.closed == nil {
		i.Area.Focus() // its command blinks a cursor, and this one does not blink
		return
	}
	i.Area.Blur()
}

// Remember adds a text to the history.
func (i *Input) Remember(text string) {
	if text == i.secret {
		i.at = len(i.History)
		return
	}
	if n := len(i.History); text != "" && (n == 0 || i.History[n-1] != text) {
		i.History = append(i.History, text)
	}
	i.at = len(i.History)
}

// Restore inserts texts sent in other sessions before those of this session.
func (i *Input) Restore(h session.History) {
	here := slices.Clone(h.Here)
	for _, text := range i.History {
		if !slices.Contains(here, text) {
			here = append(here, text)
		}
	}
	i.History, i.Others, i.at = here, h.Elsewhere, len(here)
}

// Update passes a message to the text field. Deleting a token deletes it as a
// whole.
func (i *Input) Update(msg tea.Msg) tea.Cmd {
	k, isKey := msg.(tea.KeyPressMsg)
	if isKey && i.erased(k) {
		return nil
	}
	was, _ := i.Split()
	var cmd tea.Cmd
	i.Area, cmd = i.Area.Update(msg)
	if isKey {
		i.stepOver(was)
	}
	return cmd
}

// Newline inserts a new line at the cursor.
func (i *Input) Newline() {
	was, _ := i.Split()
	i.Area.InsertString("\n")
	i.stepOver(was)
}

// HasBefore reports whether the cursor is on the first line and the history has an
// earlier text.
func (i *Input) HasBefore() bool {
	return i.Area.Line() == 0 && i.Area.LineInfo().RowOffset == 0 && i.at > 0 && len(i.History) > 0
}

// HasAfter reports whether the cursor is on the last line and the history has a
// later text.
func (i *Input) HasAfter() bool {
	return i.at < len(i.History) && i.Area.Line() >= i.Area.LineCount()-1
}

// Back shows the previous text of the history.
func (i *Input) Back() {
	if i.at == len(i.History) {
		i.draft = i.Area.Value()
	}
	i.at--
	i.Set(i.History[i.at])
}

// Forward shows the next text of the history, and finally the draft.
func (i *Input) Forward() {
	i.at++
	if i.at == len(i.History) {
		i.Set(i.draft)
	} else {
		i.Set(i.History[i.at])
	}
}

// Lines returns the drawn lines of the input.
func (i *Input) Lines() []string {
	if i.closed == nil {
		return draw.SteadyLines(i.Area.View())
	}
	line := ""
	for _, line = range i.closed {
		if draw.VisibleWidth(line) <= i.width {
			break
		}
	}
	return []string{i.look.Faint.Render(i.look.Cut(line, i.width))}
}

// Cursor returns the position of the text cursor, relative to the input's upper
// left corner.
func (i *Input) Cursor() *tea.Cursor { return i.Area.Cursor() }
