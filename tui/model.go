package tui

import (
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/tui/answerguard"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/clock"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/frame"
	"replan/tui/graphics"
	"replan/tui/input"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/notify"
	"replan/tui/panes"
	"replan/tui/replay"
	"replan/tui/review"
	"replan/tui/selection"
	"replan/tui/step"
)

// Model is the whole screen. It routes messages to its panes and composes what
// they draw. The panes themselves know what a run is and how they look.
type Model struct {
	options  Options
	theming  theming
	look     *draw.Look
	graphics *graphics.Terminal
	keys     *keymap.Map
	outbox   *outbox

	clipboard func(text string) tea.Cmd // copies text to the terminal's clipboard

	panes *panes.Arrangement
	clock clock.Clock
	frame *frame.Frame

	chat    *chat.Pane
	input   *input.Pane
	dag     *dag.Pane
	detail  *step.Pane
	ask     *ask.Dialog
	review  *review.Dialog
	dialogs dialogs
	notify  *notify.Notifier
	groups  keymap.Groups // every action

	live     *live.Runs   // the runs on the screen
	feed     *runFeed     // applies their events
	pending  *ask.Pending // what waits for the user
	status   session.Status
	past     []agent.Summary // runs of earlier sessions, known after the first frame
	caughtUp bool            // the session has sent its status; earlier events were history
	closed   bool            // the session is over

	selected *selection.Selection // by the mouse

	home    string               // the user's home folder, "" if unknown
	kept    bool                 // a setting was saved since the last batch of events
	pull    session.PullProgress // under way; no Model means none
	relist  bool                 // the models of the server may have changed
	toasts  *frame.Toasts        // short notices
	servers servers              // the known servers

	player  *replay.Player // plays a run in place of this screen; nil for none
	control *replay.Player // plays on this screen; nil for none
	frozen  bool           // animations stop while the player is paused
	recall  keymap.Recall  // the run that the user asked to play

	quitting    bool                // asks whether to quit
	stopWarned  bool                // the last key asked to stop at an open gate and got a warning
	letters     answerguard.Letters // typed at a dialog that opened by itself
	confirmStop bool                // this key repeats that request
	message     frame.Message       // about the last key, shown in the footer
}

// New returns the screen of a session. It reads no events itself: [Run] or
// [Forward] deliver them.
func New(s Session, o Options) *Model { return newScreen(s, o, nil) }

// newScreen returns the screen of a session that control plays on; nil means
// that the session itself tells what happens.
func newScreen(s Session, o Options, control *replay.Player) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	theming := newTheming(o)
	l := draw.NewLook(theming.theme())
	m := &Model{
		options:  o,
		theming:  theming,
		clock:    clock.Clock{Calm: o.ReducedMotion},
		look:     l,
		graphics: graphics.New(),
		keys:     keymap.New(),
		outbox:   &outbox{session: s},
		control:  control,

		clipboard: tea.SetClipboard,

		live: &live.Runs{Planners: o.Planners, Elsewhere: o.Elsewhere, Preparing: o.Elsewhere},
	}
	m.panes = panes.New(m.keys, o.ChatWidth, o.PlanHeight)
	m.dag, m.detail = dag.New(l, m.keys), step.New(l, m.keys)
	m.detail.Graphics = m.graphics
	m.pending = &ask.Pending{Runs: m.live}
	m.input = input.New(l, m.keys, input.Options{Texts: o.Suggestions, Editor: o.Editor, Commands: o.Commands, Now: o.Now})
	home, _ := os.UserHomeDir() // "" if unknown
	home = strings.TrimRight(home, "/")
	m.home = home
	m.chat = chat.New(l)
	m.chat.ShowThinking(o.ShowThinking)
	m.frame = frame.New(l, m.keys, m.chat.Markdown, frame.Options{Version: o.Version, Replay: o.Replay, Home: home, Intro: o.Intro, Examples: o.Examples})
	pauses := o.Pauses.Usual()
	m.toasts = frame.NewToasts(pauses)
	m.ask = ask.New(l, m.keys, pauses)
	m.ask.Editor = o.Editor
	m.review = review.New(l, m.keys, pauses)
	m.feed = &runFeed{live: m.live, pending: m.pending, ask: m.ask, chat: m.chat, dag: m.dag, input: m.input}
	m.dialogs = newDialogs(l, m.keys, o, home, m.live, m.dag, m.review)
	var replaced keymap.Handlers
	if o.Replay {
		replaced = m.asReplay()
	}
	m.groups = m.newGroups(replaced)
	if err := m.keys.Rebind(o.Keys); err != nil {
		m.message.Set("The keys of the configuration: " + err.Error())
	}
	m.notify = notify.New(o.Notify, o.Now())
	m.selected = selection.New(l, m.chat)
	m.servers = servers{lost: map[string]bool{}}
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
		m.live.Preparing = true
		cmds = append(cmds, m.outbox.send(session.Submit{Text: goal}), m.Animate())
	}
	return tea.Batch(cmds...)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.input.State = m.inputState()
	var cmd, terminal tea.Cmd
	if m.control == nil { // the player hears of the terminal through this screen
		terminal = m.graphics.Update(msg)
	}
	if m.player != nil {
		if cmd, taken := m.player.Update(msg); taken {
			return m, cmd
		}
	}
	if m.theming.handle(msg) {
		m.applyTheme()
	}
	sizes := m.panes.Sizes()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		cmd = m.resize(msg)
	case eventsMsg:
		cmd = m.handleEvents(msg)
	case frame.ToastMsg:
		m.toasts.Update(msg)
	case replay.LeftMsg:
		cmd = m.endReplay()
	case clock.BeatMsg:
		cmd = m.beat(msg)
	case tea.EnvMsg, tea.ModeReportMsg, tea.FocusMsg, tea.BlurMsg, notify.IdleMsg:
		cmd = m.notify.Update(msg, m.ask.Waiting() > 0 || m.review.Waits(), m.options.Now())
	case ask.CheckMsg, ask.EditedMsg, ask.FileMsg, ask.KeptMsg, ask.PreviewedMsg:
		cmd = m.carryOut(m.ask.Update(msg))
	case answerguard.OverMsg:
		cmd = m.sortLetters(m.letters.Over(m.scene(), msg))
	case tea.KeyPressMsg:
		m.notify.KeyPressed(m.options.Now())
		m.toasts.Clear()
		cmd = m.press(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg)
	case tea.MouseMsg:
		cmd = m.handleMouse(msg)
	default:
		var taken bool
		if cmd, taken = m.handleAnswer(msg); !taken {
			cmd = m.carryOut(m.input.Update(msg))
		}
	}
	if save := m.panes.Unsaved(msg, sizes); len(save) > 0 {
		cmd = tea.Sequence(append(m.outbox.sendAll(save), cmd)...) // before anything else, such as the end of the program
	}
	cmd = tea.Batch(cmd, m.review.Hide(m.ask.Showing()))
	m.arrange()
	return m, tea.Batch(terminal, cmd, m.toasts.Timer(), pictures(m))
}

// resize stores the size of the terminal. The first size triggers the first
// frame.
func (m *Model) resize(msg tea.WindowSizeMsg) tea.Cmd {
	drawn := m.options.Drawn
	if first := m.panes.Resize(msg.Width, msg.Height); !first || drawn == nil {
		return nil
	}
	// The frame is written at the renderer's next tick; two ticks later it is out.
	return tea.Tick(2*time.Second/framesPerSecond, func(time.Time) tea.Msg {
		drawn()
		return drawnMsg{}
	})
}

// Animate starts the clock if something spins.
func (m *Model) Animate() tea.Cmd {
	if m.spins() {
		return m.clock.Start()
	}
	return nil
}

// beat advances every animation by one frame.
func (m *Model) beat(msg clock.BeatMsg) tea.Cmd {
	cmd := m.clock.Beat(msg, m.spins())
	m.look.Beat++
	m.look.Now = m.clock.Now()
	m.refresh()
	return cmd
}

// arrange assigns every pane its place.
func (m *Model) arrange() {
	m.input.State = m.inputState()
	m.panes.Arrange(panes.Contents{
		Input: m.input.Height, Sheet: m.ask.Height,
		Mapped: m.dag.Mapped, NoPlan: m.dag.Empty(), ChatSays: m.live.Shown().AnswerSaysAll(),
	})
	m.chat.SetState(m.chatState())
	l := m.panes.Layout()
	if l.Width == 0 || l.Small {
		return
	}
	m.dag.SetState(m.planState())
	m.detail.SetState(step.State{Size: m.panes.Layout().Step, Tabbed: !m.panes.Layout().Wide, Gated: gated(m)})
	m.ask.SetState(ask.State{Size: m.panes.Layout().Sheet, Muted: m.quitting, Over: m.dialogs.front() != nil || m.player != nil})
	m.input.SetHeight(m.panes.Layout().Input.H)
	m.input.SetFocus(m.panes.Focus() == panes.Chat && !m.covered() && !m.quitting)
}

// chatState returns what the chat needs to know. It draws the lines about current
// work, so call it once for each message.
func (m *Model) chatState() chat.State {
	frame, place := m.frameState(), m.panes.Layout().Chat
	s := chat.State{
		Size:     place,
		Activity: m.frame.Activity(frame, place.W),
		Replayed: m.options.Replay, Closed: m.closed,
		Advice:  "Try again, choose a larger model (" + m.keys.Name("models") + "), or read its replies (" + m.keys.Name("exchanges") + ").",
		Problem: m.status.Problem.Line(), Notes: m.status.Instructions.Line(),
	}
	if !m.options.Replay && !m.options.Elsewhere {
		s.ResumeKey = m.keys.ResumeNames()
	}
	if m.chat.OnlyNotes() && len(s.Activity) == 0 && place.H > 0 {
		s.Welcome = m.frame.Welcome(frame, place.W, place.H)
	}
	return s
}

// planState returns what the plan needs to know.
func (m *Model) planState() dag.State {
	s := dag.State{
		Size: m.panes.Layout().Plan, Focused: m.panes.Focus() == panes.Plan, FillsScreen: m.panes.Layout().Mapped,
		Live: m.live.Shown().Active(), Resumable: m.live.Resumable(), Recorded: m.live.Recorded,
	}
	if run := m.live.Shown().State; run != nil {
		s.Asked = m.pending.StepOf(run, m.ask)
	}
	return s
}

// inputState returns what the input needs to know.
func (m *Model) inputState() input.State {
	return input.State{
		Focused: m.panes.Focus() == panes.Chat, Covered: m.covered(), Closed: m.closed, Elsewhere: m.options.Elsewhere,
		Busy: m.live.Busy(), Running: m.live.Active() != "", Steerable: m.live.Steerable(),
		NoModel: m.status.Trouble.Kind != "" && m.chat.Greets(), Blocked: m.status.Problem.Line() != "",
	}
}

// covered reports whether a dialog receives the keys.
func (m *Model) covered() bool { return m.ask.Open || m.dialogs.front() != nil }

// View draws the screen: exactly as many lines as the terminal has, each
// exactly as wide.
func (m *Model) View() tea.View {
	if m.player != nil {
		notice := ""
		if m.ask.Waiting() > 0 {
			notice = m.ask.WaitsFor() + " waits: " + m.keys.LeaveReplay.Help().Key
		}
		return m.player.View(notice)
	}
	v := tea.NewView("")
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = m.frame.WindowTitle(m.live.Current().State)
	v.BackgroundColor, v.ForegroundColor = m.look.Theme.Background, m.look.Theme.Text
	v.ReportFocus = m.notify.On()
	if m.panes.Layout().Width <= 0 || m.panes.Layout().Height <= 0 {
		return v
	}
	screen := m.screen()
	for i, line := range screen {
		screen[i] = m.look.Exactly(line, m.panes.Layout().Width)
	}
	m.selected.Highlight(screen)
	v.SetContent(strings.Join(screen, "\n"))
	v.Cursor = m.cursor()
	return v
}

// cursor returns the position of the text cursor, nil if nothing is being
// typed.
func (m *Model) cursor() *tea.Cursor {
	switch {
	case m.panes.Layout().Small || m.quitting:
		return nil
	case m.dialogs.front() != nil:
		c := m.dialogs.front().Cursor()
		if c != nil {
			c.Y++ // below the header
		}
		return c
	case m.ask.Editing():
		c := m.ask.Cursor()
		if c != nil {
			c.X += m.panes.Layout().Sheet.X
			c.Y += m.panes.Layout().Sheet.Y
		}
		return c
	case m.searching():
		return tea.NewCursor(m.panes.Layout().Chat.X+m.chat.SearchCursor(), m.panes.Layout().Chat.Y+m.panes.Layout().Chat.H-1)
	}
	c := m.input.Cursor()
	if c != nil {
		c.X += m.panes.Layout().Input.X
		c.Y += m.panes.Layout().Input.Y
	}
	return c
}

// screen returns every line of the screen.
func (m *Model) screen() []string {
	if m.panes.Layout().Small {
		return m.frame.TooSmall(m.panes.Layout().Width, m.panes.Layout().Height)
	}
	screen := make([]string, 0, m.panes.Layout().Height)
	screen = append(screen, m.frame.Header(m.frameState(), m.panes.Layout().Width))
	over := m.dialogs.front()
	if over != nil {
		screen = append(screen, m.underlaid(over.View(m.dialogSize()))...)
	} else {
		screen = append(screen, m.body()...)
	}
	screen = append(screen, m.frame.Footer(m.footer(), m.panes.Layout().Width))
	first, end := 1, m.panes.Layout().Height-m.panes.Layout().Sheet.H-1 // lines that notices may cover
	if m.panes.Layout().Tabs.H > 0 && over == nil {
		first = m.panes.Layout().Tabs.Y + 1
	} else if over == nil && m.panes.Layout().Wide {
		first++ // the titles of the panes stay in view
	}
	if over == nil && m.panes.Layout().Input.H > 0 {
		end = min(end, m.panes.Layout().Input.Y-1) // and the input with its edge
	}
	m.toasts.Draw(m.look, m.panes.Layout().Width, screen[first:max(end, first)])
	return screen
}

// dialogSize returns the size of the room for a dialog: between header and footer.
func (m *Model) dialogSize() draw.Rect {
	return draw.Rect{W: m.panes.Layout().Width, H: m.panes.Layout().Height - 2}
}

// body draws the panes, and the sheet of an open gate below them.
func (m *Model) body() []string {
	var lines []string
	switch {
	case m.panes.Layout().Body.H == 0:
	case m.panes.Layout().Mapped:
		lines = m.look.Frame(m.panes.Layout().Width, m.look.Focus, m.planSection())
	case m.panes.Layout().Wide:
		right := m.rightHalf()
		if m.panes.Layout().Left.W == 0 {
			lines = right
			break
		}
		lines = m.leftHalf()
		for i, part := range right {
			lines[i] += part
		}
	default:
		lines = append(lines, m.frame.Tabs(m.tabs(), m.panes.Layout().Width))
		lines = append(lines, m.tabBody()...)
	}
	if m.panes.Layout().Sheet.H > 0 {
		lines = append(lines, m.ask.View(m.panes.Layout().Sheet)...)
	}
	return lines
}

// leftHalf draws the chat with the input below it.
func (m *Model) leftHalf() []string {
	focused := m.panes.Focus() == panes.Chat
	style := m.frame.Border(focused && !m.ask.Showing())
	lines := m.input.ListOver(draw.Padded(m.chat.View()), m.panes.Layout().Left.W-2)
	title, note := m.chat.EdgeLabels() // for the view just drawn
	sections := []draw.Section{{Title: m.frame.Title("Chat", focused), Note: note, Lines: lines, Style: style}}
	if m.panes.Layout().Input.H > 0 {
		sections = append(sections, draw.Section{Title: title, Lines: draw.Padded(m.input.View(m.panes.Layout().Input)), Style: style})
	}
	return m.look.Frame(m.panes.Layout().Left.W, m.look.Focus, sections...)
}

// mapping reports whether the graph fills the screen.
func (m *Model) mapping() bool { return m.dag.Mapped && m.panes.Focus() == panes.Plan }

// planSection draws the plan for a border around it.
func (m *Model) planSection() draw.Section {
	focused := m.panes.Focus() == panes.Plan
	return draw.Section{
		Title: m.frame.Title(m.dag.Title(), focused), Note: m.dag.Summary(),
		Lines: m.dag.View(), Style: m.frame.Border(focused && !m.ask.Showing()),
	}
}

// rightHalf draws the plan above the step.
func (m *Model) rightHalf() []string {
	if m.panes.Layout().Right.W == 0 {
		return nil
	}
	l := m.look
	var sections []draw.Section
	if m.panes.Layout().Plan.H > 0 {
		sections = append(sections, m.planSection())
	}
	if m.panes.Layout().Step.H > 0 {
		lines := draw.Padded(m.detail.View())
		width := m.panes.Layout().Right.W - 6
		if note := m.dag.Summary(); note != "" && len(sections) > 0 {
			width -= draw.VisibleWidth(note) + 4 // drawn in the same edge
		}
		sections = append(sections, draw.Section{
			Title: m.detail.Title(width), Note: m.detail.Place(), Lines: lines, Style: m.frame.Border(m.panes.Focus() == panes.Step && !m.ask.Showing()),
		})
	}
	return l.Frame(m.panes.Layout().Right.W, l.Focus, sections...)
}
