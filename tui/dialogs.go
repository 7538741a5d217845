package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui/answerguard"
	"replan/tui/dag"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/live"
	"replan/tui/timeline"
	"replan/tui/wording"
)

// overlay is a dialog that replaces the panes until the user leaves it.
type overlay interface {
	Pane
	// View draws the dialog on exactly size.H lines of size.W cells.
	View(size draw.Rect) []string
	// Shown reports whether the dialog is on the screen.
	Shown() bool
	// Typing reports whether letters are text for it.
	Typing() bool
	// Cursor returns the text cursor within the dialog, nil for none.
	Cursor() *tea.Cursor
	// Place returns the place whose actions help lists first.
	Place() keymap.Place
	// Hints returns its keys for the footer, the most useful first.
	Hints() []keymap.Hint
	// Retheme discards drawings in the previous theme.
	Retheme()
}

// dialogs are the dialogs that replace the panes, and which of them is in front.
type dialogs struct {
	live *live.Runs // on the screen
	plan *dag.Pane  // its chosen row is where the timeline and the revisions open

	help      *dialog.Help
	palette   *dialog.Palette
	themes    *dialog.Themes
	allowed   *dialog.Permissions
	undo      *dialog.Undo
	changes   *dialog.Changes
	runs      *dialog.Runs
	models    *dialog.Models
	exchanges *dialog.Exchanges
	servers   *dialog.Servers
	settings  *dialog.Settings
	timeline  *timeline.Dialog
	revisions *dialog.Revisions

	stack []overlay // the topmost first
	below []overlay // the part of stack below help and the palette
}

// newDialogs returns the dialogs, all closed. lowest is the one below the others.
func newDialogs(l *draw.Styles, k *keymap.Map, o Options, home string, runs *live.Runs, plan *dag.Pane, lowest overlay) *dialogs {
	list := dialog.NewRuns(l, k, runs, o.GoOn != nil)
	d := &dialogs{
		live: runs, plan: plan,
		help: dialog.NewHelp(l, k, o.Version), palette: dialog.NewPalette(l, k, list, o.Recent),
		themes:  dialog.NewThemes(l, k, draw.ShortPath(o.Config, home)),
		allowed: dialog.NewPermissions(l, k), undo: dialog.NewUndo(l, k), changes: dialog.NewChanges(l, k, o.Pauses.Usual()), runs: list,
		models: dialog.NewModels(l, k), exchanges: dialog.NewExchanges(l, k, runs), servers: dialog.NewServers(l, k, runs),
		settings: dialog.NewSettings(l, k, home),
		timeline: timeline.New(l, k, runs), revisions: dialog.NewRevisions(l, k, runs),
	}
	d.below = []overlay{
		d.themes, d.allowed, d.undo, d.changes, d.runs, d.models, d.exchanges,
		d.servers, d.settings, d.timeline, d.revisions, lowest,
	}
	d.stack = append([]overlay{d.help, d.palette}, d.below...)
	return d
}

// front returns the dialog that replaces the panes, nil for none.
func (d *dialogs) front() overlay { return firstShown(d.stack) }

// behind returns the dialog below help and the palette, nil for none.
func (d *dialogs) behind() overlay { return firstShown(d.below) }

func firstShown(stack []overlay) overlay {
	for _, o := range stack {
		if o.Shown() {
			return o
		}
	}
	return nil
}

// opensOver reports whether a key's action opens over the dialog in front, as help
// and the palette do.
func (d *dialogs) opensOver(id string, k tea.KeyPressMsg) bool {
	return (id == "help" || id == "palette") && (k.Text == "" || !d.front().Typing()) && !d.help.Shown() && !d.palette.Shown()
}

// relayed returns a handler for an action of dialogs. The dialog below help and the
// palette carries it out.
func (d *dialogs) relayed(id string) keymap.Handler {
	return keymap.Handler{
		Refuse: func() string {
			o := d.behind()
			if o == nil {
				return keymap.NotHere
			}
			h, ok := o.Actions()[id]
			if !ok || h.When != nil && !h.When() {
				return keymap.NotHere
			}
			return h.Refusal()
		},
		Do: func() keymap.Requests { return d.behind().Actions().Press(id) },
	}
}

// noRun returns why there is no run to show.
func (d *dialogs) noRun() string {
	if d.live.Shown().State == nil {
		return "There is no run yet."
	}
	return ""
}

// noTimeline returns why there is no timeline.
func (d *dialogs) noTimeline() string {
	if run := d.live.Shown().State; run == nil || len(run.Steps) == 0 {
		return "There are no steps to show on a timeline yet."
	}
	return ""
}

// noRevisions returns why there are no revisions to browse.
func (d *dialogs) noRevisions() string {
	if run := d.live.Shown().State; run == nil || run.Revision == 0 {
		return "There is no plan to show revisions of yet."
	}
	return ""
}

// noUndo returns why no run can be undone now.
func (d *dialogs) noUndo() string {
	switch {
	case d.live.Can.NoUndo != "":
		return d.live.Can.NoUndo
	case d.live.Shown().Active():
		return "The run is active: undo it when it has ended."
	case d.live.Busy():
		return "Another run is active: undo when it has ended."
	default:
		return ""
	}
}

// undoable reports whether the run in the plan pane has ended and called a tool with
// reversible changes.
func (d *dialogs) undoable() bool {
	return d.called(func(tool plan.Tool, known bool) bool { return known && tool.Trusted && tool.Previews })
}

// mayUndo reports whether that run may have made such changes: by a tool that its journal does
// not describe, too.
func (d *dialogs) mayUndo() bool {
	return d.called(func(tool plan.Tool, known bool) bool { return !known || tool.Trusted && tool.Previews })
}

// called reports whether the run in the plan pane has ended and called a tool that fits.
func (d *dialogs) called(fits func(tool plan.Tool, known bool) bool) bool {
	r := d.live.Shown().State
	if r == nil || d.noUndo() != "" || r.DryRun() {
		return false
	}
	var changed func(s *agent.StepState) bool
	changed = func(s *agent.StepState) bool {
		inner := wording.Inner(s)
		if s.Items != nil && s.Step.Executor == plan.ExecutorTool {
			inner = nil // they call what the step says
		}
		tool, err := r.Catalog.Find(s.Step.Tool)
		return s.Attempt > 0 && s.Step.Tool != "" && fits(tool, err == nil) || slices.ContainsFunc(inner, changed)
	}
	return slices.ContainsFunc(r.Steps, changed) || r.Chat != nil && slices.ContainsFunc(r.Chat.Calls, changed)
}

// answered passes the answer to a query to the dialog that asked, and returns what
// the dialogs ask then.
func (d *dialogs) answered(msg tea.Msg) keymap.Query {
	var next []keymap.Query
	for _, o := range d.stack {
		next = append(next, keymap.Of[keymap.Query](o.Update(msg))...)
	}
	return keymap.All(next...)
}

// Retheme discards drawings in the previous theme.
func (d *dialogs) Retheme() {
	for _, o := range d.stack {
		o.Retheme()
	}
}

// undoActions are the actions that undo a run.
func undoActions() keymap.Table[*dialogs] {
	return keymap.Table[*dialogs]{
		{ID: "plan.undo", Keys: "u", Does: "undo last run; shows the diff first", Refuse: (*dialogs).noUndo, Do: func(*dialogs) keymap.Requests { return keymap.Requests{keymap.PreviewUndo{}} }},
	}
}

// redoActions are the actions that take an undo back, in every pane.
func redoActions() keymap.Table[*dialogs] {
	return keymap.Table[*dialogs]{
		{ID: "plan.redo", Keys: "ctrl+y", Does: "redo last undo; shows the diff first", Refuse: (*dialogs).noRedo, Do: func(*dialogs) keymap.Requests { return keymap.Requests{keymap.PreviewUndo{Redo: true}} }},
	}
}

// noRedo returns why no undo can be taken back now.
func (d *dialogs) noRedo() string {
	if d.live.Can.NoUndo == "" && (d.live.Shown().Active() || d.live.Busy()) {
		return "A run is active: redo when it has ended."
	}
	return d.noUndo()
}

// runActions are the actions that open a dialog about the run in the plan pane.
func runActions() keymap.Table[*dialogs] {
	return keymap.Table[*dialogs]{
		{ID: "plan.timeline", Keys: "t", Does: "open timeline; what ran when", Refuse: (*dialogs).noTimeline, Do: keymap.Calls((*dialogs).openTimeline)},
		{ID: "plan.revisions", Keys: "v", Does: "show revisions of the plan", KeyOnly: true, Refuse: (*dialogs).noRevisions, Do: keymap.Calls((*dialogs).openRevisions)},
	}
}

// openTimeline opens the timeline at the chosen step.
func (d *dialogs) openTimeline() {
	step := ""
	if r := d.plan.Chosen(); r != nil && r.Step != nil {
		step = r.Step.Step.Index
		for of := d.live.Shown().State.Step(r.Step.Parent); of != nil; of = d.live.Shown().State.Step(of.Parent) {
			step = of.Step.Index // the row of a call or an item is that of its step
		}
	}
	d.timeline.Open(step)
}

// openRevisions opens the revisions at the chosen one.
func (d *dialogs) openRevisions() {
	at := len(d.live.Shown().State.Revisions)
	if r := d.plan.Chosen(); r != nil && r.Revision != nil {
		at = r.Revision.Number - 1
	}
	d.revisions.Open(at)
}

// contents is what the dialogs show of the rest of the screen when they open.
type contents struct {
	help     func() dialog.HelpPage
	palette  func() dialog.PalettePage
	settings func() map[string]string
	themes   func() (set *themes.Set, chosen themes.Name)
	status   func() session.Status
}

// opener opens dialogs, which show something of the rest of the screen.
type opener struct {
	of   *dialogs
	show contents
}

// paletteActions are the actions that open the palette.
func paletteActions() keymap.Table[opener] {
	return keymap.Table[opener]{
		{ID: "palette", Keys: "ctrl+k", Does: "search everything you can do", KeyOnly: true, Opens: true, Do: asks(func(o opener) keymap.Query { return o.of.palette.Open(o.show.palette()) })},
	}
}

// openActions are the actions that open dialogs about runs, models and themes.
func openActions() keymap.Table[opener] {
	return keymap.Table[opener]{
		{ID: "gate.allowed", Keys: "alt+a", Does: "show answers and rules", Opens: true, Refuse: func(o opener) string { return o.of.noRun() }, Do: keymap.Calls(func(o opener) { o.of.allowed.Open(o.of.live.Shown().State) })},
		{ID: "runs", Keys: "ctrl+r", Does: "open runs; resume, replay, undo", Opens: true, Do: asks(func(o opener) keymap.Query { return o.of.runs.Open(o.show.status().Workspace) })},
		{ID: "models", Keys: "ctrl+o", Does: "switch model or profile", Opens: true, Do: asks(func(o opener) keymap.Query { return o.of.models.Open(o.show.status()) })},
		{ID: "models.pull", Keys: "alt+m", Does: "pull a model", Opens: true, Do: asks(func(o opener) keymap.Query { return o.of.models.OpenPull(o.show.status()) })},
		{ID: "models.cancel_pull", Keys: "alt+z", Does: "cancel the pull of a model", Refuse: func(o opener) string { return o.of.models.NoPull() }, Do: func(o opener) keymap.Requests { return o.of.models.CancelPull() }},
		{ID: "exchanges", Keys: "ctrl+x", Does: "show requests to the model", Opens: true, Do: keymap.Calls(func(o opener) { o.of.exchanges.Open() })},
		{ID: "revisions", Keys: "alt+v", Does: "show revisions of the plan", Opens: true, Refuse: func(o opener) string { return o.of.noRevisions() }, Do: keymap.Calls(func(o opener) { o.of.openRevisions() })},
		{ID: "themes", Keys: "alt+c", Does: "switch theme", Opens: true, Do: keymap.Calls(func(o opener) { o.of.themes.Open(o.show.themes()) })},
	}
}

// setupActions are the actions that open dialogs about the session, and help.
func setupActions() keymap.Table[opener] {
	return keymap.Table[opener]{
		{ID: "servers", Keys: "alt+s", Does: "show tool servers and their tools", Opens: true, Do: asks(func(o opener) keymap.Query { return o.of.servers.Open(o.show.status()) })},
		{ID: "settings", Keys: "alt+o", Does: "open settings; where each comes from", Opens: true, Do: asks(func(o opener) keymap.Query { return o.of.settings.Open(o.show.settings()) })},
		{ID: "help", Keys: "? f1", Does: "show help (also F1)", Opens: true, Do: keymap.Calls(func(o opener) { o.of.help.Open(o.show.help()) })},
	}
}

// asks makes an action of a dialog that asks the session when it opens.
func asks(open func(opener) keymap.Query) func(opener) keymap.Requests {
	return func(o opener) keymap.Requests { return keymap.Requests{open(o)} }
}

// guard returns what protects the dialog in front against keys that were not meant for it.
// It is nil if letters are text for it, or if none such is open.
func (d *dialogs) guard() *answerguard.Guard {
	over := d.front()
	if over == nil || over.Typing() {
		return nil
	}
	return guardOf(over)
}

// clearMessages takes back what dialogs say about an early key.
func (d *dialogs) clearMessages() {
	for _, o := range d.stack {
		if g := guardOf(o); g != nil {
			g.ClearMessage()
		}
	}
}

// disarm drops the answers that wait for another letter.
func (d *dialogs) disarm() {
	for _, o := range d.stack {
		if g := guardOf(o); g != nil {
			g.Disarm()
		}
	}
}

// offered turns the guard on for changes of runs that were just offered.
func (d *dialogs) offered() tea.Cmd { return d.changes.Begin() }

// openUndo opens the preview of the undo or redo of a run.
func (d *dialogs) openUndo(s agent.Summary, redo bool) keymap.Query { return d.undo.Open(s, redo) }

// sent tells the list of models which choice was sent.
func (d *dialogs) sent(c session.Choose) { d.models.Sent(c) }

// completed gives completions to the palette.
func (d *dialogs) completed(msg tea.Msg) { d.palette.Update(msg) }

// refresh updates the values of the settings, if the dialog of settings is open.
func (d *dialogs) refresh(values func() map[string]string) {
	if d.settings.Shown() {
		d.settings.Changed(values())
	}
}

// grows reports whether the drawing of a dialog grows with time.
func (d *dialogs) grows() bool { return d.timeline.Shown() && d.live.Shown().Active() }

// noReplay says in the list of runs why a run cannot be replayed, "" if it can. It
// reports whether the list is open.
func (d *dialogs) noReplay(why string) (shown bool) {
	d.runs.ShowMessage(why)
	return d.runs.Shown()
}

// forJobs returns the dialogs that show what the session does.
func (d *dialogs) forJobs() sessionDialogs {
	return sessionDialogs{models: d.models, servers: d.servers, settings: d.settings, changes: d.changes, undo: d.undo, runs: d.runs}
}
