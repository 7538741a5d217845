package tty

import (
	"io"
	"os"
	"runtime"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"replan/themes"
	"replan/tui/draw"
)

// Terminal is a terminal that lines are printed on, with the theme's colours.
type Terminal struct {
	Look *draw.Look
	out  *os.File
}

// Options say how to draw.
type Options struct {
	Themes *themes.Set
	Theme  themes.Name
	Mode   themes.Mode
	Getenv func(string) string
}

// Open returns the terminal of out. It returns nil if out is none, or one that
// takes no escape sequences.
func Open(in io.Reader, out io.Writer, o Options) *Terminal {
	file, ok := out.(*os.File)
	kind := o.Getenv("TERM")
	if !ok || !term.IsTerminal(file.Fd()) || kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return nil
	}
	mode := o.Mode.For(colorprofile.Detect(file, os.Environ()))
	mode.NoColor = mode.NoColor || o.Mode.NoColor
	dark := true
	if o.Theme == "" || o.Theme == themes.Auto {
		dark = mode.NoColor || darkBackground(in, file, o.Getenv)
	}
	return &Terminal{Look: draw.NewLook(o.Themes.New(o.Theme, dark, mode)), out: file}
}

// darkBackground reports whether the background of a terminal is dark. It asks the
// terminal unless its environment says so.
func darkBackground(in io.Reader, out *os.File, getenv func(string) string) bool {
	if colours := getenv("COLORFGBG"); colours != "" {
		background := colours[strings.LastIndexByte(colours, ';')+1:]
		return background != "7" && background != "15"
	}
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) || !inForeground(file.Fd()) {
		return true
	}
	return lipgloss.HasDarkBackground(file, out)
}

// Width returns the number of cells of a line.
func (t *Terminal) Width() int {
	const usual = 80
	width, _, err := term.GetSize(t.out.Fd())
	if err != nil || width <= 0 {
		return usual
	}
	return width
}

// Diff draws a diff as the screen does.
func (t *Terminal) Diff(text string) string {
	d := &draw.Document{Look: t.Look, Width: t.Width()}
	d.Changes(text)
	return strings.Join(d.Whole(), "\n") + "\n"
}
