package plain

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/story"
)

// Options say what to print on.
type Options struct {
	ASCII bool   // print only ASCII characters
	Again string // the command that runs a deleted run again; "" if runs are kept
	// QuietSuccess leaves out the end of a run that succeeds, for a caller that prints
	// something better.
	QuietSuccess bool
	// Look draws for a terminal of Width cells. Without one only plain text is
	// printed, whose lines programs can rely on.
	Styles *draw.Styles
	Width  func() int
}

// Printer prints lines. On a terminal they have colors, and long ones are broken
// between words.
type Printer struct {
	Signs   Signs
	Between string // separates the parts of a line

	out    io.Writer
	styles *draw.Styles // nil without a terminal
	width  func() int
	inset  func() string // before each line; may be nil
	err    error         // from the first failed write
}

// Signs are printed at the start of lines.
type Signs struct {
	Done, Failed, Started, Gate, Skipped, Declined, Note, Removed, Added, Revised, Replan, Pending Ink
}

// Ink is text in a style. Without a terminal it is the text alone.
type Ink struct {
	Text  string
	Style lipgloss.Style
}

// NewPrinter returns a printer that writes to out.
func NewPrinter(out io.Writer, o Options) *Printer {
	p := &Printer{out: out, styles: o.Styles, width: o.Width, Between: " · "}
	signs := []string{"✓", "✗", "▸", "◆", "—", "⊘", "·", "−", "+", "~", "↻", "○"}
	if o.ASCII {
		signs, p.Between = []string{"ok", "x", ">", "?", "=", "no", ".", "-", "+", "~", "again:", "o"}, ", "
	}
	s, styles := &p.Signs, p.Styles()
	for i, to := range []*Ink{&s.Done, &s.Failed, &s.Started, &s.Gate, &s.Skipped, &s.Declined, &s.Note, &s.Removed, &s.Added, &s.Revised, &s.Replan, &s.Pending} {
		*to = Ink{signs[i], [...]lipgloss.Style{
			styles.Success, styles.Danger, styles.Accent, styles.Warning, styles.Muted, styles.Text, styles.Muted,
			styles.Removed, styles.Added, styles.Accent, styles.Warning, styles.Muted,
		}[i]}
	}
	return p
}

// Err returns the error of the first failed write. Nothing is written after it.
func (p *Printer) Err() error { return p.err }

// Styles returns the styles of the terminal, or none.
func (p *Printer) Styles() themes.Styles {
	if p.styles == nil {
		return themes.Styles{}
	}
	return p.styles.Styles
}

// Faint returns text that matters less.
func (p *Printer) Faint(format string, args ...any) Ink {
	return Ink{fmt.Sprintf(format, args...), p.Styles().Faint}
}

// Strong returns text that matters most.
func (p *Printer) Strong(text string) Ink { return Ink{text, p.Styles().Strong} }

// onTerminal reports whether people read the lines, not programs that rely on their form.
func (p *Printer) onTerminal() bool { return p.styles != nil }

// insetBy writes what a function returns before each line.
func (p *Printer) insetBy(inset func() string) { p.inset = inset }

// batch writes at once what a function prints. Nothing is written after a failed write,
// whose error it returns.
func (p *Printer) batch(print func() error) error {
	var lines bytes.Buffer
	out := p.out
	p.out = &lines
	err := print()
	p.out = out
	if p.err == nil && lines.Len() > 0 {
		_, p.err = out.Write(lines.Bytes())
	}
	return cmp.Or(err, p.err)
}

// spinning draws work under way on one line, behind a sign that moves with each call.
func (p *Printer) spinning(work, elapsed string) string {
	l := p.styles
	l.Advance()
	words := l.Cut(oneLine(work), p.width()-3-len(elapsed))
	return l.Running.Render(l.Spinner()) + " " + l.Muted.Render(words) + l.Faint.Render(elapsed)
}

// Line prints one line. All arguments are cleaned, so that text from models and
// servers neither controls the terminal nor adds lines.
func (p *Printer) Line(format string, args ...any) {
	line := p.formatted(format, args)
	if !p.onTerminal() || ansi.StringWidth(line) <= p.room("") {
		p.put(line)
		return
	}
	lead := leadWidth(ansi.Strip(line), p.room(""))
	p.hang(ansi.Truncate(line, lead, ""), ansi.TruncateLeft(line, lead, ""))
}

// Field is a named value.
type Field struct {
	Name  string
	Value any
}

// Fields prints the values that are not empty behind their names.
func (p *Printer) Fields(fields ...Field) {
	const gap = 2
	column := 0
	for i, f := range fields {
		if fields[i].Value = p.clean(f.Value); fields[i].Value != "" {
			column = max(column, len(f.Name)+gap)
		}
	}
	for _, f := range fields {
		value := fmt.Sprint(f.Value)
		if value == "" {
			continue
		}
		if p.styles == nil {
			p.put(f.Name + ": " + value)
			continue
		}
		p.hang(p.styles.Faint.Render(p.styles.Fit(f.Name, column)), value)
	}
}

// Heading prints the title of a section, after an empty line.
func (p *Printer) Heading(title string) {
	p.put("")
	if p.styles != nil {
		p.put(p.styles.Accent.Render(title))
		return
	}
	p.put(title + ":")
}

// formatted formats cleaned arguments.
func (p *Printer) formatted(format string, args []any) string {
	cleaned := make([]any, len(args))
	for i, arg := range args {
		cleaned[i] = p.clean(arg)
	}
	return fmt.Sprintf(format, cleaned...)
}

// clean returns an argument of a line as it may be printed.
func (p *Printer) clean(arg any) any {
	if in, ok := arg.(Ink); ok {
		return p.paint(in.Style, oneLine(in.Text))
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
func (p *Printer) paint(style lipgloss.Style, text string) string {
	if p.styles == nil || text == "" {
		return text
	}
	return style.Render(text)
}

// leadWidth returns the cells of the start of a line that its continuation lines
// are indented by: blanks, and a sign or a label.
func leadWidth(line string, width int) int {
	text := strings.TrimLeft(line, " ")
	blanks := len(line) - len(text)
	word, _, _ := strings.Cut(text, " ")
	lead := blanks + ansi.StringWidth(word) + 1
	isSign := !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if lead > width/2 || !isSign && !strings.HasSuffix(word, ":") {
		return min(blanks, width/2)
	}
	return lead
}

// hang writes a drawn text behind a lead, broken between words.
func (p *Printer) hang(lead, text string) {
	for _, line := range draw.Hang(lead, draw.WrapStyled(text, max(p.room("")-draw.VisibleWidth(lead), 1))) {
		p.put(line)
	}
}

// put writes one clean line.
func (p *Printer) put(line string) {
	if p.err != nil {
		return
	}
	if line != "" && p.inset != nil {
		line = p.inset() + line
	}
	_, p.err = io.WriteString(p.out, line+"\n")
}

// room returns the cells of a line behind an indent.
func (p *Printer) room(indent string) int {
	const least = 20
	if p.inset != nil {
		indent += p.inset()
	}
	return max(p.width()-len(indent), least)
}

// Block prints text as it is, with indent before each line. A single line is prose.
func (p *Printer) Block(indent, text string, maxLines int) {
	lines := strings.Split(strings.TrimRight(untrusted.Visible(text), "\n"), "\n")
	if len(lines) == 1 {
		p.Line("%s", strings.TrimRight(indent+lines[0], " "))
		return
	}
	for i, line := range lines {
		if maxLines > 0 && i == maxLines {
			p.Line("%s… %s", indent, english.Count(len(lines)-maxLines, "more line"))
			return
		}
		p.put(strings.TrimRight(indent+line, " "))
	}
}

// Args prints the arguments of a call, by name.
func (p *Printer) Args(indent string, args map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p.Block(indent, name+": "+text(args[name]), 0)
	}
}

// Patch prints a diff with indent before each line.
func (p *Printer) Patch(indent, diff string) {
	if p.styles == nil { // another program may read it
		for line := range strings.Lines(untrusted.VisibleTabs(diff)) {
			p.put(strings.TrimRight(indent+strings.TrimSuffix(line, "\n"), " "))
		}
		return
	}
	d := &draw.Document{Styles: p.styles, Width: p.room(indent)}
	d.Changes(diff)
	for _, line := range d.Whole() {
		p.put(strings.TrimRight(indent+line, " "))
	}
}

// Markdown prints text that a model or a rule wrote for people.
func (p *Printer) Markdown(text string) {
	if p.styles == nil {
		p.Block("", text, 0)
		return
	}
	diffs := story.DiffFence.FindAllStringSubmatch(text, -1)
	for i, part := range story.DiffFence.Split(text, -1) {
		if i > 0 {
			p.put("")
			p.Patch("", diffs[i-1][1])
			p.put("")
		}
		for _, line := range draw.NewMarkdown(p.styles).Lines(part, p.room("")) {
			p.put(line.Text)
		}
	}
}

// planRow matches a row of a drawn plan: marks and rails, sign, title and the rest. The
// rest starts at the last bracket: an earlier one belongs to the title.
var planRow = lazyregexp.New(`^([−+~]? ?[│├┌└┬┴┼─|+\\/ .'-]*?)([○✓✗—?◆▸ovx=*>]) (.*?)((?:  \[[^\[]*)?)$`)

// Plan prints the drawing of a plan, as plantext makes it. On a terminal long titles
// are cut, so that the rails stay whole.
func (p *Printer) Plan(indent, drawing string) {
	lines := strings.Split(strings.TrimRight(untrusted.Visible(drawing), "\n"), "\n")
	if p.styles == nil {
		for _, line := range lines {
			p.put(strings.TrimRight(indent+line, " "))
		}
		return
	}
	room, tail := p.room(indent), 0
	for _, line := range lines {
		if m := planRow.FindStringSubmatch(line); m != nil {
			tail = max(tail, ansi.StringWidth(m[4]))
		}
	}
	for _, line := range lines {
		if m := planRow.FindStringSubmatch(line); m != nil {
			line = p.planRow(m, room, tail)
		}
		p.put(indent + p.styles.Cut(line, room))
	}
}

// planRow draws a row of a plan, with a title that leaves the widest tail its room.
func (p *Printer) planRow(row []string, room, tail int) string {
	const least = 16 // cells of a title
	l := p.styles
	sign, ok := map[string]lipgloss.Style{
		"✓": l.Success, "v": l.Success, "✗": l.Danger, "x": l.Danger, "◆": l.Warning, "*": l.Warning, "?": l.Warning, "▸": l.Running, ">": l.Running,
	}[row[2]]
	if !ok {
		sign = l.Muted
	}
	title := row[3]
	if fits := max(room-ansi.StringWidth(row[1])-2-tail, least); ansi.StringWidth(title) > fits {
		title = l.Cut(strings.TrimRight(title, " "), fits)
		title += strings.Repeat(" ", fits-ansi.StringWidth(title))
	}
	return l.Border.Render(row[1]) + sign.Render(row[2]) + " " + title + l.Faint.Render(row[4])
}
