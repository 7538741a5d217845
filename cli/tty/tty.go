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

// Terminal is a terminal that lines are printed on, with the theme's colors.
type Terminal struct {
	Styles  *draw.Styles
	out     *os.File
	profile colorprofile.Profile
}

// Options say how to draw.
type Options struct {
	Themes *themes.Set
	Theme  themes.Name
	Mode   themes.Mode
	Getenv func(string) string
}

// Open returns the terminal of out. It returns nil if out is none, or one that
// takes no escape sequences. It does not ask the terminal for its background: one
// that does not answer would delay the command, and the answer may come after it.
func Open(out io.Writer, o Options) *Terminal {
	kind := o.Getenv("TERM")
	file, ok := out.(*os.File)
	if !ok || !Is(out) || kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return nil
	}
	lipgloss.EnableLegacyWindowsANSI(file)
	profile := colorprofile.Detect(file, os.Environ())
	mode := o.Mode.For(profile)
	mode.NoColor = mode.NoColor || o.Mode.NoColor
	return &Terminal{Styles: draw.NewStyles(theme(o, mode)), out: file, profile: profile}
}

// Writer returns a writer to out that sends only colors of the terminal's depth.
func (t *Terminal) Writer(out io.Writer) io.Writer {
	return &colorprofile.Writer{Forward: out, Profile: t.profile}
}

// theme returns the theme for a terminal. Without one of the user, the environment
// says whether the background is dark, or the colors must suit both.
func theme(o Options, mode themes.Mode) themes.Theme {
	dark := true
	if o.Theme == "" || o.Theme == themes.Auto {
		colors := o.Getenv("COLORFGBG")
		if colors == "" {
			return themes.Either(mode)
		}
		background := colors[strings.LastIndexByte(colors, ';')+1:]
		dark = background != "7" && background != "15"
	}
	return o.Themes.New(o.Theme, dark, mode)
}

// Is reports whether out is a terminal.
func Is(out io.Writer) bool {
	file, ok := out.(term.File)
	return ok && term.IsTerminal(file.Fd())
}

// Styled returns a writer of styled text to out. It drops what out cannot show.
func Styled(out io.Writer) io.Writer {
	if file, ok := out.(*os.File); ok {
		lipgloss.EnableLegacyWindowsANSI(file)
	}
	return colorprofile.NewWriter(out, os.Environ())
}

// Sentence returns what the program says about itself on out, such as an error, behind a
// name. A terminal gets whole words in each line.
func Sentence(out io.Writer, name, sentence string) string {
	if !Is(out) {
		return name + " " + sentence + "\n"
	}
	room := max(Width(out)-len(name)-1, 20)
	return strings.Join(draw.Hang(name+" ", draw.Wrap(sentence, room)), "\n") + "\n"
}

// Width returns the number of cells of a line of out, 80 if it is unknown.
func Width(out io.Writer) int {
	if file, ok := out.(term.File); ok {
		if width, _, err := term.GetSize(file.Fd()); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// Width returns the number of cells of a line.
func (t *Terminal) Width() int { return Width(t.out) }

// Diff draws a diff as the screen does.
func (t *Terminal) Diff(text string) string {
	d := &draw.Document{Styles: t.Styles, Width: t.Width()}
	d.Changes(text)
	return strings.Join(d.Whole(), "\n") + "\n"
}
