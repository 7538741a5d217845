package tui

import (
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/tui/untrusted"
)

// Model is the whole screen. It routes messages to its panes and puts what they
// draw together; what a run is and how a pane looks, they know themselves.
type Model struct {
	options Options
	theming theming
	home    string
	look    *look
	keys    *keyMap
	outbox  *outbox

	clipboard func(text string) tea.Cmd // hands a text to the terminal's clipboard

	layout layout
	mapped bool // the plan has the whole screen while it has the focus
	focus  pane
	clock  clock
	tabAt  [panes]rect

	chat     *chatPane
	input    *input
	complete *completer // over the input
	recall   *recaller
	dag      *dagPane
	detail   *detailPane
	ask      *askDialog
	runs     *runsDialog
	undo     *undoDialog
	models   *modelsDialog
	talk     *talkDialog
	review   *reviewDialog
	help     *helpDialog

	palette *paletteDialog
	allowed *allowedDialog
	inspectors
	picker   *themesDialog
	notify   notifier
	overlays []overlay // the dialogs that stand in place of the panes, the uppermost first
	groups   []group   // every action

	*stage                // the run that is told of: the one that goes on, else the newest that the user started
	stages       []*stage // that one, and those that plan tools started in it, in their order
	shown        *stage   // the run in the plan pane
	status       session.Status
	sessionGates []openGate
	told         string     // the run that the chat tells of
	retold       *retelling // set while a run's events are told again
	resumes      int        // how often a run was taken up here
	reopened     *question  // a failed step of a run that has ended, put to the user by a key
	sent         string     // last
	heardNow     bool       // the session has said how it stands: what was said in it before has been told
	preparing    bool       // something was sent and its run has not started
	stopping     bool
	introduced   bool           // the chat names the project's notes
	troubled     string         // what it has said of why no run can start
	queue        session.Queue  // what the session gets ready, and what waits
	chosen       *runner.Choose // what was chosen in a dialog and the session does not work by yet
	warmed       time.Time      // when the model was last to be loaded because the user types
	closed       bool           // the session is over

	copied   *code     // with the last key
	selected selection // with the mouse

	around

	quitting bool   // asks whether to quit
	warned   bool   // the last key asked to stop at an open gate, and was told so
	sure     bool   // this key asks again
	word     string // on the last key, in the footer
	passing  bool   // the word goes with the next thing that happens
}

// New makes the screen of a session. It reads no events by itself: [Run] or
// [Forward] hands them over.
func New(s Session, o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	theming := newTheming(o)
	l := newLook(theming.theme())
	m := &Model{
		options: o,
		theming: theming,
		clock:   clock{calm: o.ReducedMotion},
		look:    l,
		keys:    newKeyMap(),
		outbox:  &outbox{session: s},

		clipboard: tea.SetClipboard,

		input:  newInput(l, o.Suggestion),
		dag:    newDAGPane(l),
		detail: newDetailPane(l),
		stage:  newStage(nil),
	}
	m.shown = m.stage
	if home, err := os.UserHomeDir(); err == nil {
		m.home = strings.TrimRight(home, "/")
	}
	m.chat = newChatPane(l, o.Intro, m.activity)
	if o.Replay {
		m.input.close("replay " + l.glyphs.Separator + " q quits")
	}
	m.toasts.pauses = o.Pauses.usual()
	m.ask = newAskDialog(l, m.keys, m.toasts.pauses)
	m.runs = &runsDialog{look: l, keys: m.keys, live: m.live}
	m.undo = &undoDialog{look: l, keys: m.keys}
	m.models = &modelsDialog{look: l, keys: m.keys}
	m.talk = &talkDialog{look: l, keys: m.keys, runs: m.talkRuns}
	m.inspectors = m.newInspectors()
	m.picker = &themesDialog{look: l, keys: m.keys}
	m.complete = newCompleter(l, m.keys)
	m.recall = &recaller{look: l, keys: m.keys}
	m.review = &reviewDialog{look: l, keys: m.keys, pauses: m.toasts.pauses, hidden: m.ask.showing}
	m.groups = m.newGroups()
	m.help = &helpDialog{look: l, keys: m.keys, groups: m.groups, version: o.Version}
	m.palette = &paletteDialog{look: l, keys: m.keys, groups: m.groups}
	if err := m.keys.rebind(o.Keys); err != nil {
		m.say("The keys of the configuration: " + err.Error())
	}
	m.notify = newNotifier(o.Notify, o.Now())
	m.allowed = &allowedDialog{look: l, keys: m.keys}
	m.around.begin(m)
	m.overlays = []overlay{m.help, m.palette, m.picker, m.allowed, m.undo, m.runs, m.models, m.talk}
	m.overlays = append(m.overlays, m.around.dialogs()...)
	m.overlays = append(m.overlays, m.inspectors.dialogs()...)
	m.overlays = append(m.overlays, m.review) // under what is opened over it
	if len(o.Recorded) > 0 {
		m.play(o.Recorded, o.Speed, false)
	}
	return m
}

// Init asks the terminal for its background and sends the goal that the screen
// was opened with.
func (m *Model) Init() tea.Cmd {
	var cmds []tea.Cmd
	if !m.options.NoColor {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if m.player != nil {
		cmds = append(cmds, m.player.wait())
	}
	if goal := strings.TrimSpace(m.options.Goal); goal != "" {
		m.preparing = true
		cmds = append(cmds, m.outbox.send(runner.Submit{Text: goal}), m.animate())
	}
	return tea.Batch(cmds...)
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	if cmd, taken := m.playing(msg); taken {
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
		cmd = m.notify.idle(msg, m.ask.waiting() > 0 || m.review.waits(), m.options.Now())
	case checkMsg:
		cmd = m.ask.check(msg)
	case graceMsg:
		m.ask.rested(msg)
	case reviewRestMsg:
		m.review.rested(msg)
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
			cmd = m.input.update(msg)
		}
	}
	m.arrange()
	return m, tea.Batch(cmd, m.toasts.timer())
}

// resize takes the size of the terminal; the first one is the first frame.
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

// animate sets the clock going while something spins.
func (m *Model) animate() tea.Cmd {
	if m.spins() {
		return m.clock.start()
	}
	return nil
}

// beat moves every animation on by one frame.
func (m *Model) beat(t tickMsg) tea.Cmd {
	cmd := m.clock.tick(t, m.spins())
	m.look.beat++
	m.look.now = m.clock.now()
	m.refresh()
	return cmd
}

// arrange gives every pane its place.
func (m *Model) arrange() {
	width, height := m.layout.width, m.layout.height
	if width == 0 {
		return
	}
	w := wish{input: m.input.height(), sheet: m.ask.height(width), focus: m.focus, mapped: m.mapping()}
	m.layout = arrange(width, height, w)
	if m.layout.small {
		return
	}
	if m.layout.input.w > 0 {
		// The input's width decides about its height, and that about the chat's.
		queued := m.queueLines()
		m.input.setSize(m.layout.input.w, m.layout.body.h/3-queued)
		w.input = m.input.height() + queued
		m.layout = arrange(width, height, w)
	}
	m.chat.setSize(m.layout.chat.w, m.layout.chat.h)
	m.dag.setSize(m.layout.plan.w, m.layout.plan.h)
	m.dag.setFocus(m.focus == panePlan)
	m.dag.setMapped(m.layout.mapped)
	m.detail.setSize(m.layout.step.w, m.layout.step.h)
	m.detail.setTabbed(!m.layout.wide)
	m.ask.setSize(m.layout.sheet.w, m.layout.sheet.h)
	m.input.setFocus(m.focus == paneChat && !m.covered() && !m.quitting)
}

// covered reports whether a dialog has the keys.
func (m *Model) covered() bool { return m.ask.open || m.over() != nil }

// View draws the screen: exactly as many lines as the terminal has, none longer
// than it is wide.
func (m *Model) View() tea.View {
	if m.player != nil {
		return m.viewPlayed()
	}
	v := tea.NewView("")
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = m.windowTitle()
	v.BackgroundColor, v.ForegroundColor = m.look.theme.Ground, m.look.theme.Text
	v.ReportFocus = m.notify.mode != NotifyOff
	if m.layout.width <= 0 || m.layout.height <= 0 {
		return v
	}
	screen := m.screen()
	for i, line := range screen {
		screen[i] = m.look.exactly(line, m.layout.width)
	}
	m.light(screen)
	v.SetContent(strings.Join(screen, "\n"))
	v.Cursor = m.cursor()
	return v
}

// cursor is where text is being typed, if anywhere.
func (m *Model) cursor() *tea.Cursor {
	switch {
	case m.layout.small || m.quitting:
		return nil
	case m.over() != nil:
		return m.editCursor()
	case m.ask.editing():
		c := m.ask.editor.cursor()
		if c != nil {
			c.X += m.layout.sheet.x + 2
			c.Y += m.layout.sheet.y + 1
		}
		return c
	case m.layout.input.h == 0 || m.recall.open:
		return nil
	case m.searching():
		return tea.NewCursor(m.layout.chat.x+m.chat.searchCursor(), m.layout.chat.y+m.layout.chat.h-1)
	}
	c := m.input.cursor()
	if c != nil {
		c.X += m.layout.input.x
		c.Y += m.layout.input.y + m.queueShown()
	}
	return c
}

func (m *Model) windowTitle() string {
	title := "replan"
	if m.run != nil {
		title += " - " + m.look.cut(untrusted.FirstLine(m.run.Goal), 60)
	}
	return title
}

// screen draws every line.
func (m *Model) screen() []string {
	if m.layout.small {
		return m.smallScreen()
	}
	screen := make([]string, 0, m.layout.height)
	screen = append(screen, m.header())
	over := m.over()
	switch {
	case over != nil:
		screen = append(screen, over.draw(m.layout.width, m.layout.height-2)...)
	case m.layout.body.h == 0:
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
	if m.layout.sheet.h > 0 && over == nil {
		m.ask.mute = m.quitting
		screen = append(screen, m.ask.draw(m.layout.sheet.w, m.layout.sheet.h)...)
	}
	screen = append(screen, m.footer())
	m.lay(screen, m.toastsFrom(), m.layout.height-m.toastsFrom()-m.layout.sheet.h-1)
	return screen
}

// toastsFrom is the first line that notices may stand on.
func (m *Model) toastsFrom() int {
	if m.layout.tabs.h > 0 && m.over() == nil {
		return m.layout.tabs.y + 1
	}
	return 1
}

// smallScreen says that there is no room.
func (m *Model) smallScreen() []string {
	for _, text := range []string{"replan needs 40 x 12 cells; please enlarge this window.", "Enlarge the window.", "Too small."} {
		lines := wrap(text, m.layout.width)
		if len(lines) <= m.layout.height {
			return m.look.block(lines, m.layout.width, m.layout.height)
		}
	}
	return m.look.block([]string{"replan"}, m.layout.width, m.layout.height)
}

// edgeStyle is the style of a pane's border.
func (m *Model) edgeStyle(p pane) lipgloss.Style {
	if m.focus == p && !m.ask.showing() {
		return m.look.Focus
	}
	return m.look.Border
}

// leftHalf is the chat with the input under it.
func (m *Model) leftHalf() []string {
	l, style := m.look, m.edgeStyle(paneChat)
	lines := m.overInput(padded(m.chat.lines()), m.layout.left.w-2)
	title, note := m.chatNotice() // of the view that was just drawn
	sections := []section{{title: m.paneTitle("Chat", m.focus == paneChat), note: note, lines: lines, style: style}}
	if m.layout.input.h > 0 {
		lines := l.block(m.composed(), m.layout.input.w, m.layout.input.h)
		sections = append(sections, section{title: title, lines: padded(lines), style: style})
	}
	return l.frame(m.layout.left.w, l.Focus, sections...)
}

// chatNotice is what stands in the edge between chat and input: what is amiss,
// and how much more there is below.
func (m *Model) chatNotice() (title, note string) {
	l := m.look
	if n, exact := m.chat.moreBelow(); n > 0 {
		note = plural(n, "line") + " below"
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

// rightHalf is the plan above the step.
func (m *Model) rightHalf() []string {
	l := m.look
	var sections []section
	if m.layout.plan.h > 0 {
		sections = append(sections, section{
			title: m.paneTitle(m.dag.title(), m.focus == panePlan), note: m.dag.summary(),
			lines: m.dag.lines(), style: m.edgeStyle(panePlan),
		})
	}
	if m.layout.step.h > 0 {
		lines := padded(m.detail.lines())
		width := m.layout.right.w - 6
		if note := m.dag.summary(); note != "" && len(sections) > 0 {
			width -= visibleWidth(note) + 4 // which stands in the same edge
		}
		sections = append(sections, section{
			title: m.detail.title(width), note: m.detail.place(), lines: lines, style: m.edgeStyle(paneStep),
		})
	}
	return l.frame(m.layout.right.w, l.Focus, sections...)
}

func (m *Model) paneTitle(title string, focused bool) string {
	if focused {
		return m.look.Strong.Render(title)
	}
	return m.look.Muted.Render(title)
}

// tabBody is the tab in view.
func (m *Model) tabBody() []string {
	switch m.focus {
	case panePlan:
		return m.dag.lines()
	case paneStep:
		return padded(m.detail.lines())
	}
	out := m.overInput(padded(m.chat.lines()), m.layout.width)
	if m.layout.input.h > 0 {
		l, bar := m.look, m.look.glyphs.Rule
		title, note := m.chatNotice()
		out = append(out, l.edge(bar, bar, bar, title, note, m.layout.width, l.Border))
		out = append(out, padded(l.block(m.composed(), m.layout.input.w, m.layout.input.h))...)
	}
	return out
}
