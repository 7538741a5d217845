package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
)

// terminalTimeout bounds how long a terminal may take to describe itself. One that
// knows no query never answers.
const terminalTimeout = time.Second

// The smallest window that the full screen fits.
const leastWidth, leastHeight = 40, 12

// Terminal asks the terminal for its size, colors and keyboard. In and out are the
// terminal; out is nil where there is none. Ctrl+c calls stop, because it is no signal
// in raw mode.
func Terminal(in io.Reader, out io.Writer, environ []string, system string, stop func()) func(context.Context) []Check {
	return func(ctx context.Context) []Check {
		const subject = "Terminal"
		if out == nil {
			return []Check{{Subject: subject, Name: "terminal", State: Off, Detail: "none: commands print plain lines"}}
		}
		last, err := tea.NewProgram(terminal{}, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
			tea.WithEnvironment(environ), tea.WithoutSignalHandler()).Run()
		if errors.Is(err, tea.ErrInterrupted) {
			stop()
		}
		seen, ok := last.(terminal)
		if !ok {
			return []Check{{subject, "terminal", Failed, sentence(fmt.Errorf("open the terminal: %w", err)), ""}}
		}
		return seen.checks(subject, environ, system)
	}
}

// terminal is the program that waits for the terminal's answers.
type terminal struct {
	width, height int
	profile       colorprofile.Profile
	background    string // "dark" or "light"; "" without an answer
	version       string // its name and version; "" without an answer
	again         bool   // it was asked for its attributes again
	enhanced      bool   // its keyboard reports keys such as shift+enter
}

func (t terminal) Init() tea.Cmd {
	return tea.Batch(tea.Raw(ansi.RequestBackgroundColor+ansi.RequestNameVersion+ansi.RequestPrimaryDeviceAttributes), tea.Tick(terminalTimeout, func(time.Time) tea.Msg { return tea.Quit() }))
}

func (t terminal) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		t.width, t.height = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		t.profile = msg.Profile
	case tea.BackgroundColorMsg:
		t.background = "light"
		if msg.IsDark() {
			t.background = "dark"
		}
	case tea.TerminalVersionMsg:
		t.version = msg.Name
	case tea.KeyboardEnhancementsMsg:
		t.enhanced = msg.SupportsKeyDisambiguation()
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+c" {
			return t, tea.Interrupt
		}
	case uv.PrimaryDeviceAttributesEvent:
		// Nearly every terminal answers this, after all that was asked before. Bubble Tea
		// asks about the keyboard with the first frame, so ask once more behind that.
		if t.again {
			return t, tea.Quit
		}
		t.again = true
		return t, tea.Raw(ansi.RequestPrimaryDeviceAttributes)
	}
	return t, nil
}

func (t terminal) View() tea.View { return tea.View{} }

func (t terminal) checks(subject string, environ []string, system string) []Check {
	name := variable(environ, "TERM")
	if t.version != "" {
		name += ", " + t.version
	}
	size := Check{Subject: subject, Name: "size", State: OK, Detail: untrusted.Text(fmt.Sprintf("%d×%d", t.width, t.height))}
	if t.width < leastWidth || t.height < leastHeight {
		size.State, size.Fix = Failed, untrusted.Text(fmt.Sprintf("enlarge the window to at least %d×%d", leastWidth, leastHeight))
	}
	colors := Check{Subject: subject, Name: "colors", State: OK, Detail: "none"}
	switch t.profile {
	case colorprofile.TrueColor:
		colors.Detail = "true color"
	case colorprofile.ANSI256:
		colors.Detail = "256"
	case colorprofile.ANSI:
		colors.Detail = "16"
	default:
		if variable(environ, "NO_COLOR") != "" {
			colors.Detail = "off, since NO_COLOR is set"
		}
	}
	if t.background != "" {
		colors.Detail += untrusted.Text(" on a " + t.background + " background")
	}
	keyboard := Check{Subject: subject, Name: "keyboard", State: OK, Detail: "reports every key (Kitty protocol)"}
	if !t.enhanced {
		keyboard.Detail = "standard; shift+enter and enter are the same key, use alt+enter for a new line"
	}
	if system == "darwin" && variable(environ, "TERM_PROGRAM") == "Apple_Terminal" {
		keyboard.State, keyboard.Detail = Warning, "Option types characters instead of alt keys"
		keyboard.Fix = `Settings > Profiles > Keyboard > "Use Option as Meta key"`
	}
	return []Check{{Subject: subject, Name: "type", State: OK, Detail: untrusted.Text(name)}, size, colors, keyboard}
}

// variable returns a variable of the environment; "" if it is not set.
func variable(environ []string, name string) string {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}
