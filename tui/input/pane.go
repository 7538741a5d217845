package input

import (
	"cmp"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/planning/intent"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// Pane is the text input with everything around it. That is the list of completions or of
// earlier texts above it, the queue, and the message in the user's editor.
type Pane struct {
	State
	*field
	jobs jobList

	options   Options
	styles    *draw.Styles
	keys      *keymap.Map
	completer completer
	history   historySearch
	files     previews

	height    int       // lines of the field and the queue
	listWidth int       // of the list above, as it was drawn; 0 for none
	warmed    time.Time // when typing last triggered loading the model
}

// Options configure the input.
type Options struct {
	Texts    []string                    // texts to send, one after another; each comes back until it is sent
	Editor   []string                    // the user's editor with its arguments; none if empty
	Commands func() []session.Completion // chat commands; nil for none
	Pictures Pictures                    // for messages; nil attaches none that are pasted
	Also     []session.Completion        // commands that the screen carries out, with the values of their arguments
	Now      func() time.Time
}

// State is what the input needs to know of the screen and its session. The root
// keeps it up to date.
type State struct {
	Focused   bool // the chat and its input have the focus
	Covered   bool // a dialog or a question takes the keys
	Closed    bool // the session is over
	Busy      bool // a run is under way or being prepared
	Running   bool // a run is under way
	Steerable bool // something in that run would hear the user
	NoModel   bool // the chat explains how to get a model; enter looks for one
	Blocked   bool // no run can start

	Can session.Abilities
}

// New returns an empty input.
func New(l *draw.Styles, keys *keymap.Map, o Options) *Pane {
	p := &Pane{
		field: newField(l), jobs: jobList{styles: l}, options: o, styles: l, keys: keys,
		completer: newCompleter(l, o.Also), history: historySearch{styles: l}, files: previews{},
	}
	p.Suggest()
	return p
}

// Suggest puts the first of the texts that was not sent yet into an empty input.
func (p *Pane) Suggest() {
	unsent := func(text string) bool { return !p.wasSent(text) }
	if at := slices.IndexFunc(p.options.Texts, unsent); at >= 0 && p.Empty() {
		p.set(p.options.Texts[at])
	}
}

// Update handles a key to type, pasted text, and a click in the pane's own cells. It also
// handles the answer to a query for completions, and the messages of the editor.
func (p *Pane) Update(msg tea.Msg) keymap.Requests {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if p.searching() {
			p.history.add(msg.Text)
			return nil
		}
		return p.typed(msg.Text, func() tea.Cmd { return p.update(msg) })
	case tea.PasteMsg:
		return p.pasted(msg.Content)
	case tea.MouseClickMsg:
		if !p.history.opened() {
			p.SetFocus(true)
			p.pointAt(msg.X, msg.Y-p.jobs.lines(p.height))
		}
	case keymap.AnswerMsg[session.Completions]:
		// Do not report missing completions while the user types.
		if !errors.Is(msg.Err, session.ErrClosed) {
			p.completer.store(msg.Value)
			return p.suggestAgain()
		}
	case keymap.FileMsg:
		p.keepPreview(msg)
	case EditedMsg:
		return p.edited(msg)
	case FoundMsg:
		return p.found(msg)
	case CopiedMsg:
		return p.copied(msg)
	default:
		return keymap.Requests{p.update(msg)}
	}
	return nil
}

// typed changes the text by a key or a paste that adds text. It updates the
// completions and loads the model if the user begins to type.
func (p *Pane) typed(text string, change func() tea.Cmd) keymap.Requests {
	warm := p.warms(text)
	cmd := change()
	w := append(keymap.Requests{cmd}, p.suggest()...)
	if warm {
		w = append(w, session.Warm{})
	}
	return w
}

// pasted inserts pasted text into the field, or into the query of the history
// search.
func (p *Pane) pasted(text string) keymap.Requests {
	if !p.TakesText() {
		return keymap.ShowFooter(p.NoText())
	}
	w := keymap.Requests{keymap.Focus(keymap.PlaceChat)}
	if p.history.opened() {
		p.history.add(text)
	} else {
		p.SetFocus(true)
		w = append(w, p.typed(text, func() tea.Cmd { p.paste(text); return p.findPicture(text) })...)
	}
	return w
}

// warmEvery is the minimum time between two model loads triggered by typing.
const warmEvery = time.Minute

// warms reports whether typing text should load the model, since the next
// request needs it. If so, it starts a new interval.
func (p *Pane) warms(text string) bool {
	if text == "" || text[0] == '/' || text == intent.CommandMark || !p.Empty() || p.Closed || p.Busy || p.Blocked {
		return false
	}
	now := p.options.Now()
	if !p.warmed.IsZero() && now.Sub(p.warmed) < warmEvery {
		return false
	}
	p.warmed = now
	return true
}

// NoText returns why the input takes no text: only a replay closes it.
func (p *Pane) NoText() string {
	return "A replay takes no input; " + p.keys.Name("replay.quit") + " quits."
}

// SetState stores what the input needs to know.
func (p *Pane) SetState(s State) { p.State = s }

// replace replaces the whole text, pasted texts included.
func (p *Pane) replace(text string) {
	p.Clear()
	p.set(text)
}

// Height adapts the input to a width and a maximum number of lines, of which at most
// queued list the queue. It returns the height that the input wants.
func (p *Pane) Height(width, lines, queued int) int {
	waiting := p.jobs.setMost(queued)
	p.setSize(width, lines-waiting)
	return p.fieldHeight() + waiting
}

// SetHeight sets the height of the input in lines; 0 hides it.
func (p *Pane) SetHeight(lines int) { p.height = lines }

// invitation says what can be typed here, or else done.
func (p *Pane) invitation() string {
	switch {
	case p.Can.NoGoals == "" && p.IsCommand():
		return "Type a command for the shell; " + p.keys.Name("list.erase") + " leaves"
	case p.Can.NoGoals == "":
		return "Describe a goal, or / for commands"
	case p.Closed:
		return p.keys.Name("quit") + " quits, " + p.keys.Name("runs") + " lists runs"
	case p.Steerable:
		return "Type a remark: " + p.keys.Name("run.steer") + " sends it"
	default:
		return p.keys.Name("quit") + " " + cmp.Or(p.Can.Leaving, "quits")
	}
}

// View draws the queue above the text field.
func (p *Pane) View(size draw.Rect) []string {
	p.invite(p.invitation())
	lines := p.jobs.draw(size.W, p.jobs.lines(size.H))
	return p.styles.Block(append(lines, p.lines()...), size.W, size.H)
}

// Cursor returns the position of the text cursor in the input, nil if nothing is
// being typed.
func (p *Pane) Cursor() *tea.Cursor {
	if p.height == 0 || p.history.opened() {
		return nil
	}
	c := p.cursor()
	if c != nil {
		c.Y += p.jobs.lines(p.height)
	}
	return c
}
