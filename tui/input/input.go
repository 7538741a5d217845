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

// MaxInputHeight bounds the input; longer text scrolls in it.
const MaxInputHeight = 8

// Input is where the user types, with a history of what was sent.
type Input struct {
	look    *draw.Look
	Area    textarea.Model
	width   int
	History []string
	Others  []string // what was sent in other folders
	secret  string   // what was sent last with a blank before it: it is not remembered
	at      int      // position in history; its length where none is shown
	draft   string   // what was typed before the history was looked at
	pastes  []pasted // what tokens in the text stand for
	closed  []string // what stands in its place where nothing can be typed, the longest first
}

// New makes the text field; text is shown while it is empty.
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
	// Enter sends, and keys that other parts of the screen take are left to them.
	area.KeyMap.InsertNewline.Unbind()
	area.KeyMap.PageUp.Unbind()
	area.KeyMap.PageDown.Unbind()
	i := &Input{look: l, Area: area}
	i.Retheme()
	i.Area.SetValue(text)
	i.Area.Focus()
	return i
}

// Retheme takes the colours of the theme.
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

// SetSize makes the input that many cells wide, its prompt included, and bounds
// how many lines of the text are shown.
func (i *Input) SetSize(width, lines int) {
	lines = max(min(lines, MaxInputHeight), 1)
	if i.Area.MaxHeight != lines || i.width != width {
		i.width, i.Area.MaxHeight = width, lines
		i.Area.SetWidth(width)
	}
}

// Height is how many lines the input takes.
func (i *Input) Height() int {
	if i.closed != nil {
		return 1
	}
	return max(i.Area.Height(), 1)
}

// Close takes no more text and says words instead, the longest that there is
// room for.
func (i *Input) Close(words ...string) {
	i.closed = words
	i.Area.Blur()
}

// TakesText reports whether something can be typed.
func (i *Input) TakesText() bool { return i.closed == nil }

// Empty reports whether nothing is typed.
func (i *Input) Empty() bool { return i.Area.Value() == "" }

// Value is what was typed, with what its tokens stand for.
func (i *Input) Value() string { return strings.TrimSpace(i.Expanded()) }

// Sent is the value to be sent: with a blank before it where that keeps it from
// being remembered.
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

// Split is the text before and behind the cursor.
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

// SetSplit sets the text with the cursor between its parts.
func (i *Input) SetSplit(before, after string) {
	i.Area.SetValue(after)
	i.Area.MoveToBegin()
	i.Area.InsertString(before)
}

// BreakLine takes a backslash before the cursor for a new line, and reports whether
// there was one.
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

// SetFocus says whether keys go to the field.
func (i *Input) SetFocus(focused bool) {
	if focused && i.closed == nil {
		i.Area.Focus() // returns a command for a cursor that blinks, which this one does not
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

// Restore puts what was sent in other sessions before what was sent in this one.
func (i *Input) Restore(h session.History) {
	here := slices.Clone(h.Here)
	for _, text := range i.History {
		if !slices.Contains(here, text) {
			here = append(here, text)
		}
	}
	i.History, i.Others, i.at = here, h.Elsewhere, len(here)
}

// Update gives a message to the text. What a token stands for goes as a whole.
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

// Newline begins a new line at the cursor.
func (i *Input) Newline() {
	was, _ := i.Split()
	i.Area.InsertString("\n")
	i.stepOver(was)
}

// HasBefore reports whether the cursor is on the first line and something was
// sent before what is shown.
func (i *Input) HasBefore() bool {
	return i.Area.Line() == 0 && i.Area.LineInfo().RowOffset == 0 && i.at > 0 && len(i.History) > 0
}

// HasAfter reports whether the cursor is on the last line and something was sent
// after what is shown.
func (i *Input) HasAfter() bool {
	return i.at < len(i.History) && i.Area.Line() >= i.Area.LineCount()-1
}

// Back shows what was sent before.
func (i *Input) Back() {
	if i.at == len(i.History) {
		i.draft = i.Area.Value()
	}
	i.at--
	i.Set(i.History[i.at])
}

// Forward shows what was sent after that, and at last what was being typed.
func (i *Input) Forward() {
	i.at++
	if i.at == len(i.History) {
		i.Set(i.draft)
	} else {
		i.Set(i.History[i.at])
	}
}

// Lines is the input's content.
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

// Cursor is where the text cursor stands, from the input's upper left corner.
func (i *Input) Cursor() *tea.Cursor { return i.Area.Cursor() }
