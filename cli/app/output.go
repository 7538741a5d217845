package app

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/tty"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/plain"
)

// Output prints what a command says: as text, on a terminal with its colors, or as JSON.
type Output struct {
	form       func() config.Output // once the settings are read, as the two below
	appearance func() config.Appearance
	execution  func() config.Execution
	out, err   io.Writer
	inChat     bool
	terminal   func() *tty.Terminal // opened once
}

// newOutput returns the output of an app.
func newOutput(a *App) *Output {
	o := &Output{form: a.Form, appearance: a.Appearance, execution: a.Execution, out: a.IO().Out, err: a.IO().Err, inChat: a.Chat() != nil}
	o.terminal = sync.OnceValue(func() *tty.Terminal {
		if o.inChat || o.form().Format != config.OutputText {
			return nil
		}
		looks := o.appearance()
		return tty.Open(o.out, tty.Options{
			Themes: looks.Themes(), Theme: looks.Theme, Getenv: a.IO().Getenv,
			Mode: themes.Mode{ASCII: looks.ASCII, NoColor: looks.NoColor, Still: looks.ReducedMotion},
		})
	})
	return o
}

// JSON reports whether the output is JSON.
func (o *Output) JSON() bool { return o.form().Format == config.OutputJSON }

// Terminal returns the terminal that text is printed on; nil is none.
func (o *Output) Terminal() *tty.Terminal { return o.terminal() }

// Colored returns a writer of styled text to out, standard output or standard error.
func (o *Output) Colored(out io.Writer) io.Writer {
	if t := o.terminal(); t != nil {
		return t.Writer(out)
	}
	return out
}

// Styles returns how to draw text; nil is without colors.
func (o *Output) Styles() *draw.Styles {
	if t := o.terminal(); t != nil {
		return t.Styles
	}
	return nil
}

// Log returns the line log of a session. How says what it leaves out; its appearance is
// that of the output.
func (o *Output) Log(out io.Writer, session string, how plain.Options) *plain.Log {
	return plain.New(out, session, o.dress(how))
}

// dress adds the appearance of lines.
func (o *Output) dress(how plain.Options) plain.Options {
	how.ASCII = o.appearance().ASCII
	if t := o.terminal(); t != nil {
		how.Styles, how.Width = t.Styles, t.Width
	}
	return how
}

// Lines writes lines to standard output.
func (o *Output) Lines(write func(*plain.Printer)) error {
	var b strings.Builder
	write(plain.NewPrinter(&b, o.dress(plain.Options{})))
	return o.Print(b.String())
}

// Print writes text to standard output.
func (o *Output) Print(text string) error {
	_, err := io.WriteString(o.Colored(o.out), text)
	return exit.Wrap(exit.Writing, err)
}

// PrintFaint writes a line that matters less than others to standard output.
func (o *Output) PrintFaint(line string) error {
	if l := o.Styles(); l != nil {
		line = l.Faint.Render(line)
	}
	return o.Print(line + "\n")
}

// PrintJSON writes a value to standard output as one line of JSON.
func (o *Output) PrintJSON(v any) error { return WriteJSON(o.out, v) }

// WriteJSON writes a value as one line of JSON without HTML escapes, whose characters
// are safe on a terminal.
func WriteJSON(to io.Writer, v any) error {
	line, err := plan.EncodeJSON(v)
	if err == nil {
		_, err = to.Write(append(untrusted.JSON(line), '\n'))
	}
	return exit.Wrap(exit.Writing, err)
}

// Note prints a line for the user on standard error, behind the name of the program.
// Text from outside must be clean.
func (o *Output) Note(format string, args ...any) {
	_, _ = io.WriteString(o.err, tty.Sentence(o.err, "replan:", fmt.Sprintf(format, args...)))
}

// Notes prints notes on standard error.
func (o *Output) Notes(notes []string) {
	for _, note := range notes {
		o.Note("%s", untrusted.Line(note))
	}
}

// Diff returns a diff as text to print on out. Only a terminal gets styles.
func (o *Output) Diff(out io.Writer, text string) string {
	if t := o.terminal(); t != nil && text != "" && tty.Is(out) {
		return t.Diff(text)
	}
	return untrusted.VisibleTabs(text)
}

// Named returns a command as the user can type it here: in the chat, commands begin
// with a slash. Every text that mentions a command must use it.
func (o *Output) Named(command string) string {
	if o.inChat {
		return "/" + command
	}
	return "replan " + command
}

// OutsideChat returns a text, or "" in the chat, for text about flags that the chat
// does not take.
func (o *Output) OutsideChat(text string) string {
	if o.inChat {
		return ""
	}
	return text
}

// LineWriter returns a function that writes a line to b. It makes control characters
// in external text visible, so that such text cannot add lines.
func LineWriter(b *strings.Builder) func(format string, args ...any) {
	return func(format string, args ...any) {
		text := untrusted.Visible(fmt.Sprintf(format, args...))
		b.WriteString(strings.ReplaceAll(text, "\n", " ") + "\n")
	}
}

// PrintDeleted prints which files were removed, or would be.
func (o *Output) PrintDeleted(files []string) error {
	if o.JSON() {
		return o.PrintJSON(map[string][]string{"deleted": NoNil(files)})
	}
	if len(files) == 0 && o.execution().DryRun {
		return o.Print("nothing would be removed\n")
	}
	if len(files) == 0 {
		return o.Print("nothing was removed\n")
	}
	var b strings.Builder
	did := "removed"
	if o.execution().DryRun {
		did = "would be removed:"
	}
	for _, f := range files {
		_, _ = fmt.Fprintf(&b, "%s %s\n", did, f)
	}
	return o.Print(b.String())
}

// NoNil returns an empty list for nil, which JSON shows as null.
func NoNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// TimeShown is the time format of lists.
const TimeShown = "2006-01-02 15:04"
