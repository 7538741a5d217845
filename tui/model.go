package tui

import (
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/review"
	"replan/tui/step"
)

// Model is the whole screen. It routes messages to its panes and composes what
// they draw. The panes themselves know what a run is and how they look.
type Model struct {
	options Options
	theming theming
	home    string
	look    *draw.Look
	keys    *keymap.Map
	outbox  *outbox

	clipboard func(text string) tea.Cmd // copies text to the terminal's clipboard

	layout layout
	mapped bool // the plan fills the screen while it has the focus
	focus  pane
	clock  clock
	tabAt  [panes]draw.Rect

	chat     *chat.Pane
	input    *input.Input
	complete *input.Completer // over the input
	recall   *input.Recaller
	dag      *dag.Pane
	detail   *step.Pane
	ask      *ask.Dialog
	runs     *dialog.Runs
	undo     *dialog.Undo
	models   *dialog.Models
	talk     *dialog.Exchanges
	review   *review.Dialog
	help     *dialog.Help

	palette *dialog.Palette
	allowed *dialog.Allowed
	inspectors
	picker   *dialog.Themes
	notify   notifier
	overlays []overlay      // dialogs that replace the panes, the topmost first
	groups   []keymap.Group // every action

	*stage                // the current run: the one under way, else the newest one the user started
	stages       []*stage // the user's run, then those that plan tools started in it, in order
	shown        *stage   // the run in the plan pane
	status       session.Status
	sessionGates []ask.OpenGate
	told         string        // the run shown in the chat
	retold       *retelling    // set while the session repeats a run's events
	resumes      int           // how many runs were resumed here
	reopened     *ask.Question // a failed step of an ended run, reopened by a key
	sent         string        // the last text sent
	heardNow     bool          // the session has sent its status; earlier events were history
	preparing    bool          // something was sent, but its run has not started
	stopping     bool
	introduced   bool           // the chat has named the project's notes
	troubled     string         // the chat's last explanation why no run can start
	queue        session.Queue  // what the session prepares, and what waits
	chosen       *runner.Choose // a choice made in a dialog that the session does not use yet
	warmed       time.Time      // when typing last triggered loading the model
	closed       bool           // the session is over

	copied   *draw.Code // by the last key
	selected selector   // by the mouse

	toasts  toasts  // short notices
	servers servers // the servers as far as known
	playing         // playback of a run

	settings *dialog.Settings

	quitting bool   // asks whether to quit
	warned   bool   // the last key asked to stop at an open gate and got a warning
	sure     bool   // this key repeats that request
	word     string // about the last key, shown in the footer
	passing  bool   // the word disappears with the next event
}

// New returns the screen of a session. It reads no events itself: [Run] or
// [Forward] deliver them.
func New(s Session, o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	theming := newTheming(o)
	l := draw.NewLook(theming.theme())
	m := &Model{
		options: o,
		theming: theming,
		clock:   clock{calm: o.ReducedMotion},
		look:    l,
		keys:    keymap.New(),
		outbox:  &outbox{session: s},

		clipboard: tea.SetClipboard,

		input:  input.New(l, o.Suggestion),
		dag:    dag.New(l),
		detail: step.New(l),
		stage:  newStage(nil),
	}
	m.shown = m.stage
	m.dag.Keys, m.detail.Keys = m.keys, m.keys
	if home, err := os.UserHomeDir(); err == nil {
		m.home = strings.TrimRight(home, "/")
	}
	m.chat = chat.New(l, o.Intro, m.activity)
	if o.Replay {
		m.input.Close("replay " + l.Glyphs.Separator + " " + m.keys.Name("replay.quit") + " quits")
	}
	m.toasts.pauses = o.Pauses.Usual()
	m.ask = ask.New(l, m.keys, m.toasts.pauses)
	m.runs = &dialog.Runs{Look: l, Keys: m.keys, Live: m.live}
	m.undo = &dialog.Undo{Look: l, Keys: m.keys}
	m.models = &dialog.Models{Look: l, Keys: m.keys}
	m.talk = &dialog.Exchanges{Look: l, Keys: m.keys, Runs: m.talkRuns}
	m.inspectors = m.newInspectors()
	m.picker = &dialog.Themes{Look: l, Keys: m.keys}
	m.complete = input.NewCompleter(l, m.keys)
	m.recall = &input.Recaller{Look: l, Keys: m.keys}
	m.review = &review.Dialog{Look: l, Keys: m.keys, Pauses: m.toasts.pauses, Hidden: m.ask.Showing}
	m.groups = m.newGroups()
	m.help = &dialog.Help{Look: l, Keys: m.keys, Groups: m.groups, Version: o.Version}
	m.palette = &dialog.Palette{Look: l, Keys: m.keys, Groups: m.groups}
	if err := m.keys.Rebind(o.Keys); err != nil {
		m.say("The keys of the configuration: " + err.Error())
	}
	m.notify = newNotifier(o.Notify, o.Now())
	m.allowed = &dialog.Allowed{Look: l, Keys: m.keys}
	m.chat.Welcome = m.welcome
	m.selected = selector{chat: m.chat, look: l, screen: m.screen}
	m.runs.GoOn, m.runs.Busy = o.GoOn, m.running
	m.runs.Undo = func(s agent.Summary) keymap.Query { return m.undo.Ask(s.Run, dialog.RunWords(m.look, s)) }
	m.settings = &dialog.Settings{Look: l, Keys: m.keys, Live: m.liveSetting, Turn: m.turnSetting, Path: m.shortPath, Find: m.actionOf, Copy: m.copyText}
	m.servers = servers{Servers: &dialog.Servers{Look: l, Keys: m.keys}, lost: map[string]bool{}}
	m.overlays = []overlay{m.help, m.palette, m.picker, m.allowed, m.undo, m.runs, m.models, m.talk}
	m.overlays = append(m.overlays, m.servers.Servers, m.settings)
	m.overlays = append(m.overlays, m.timeline, m.revisions)
	m.overlays = append(m.overlays, m.review) // below the dialogs that open over it
	if len(o.Recorded) > 0 {
		m.play(o.Recorded, o.Speed, false)
	}
	return m
}

// Init queries the terminal's background color and sends the initial goal.
func (m *Model) Init() tea.Cmd {
	var cmds []tea.Cmd
	if !m.options.NoColor {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if m.player != nil {
		cmds = append(cmds, m.player.Wait())
	}
	if goal := strings.TrimSpace(m.options.Goal); goal != "" {
		m.preparing = true
		cmds = append(cmds, m.outbox.send(runner.Submit{Text: goal}), m.Animate())
	}
	return tea.Batch(cmds...)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	if cmd, taken := m.takePlayed(msg); taken {
		return m, cmd
	}
	m.hear(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		cmd = m.resize(msg)
	case eventsMsg:
		cmd = m.takeEvents(msg)
	case tickMsg:
		cmd = m.beat(msg)
	case tea.EnvMsg:
		cmd = m.notify.learn(msg)
	case tea.ModeReportMsg:
		m.notify.told(msg)
	case tea.FocusMsg:
		m.notify.looks = attentive
	case tea.BlurMsg:
		m.notify.looks = elsewhere
	case idleMsg:
		cmd = m.notify.idle(msg, m.ask.Waiting() > 0 || m.review.Waits(), m.options.Now())
	case ask.CheckMsg:
		cmd = m.ask.Check(msg)
	case ask.GraceMsg:
		m.ask.Rested(msg)
	case review.RestMsg:
		m.review.Rested(msg)
	case tea.KeyPressMsg:
		m.notify.press(m.options.Now())
		m.toasts.clear()
		cmd = m.press(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg)
	case tea.MouseMsg:
		cmd = m.takeMouse(msg)
	case draftMsg:
		cmd = m.openEditor(msg)
	case editedMsg:
		m.edited(msg)
	default:
		var taken bool
		if cmd, taken = m.takeAnswer(msg); !taken {
			cmd = m.input.Update(msg)
		}
	}
	m.arrange()
	return m, tea.Batch(cmd, m.toasts.timer())
}

// resize stores the size of the terminal. The first size triggers the first
// frame.
func (m *Model) resize(msg tea.WindowSizeMsg) tea.Cmd {
	first := m.layout.width == 0
	m.layout.width, m.layout.height = msg.Width, msg.Height
	drawn := m.options.Drawn
	if !first || drawn == nil {
		return nil
	}
	return func() tea.Msg {
		drawn()
		return nil
	}
}

// Animate starts the clock if something spins.
func (m *Model) Animate() tea.Cmd {
	if m.spins() {
		return m.clock.start()
	}
	return nil
}

// beat advances every animation by one frame.
func (m *Model) beat(t tickMsg) tea.Cmd {
	cmd := m.clock.tick(t, m.spins())
	m.look.Beat++
	m.look.Now = m.clock.now()
	m.refresh()
	return cmd
}

// arrange assigns every pane its place.
func (m *Model) arrange() {
	width, height := m.layout.width, m.layout.height
	if width == 0 {
		return
	}
	w := wish{input: m.input.Height(), sheet: m.ask.Height(width), focus: m.focus, mapped: m.mapping()}
	m.layout = arrange(width, height, w)
	if m.layout.small {
		return
	}
	if m.layout.input.W > 0 {
		// The input's width determines its height, and that the chat's.
		queued := m.queueLines()
		m.input.SetSize(m.layout.input.W, m.layout.body.H/3-queued)
		w.input = m.input.Height() + queued
		m.layout = arrange(width, height, w)
	}
	m.chat.SetSize(m.layout.chat.W, m.layout.chat.H)
	m.dag.SetSize(m.layout.plan.W, m.layout.plan.H)
	m.dag.SetFocus(m.focus == panePlan)
	m.dag.SetMapped(m.layout.mapped)
	m.detail.SetSize(m.layout.step.W, m.layout.step.H)
	m.detail.SetTabbed(!m.layout.wide)
	m.ask.SetSize(m.layout.sheet.W, m.layout.sheet.H)
	m.input.SetFocus(m.focus == paneChat && !m.covered() && !m.quitting)
}

// covered reports whether a dialog receives the keys.
func (m *Model) covered() bool { return m.ask.Open || m.over() != nil }

// View draws the screen: exactly as many lines as the terminal has, each
// exactly as wide.
func (m *Model) View() tea.View {
	if m.player != nil {
		return m.viewPlayed()
	}
	v := tea.NewView("")
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = m.windowTitle()
	v.BackgroundColor, v.ForegroundColor = m.look.Theme.Ground, m.look.Theme.Text
	v.ReportFocus = m.notify.mode != NotifyOff
	if m.layout.width <= 0 || m.layout.height <= 0 {
		return v
	}
	screen := m.screen()
	for i, line := range screen {
		screen[i] = m.look.Exactly(line, m.layout.width)
	}
	m.selected.light(screen)
	v.SetContent(strings.Join(screen, "\n"))
	v.Cursor = m.cursor()
	return v
}

// cursor returns the position of the text cursor, nil if nothing is being
// typed.
func (m *Model) cursor() *tea.Cursor {
	switch {
	case m.layout.small || m.quitting:
		return nil
	case m.over() != nil:
		return m.editCursor()
	case m.ask.Editing():
		c := m.ask.Editor.Cursor()
		if c != nil {
			c.X += m.layout.sheet.X + 2
			c.Y += m.layout.sheet.Y + 1
		}
		return c
	case m.layout.input.H == 0 || m.recall.Open:
		return nil
	case m.searching():
		return tea.NewCursor(m.layout.chat.X+m.chat.SearchCursor(), m.layout.chat.Y+m.layout.chat.H-1)
	}
	c := m.input.Cursor()
	if c != nil {
		c.X += m.layout.input.X
		c.Y += m.layout.input.Y + m.queueShown()
	}
	return c
}

func (m *Model) windowTitle() string {
	title := "replan"
	if m.run != nil {
		title += " - " + m.look.Cut(untrusted.FirstLine(m.run.Goal), 60)
	}
	return title
}

// screen returns every line of the screen.
func (m *Model) screen() []string {
	if m.layout.small {
		return m.smallScreen()
	}
	screen := make([]string, 0, m.layout.height)
	screen = append(screen, m.header())
	over := m.over()
	switch {
	case over != nil:
		screen = append(screen, over.Draw(m.layout.width, m.layout.height-2)...)
	case m.layout.body.H == 0:
	case m.layout.mapped:
		screen = append(screen, m.mapScreen()...)
	case m.layout.wide:
		left, right := m.leftHalf(), m.rightHalf()
		for i := range left {
			screen = append(screen, left[i]+right[i])
		}
	default:
		screen = append(screen, m.tabRow())
		screen = append(screen, m.tabBody()...)
	}
	if m.layout.sheet.H > 0 && over == nil {
		m.ask.Mute = m.quitting
		screen = append(screen, m.ask.Draw(m.layout.sheet.W, m.layout.sheet.H)...)
	}
	screen = append(screen, m.footer())
	m.toasts.lay(m.look, m.layout.width, screen[m.toastsFrom():], m.layout.height-m.toastsFrom()-m.layout.sheet.H-1)
	return screen
}

// toastsFrom returns the first line that notices may cover.
func (m *Model) toastsFrom() int {
	if m.layout.tabs.H > 0 && m.over() == nil {
		return m.layout.tabs.Y + 1
	}
	return 1
}

// smallScreen returns a message that the window is too small.
func (m *Model) smallScreen() []string {
	for _, text := range []string{"replan needs 40 x 12 cells; please enlarge this window.", "Enlarge the window.", "Too small."} {
		lines := draw.Wrap(text, m.layout.width)
		if len(lines) <= m.layout.height {
			return m.look.Block(lines, m.layout.width, m.layout.height)
		}
	}
	return m.look.Block([]string{"replan"}, m.layout.width, m.layout.height)
}

// edgeStyle returns the style of a pane's border.
func (m *Model) edgeStyle(p pane) lipgloss.Style {
	if m.focus == p && !m.ask.Showing() {
		return m.look.Focus
	}
	return m.look.Border
}

// leftHalf draws the chat with the input below it.
func (m *Model) leftHalf() []string {
	l, style := m.look, m.edgeStyle(paneChat)
	lines := m.overInput(draw.Padded(m.chat.Lines()), m.layout.left.W-2)
	title, note := m.chatNotice() // for the view just drawn
	sections := []draw.Section{{Title: m.paneTitle("Chat", m.focus == paneChat), Note: note, Lines: lines, Style: style}}
	if m.layout.input.H > 0 {
		lines := l.Block(m.composed(), m.layout.input.W, m.layout.input.H)
		sections = append(sections, draw.Section{Title: title, Lines: draw.Padded(lines), Style: style})
	}
	return l.Frame(m.layout.left.W, l.Focus, sections...)
}

// chatNotice returns the labels of the edge between chat and input: a problem,
// and how many lines are below.
func (m *Model) chatNotice() (title, note string) {
	l := m.look
	if n, exact := m.chat.MoreBelow(); n > 0 {
		note = english.Count(n, "line") + " below"
		if !exact {
			note = "about " + note
		}
		note = l.Muted.Render(note)
	}
	switch {
	case m.closed && m.options.Replay:
		title = l.Muted.Render("the replay is over")
	case m.closed:
		title = l.Warning.Render("the session is closed")
	}
	return title, note
}

// rightHalf draws the plan above the step.
func (m *Model) rightHalf() []string {
	l := m.look
	var sections []draw.Section
	if m.layout.plan.H > 0 {
		sections = append(sections, draw.Section{
			Title: m.paneTitle(m.dag.Title(), m.focus == panePlan), Note: m.dag.Summary(),
			Lines: m.dag.Lines(), Style: m.edgeStyle(panePlan),
		})
	}
	if m.layout.step.H > 0 {
		lines := draw.Padded(m.detail.Lines())
		width := m.layout.right.W - 6
		if note := m.dag.Summary(); note != "" && len(sections) > 0 {
			width -= draw.VisibleWidth(note) + 4 // drawn in the same edge
		}
		sections = append(sections, draw.Section{
			Title: m.detail.Title(width), Note: m.detail.Place(), Lines: lines, Style: m.edgeStyle(paneStep),
		})
	}
	return l.Frame(m.layout.right.W, l.Focus, sections...)
}

func (m *Model) paneTitle(title string, focused bool) string {
	if focused {
		return m.look.Strong.Render(title)
	}
	return m.look.Muted.Render(title)
}

// tabBody draws the visible tab.
func (m *Model) tabBody() []string {
	switch m.focus {
	case panePlan:
		return m.dag.Lines()
	case paneStep:
		return draw.Padded(m.detail.Lines())
	}
	out := m.overInput(draw.Padded(m.chat.Lines()), m.layout.width)
	if m.layout.input.H > 0 {
		l, bar := m.look, m.look.Glyphs.Rule
		title, note := m.chatNotice()
		out = append(out, l.Edge(bar, bar, bar, title, note, m.layout.width, l.Border))
		out = append(out, draw.Padded(l.Block(m.composed(), m.layout.input.W, m.layout.input.H))...)
	}
	return out
}
