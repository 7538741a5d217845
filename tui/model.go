package tui

import (
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui/answerguard"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/clock"
	"replan/tui/dag"
	"replan/tui/draw"
	"replan/tui/frame"
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

// Model is the whole screen. It routes messages to its parts, and carries out what they
// request. Each part owns its data; the model
// decides only what concerns several parts, such as whether a text is a goal.
type Model struct {
	options    Options
	keys       *keymap.Map
	groups     keymap.Groups // every action
	styles     *draw.Styles
	appearance *appearance
	outbox     *outbox
	clipboard  clipboard
	alerts     alerts

	panes   *panes.Arrangement
	focus   *keyFocus // what has the keys
	view    *view
	frame   *frame.Frame
	footer  *footer
	toasts  *frame.Toasts // short notices
	message frame.Message // about the last key, shown in the footer

	chat    *chat.Pane
	input   *input.Pane
	dag     *dag.Pane
	detail  *step.Pane
	ask     *ask.Dialog
	review  *review.Dialog
	dialogs *dialogs

	live      *live.Runs   // the runs on the screen
	session   *sessionFeed // what is known of the session
	jobs      *jobFeed     // what the session does beside its runs
	situation *situation   // what the frame shows of both
	pending   *ask.Pending // gates, questions and plans of the runs on the screen
	waiting   *waiting     // what waits for the user
	exits     *exits
	playback  playback
	animation *animation
	pointer   *pointer
	letters   answerguard.Letters // typed at a dialog that opened by itself
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
	home, _ := os.UserHomeDir() // "" if unknown
	home = strings.TrimRight(home, "/")
	pauses, can := o.Pauses.Usual(), s.Abilities()
	m := &Model{
		options:    o,
		appearance: newAppearance(o),
		keys:       Keys(),
		outbox:     &outbox{session: s},
		playback:   playback{control: control},
		toasts:     frame.NewToasts(pauses),
		live:       &live.Runs{Planners: o.Planners, Can: can, Recorded: o.Replay},
	}
	m.live.Await(can.Awaited != "")
	m.styles = m.appearance.shared()
	l, k := m.styles, m.keys
	m.clipboard = clipboard{send: tea.SetClipboard, toasts: m.toasts}
	m.panes = panes.New(k, o.ChatWidth, o.PlanHeight)
	m.dag, m.detail = dag.New(l, k), step.New(l, k)
	m.pending = &ask.Pending{Runs: m.live, Muted: o.Replay}
	m.input = input.New(l, k, input.Options{
		Texts: o.Suggestions, Editor: o.Editor, Commands: o.Commands, Also: themeCommands(o.Themes), Pictures: o.Pictures, Now: o.Now,
	})
	m.chat = chat.New(l)
	m.chat.ShowThinking(o.ShowThinking)
	m.frame = frame.New(l, k, m.chat.Markdown, frame.Options{Version: o.Version, Replay: o.Replay, Home: home, Intro: o.Intro, Examples: o.Examples})
	m.ask = ask.New(l, k, pauses)
	m.ask.SetEditor(o.Editor)
	m.review = review.New(l, k, pauses)
	m.dialogs = newDialogs(l, k, o, home, m.live, m.dag, m.review)
	m.alerts = alerts{live: m.live, pending: m.pending, ask: m.ask, review: m.review, notify: notify.New(o.Notify, o.Now()), now: o.Now}
	m.focus = &keyFocus{
		panes: m.panes, dialogs: m.dialogs, ask: m.ask, chat: m.chat, input: m.input, dag: m.dag, detail: m.detail, playback: &m.playback,
	}
	m.waiting = &waiting{pending: m.pending, live: m.live, ask: m.ask, review: m.review}
	m.exits = &exits{
		keys: k, focus: m.focus, live: m.live, waiting: m.waiting, input: m.input, continues: can.Continues,
		width: func() int { return m.panes.Layout().Width }, sideAsked: func() bool { return m.session.sideAsked() },
	}
	m.jobs = &jobFeed{
		shows: m.dialogs.forJobs(), chat: m.chat, live: m.live, panes: m.panes, toasts: m.toasts, message: &m.message, home: home, redoKey: k.LeadingName("plan.redo"),
	}
	m.session = &sessionFeed{
		runs: &runFeed{live: m.live, pending: m.pending, ask: m.ask, chat: m.chat, dag: m.dag, input: m.input}, jobs: m.jobs,
		live: m.live, chat: m.chat, input: m.input, plan: m.dag, review: m.review, listed: m.dialogs.forJobs().servers, toasts: m.toasts,
	}
	m.animation = &animation{
		clock: clock.New(o.ReducedMotion), styles: l, live: m.live, dialogs: m.dialogs, session: m.session, playback: &m.playback,
	}
	m.situation = &situation{keys: k, live: m.live, session: m.session, waiting: m.waiting, chat: m.chat, input: m.input}
	m.footer = &footer{
		keys: k, frame: m.frame, focus: m.focus, message: &m.message, live: m.live, playback: &m.playback, waiting: m.waiting,
		ask: m.ask, input: m.input, chat: m.chat, plan: m.dag, dialogs: m.dialogs,
	}
	m.view = &view{
		styles: l, frame: m.frame, situation: m.situation, footer: m.footer, focus: m.focus, places: m.panes, chat: m.chat, input: m.input,
		plan: m.dag, step: m.detail, sheet: m.ask, dialogs: m.dialogs, toasts: m.toasts,
	}
	m.pointer = &pointer{
		now: o.Now, focus: m.focus, panes: m.panes, view: m.view, footer: m.footer, dialogs: m.dialogs, input: m.input, plan: m.dag, sheet: m.ask,
		chat: m.chat, selected: selection.New(l, m.chat),
	}
	var replaced keymap.Handlers
	if o.Replay {
		m.session.asReplay(&replayName{styles: l, keys: k, input: m.input})
		replaced = m.replayActions()
	}
	m.groups = m.table(replaced)
	if err := k.Rebind(o.Keys); err != nil {
		m.message.Set("The keys of the configuration: " + err.Error())
	}
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
	if m.playback.plays() {
		cmds = append(cmds, m.playback.screen().Wait())
	}
	if goal := strings.TrimSpace(m.options.Goal); goal != "" {
		m.live.Await(true)
		cmds = append(cmds, m.outbox.send(session.Submit{Text: goal}), m.animation.start())
	}
	return tea.Batch(cmds...)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.input.SetState(m.inputState())
	var cmd tea.Cmd
	if m.playback.plays() {
		if cmd, taken := m.playback.screen().Update(msg); taken {
			return m, cmd
		}
	}
	if m.appearance.handle(msg) {
		m.redraw()
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
		cmd = m.animation.beat(msg)
		m.refresh()
	case tea.EnvMsg, tea.ModeReportMsg, tea.FocusMsg, tea.BlurMsg, notify.IdleMsg:
		cmd = m.alerts.update(msg)
	case ask.CheckMsg, ask.EditedMsg, ask.FileMsg, ask.KeptMsg, ask.PreviewedMsg:
		cmd = m.carryOut(m.ask.Update(msg))
	case answerguard.OverMsg:
		cmd = m.sortLetters(m.letters.Over(m.focus.scene(), msg))
	case tea.KeyPressMsg:
		m.alerts.keyPressed()
		m.toasts.Clear()
		cmd = m.press(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg)
	case tea.MouseMsg:
		cmd = m.point(msg)
	default:
		var taken bool
		if cmd, taken = m.handleAnswer(msg); !taken {
			cmd = m.carryOut(m.input.Update(msg))
		}
	}
	if save := m.panes.Unsaved(msg, sizes); len(save) > 0 {
		cmd = tea.Sequence(append(m.outbox.sendAll(save), cmd)...) // before anything else, such as the end of the program
	}
	cmd = tea.Batch(cmd, m.waiting.takeTurns())
	m.arrange()
	return m, tea.Batch(cmd, m.toasts.Timer())
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

// arrange assigns every pane its place.
func (m *Model) arrange() {
	m.input.SetState(m.inputState())
	m.panes.Arrange(panes.Contents{
		Input: m.input.Height, Sheet: m.ask.Height,
		Mapped: m.dag.Mapped(), NoPlan: m.dag.Empty(), ChatSays: m.live.Shown().AnswerSaysAll(),
	})
	m.chat.SetState(m.chatState())
	l := m.panes.Layout()
	if l.Width == 0 || l.Small {
		return
	}
	m.dag.SetState(m.planState())
	m.detail.SetState(step.State{Size: l.Step, Tabbed: !l.Wide, Gated: m.gated()})
	m.ask.SetState(ask.State{Size: l.Sheet, Muted: m.focus.quitting(), Over: m.dialogs.front() != nil || m.playback.plays()})
	m.input.SetHeight(l.Input.H)
	m.input.SetFocus(m.panes.Focus() == panes.Chat && !m.focus.covered() && !m.focus.quitting())
}

// View draws the screen: exactly as many lines as the terminal has, each
// exactly as wide.
func (m *Model) View() tea.View {
	if m.playback.plays() {
		notice := ""
		if m.ask.Waiting() > 0 {
			notice = m.ask.WaitsFor() + " waits: " + m.keys.Shown("replay.quit")
		}
		return m.playback.screen().View(notice)
	}
	v := tea.NewView("")
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = m.frame.WindowTitle(m.live.Current().State)
	v.BackgroundColor, v.ForegroundColor = m.styles.Theme.Background, m.styles.Theme.Text
	v.ReportFocus = m.alerts.on()
	l := m.panes.Layout()
	if l.Width <= 0 || l.Height <= 0 {
		return v
	}
	screen := m.view.lines()
	for i, line := range screen {
		screen[i] = m.styles.Exactly(line, l.Width)
	}
	m.pointer.highlight(screen)
	v.SetContent(strings.Join(screen, "\n"))
	if !m.focus.quitting() {
		v.Cursor = m.view.cursor()
	}
	return v
}

// halt ends the replay in place of this screen, if there is one.
func (m *Model) halt() { m.playback.halt() }

// leave returns where texts are that the user wrote and did not send, a sentence each.
func (m *Model) leave() []string { return m.ask.Leave() }
