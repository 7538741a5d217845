package dialog

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/pace"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// Models lists the server's models and the profiles so that the user can pick one
// for the session.
type Models struct {
	list
	asked     bool // waiting for the list
	available session.Models
	profiles  bool // show profiles instead of models
	level     prompt.ThinkLevel
	sent      *session.Choose // a choice that the session has not answered yet
	install
}

// NewModels returns the dialog, closed.
func NewModels(l *draw.Styles, k *keymap.Map) *Models { return &Models{list: newList(l, k)} }

// Open opens the dialog and requests the list.
func (d *Models) Open(s session.Status) keymap.Query {
	*d = Models{list: newList(d.Styles, d.Keys), asked: true, level: s.Think, sent: d.sent, install: install{pull: d.pull}}
	d.appear()
	return keymap.QueryModels
}

// store keeps the list and selects the session's current model or profile.
func (d *Models) store(l session.Models) {
	d.available = l
	if d.asked {
		d.asked, d.level = false, l.Think
		d.home()
	}
	d.Move(0, len(d.entries()))
}

// home selects the session's current model or profile.
func (d *Models) home() {
	d.ChooseFirst()
	for i, e := range d.entries() {
		if d.current(e) {
			d.Choose(i)
		}
	}
}

// entry is a selectable line: a model or a profile.
type entry struct {
	name        string // "" means no profile
	model       *prompt.ModelInfo
	description untrusted.Text // profile description
}

func (d *Models) current(e entry) bool {
	if e.model != nil {
		return prompt.SameModel(e.name, d.available.Model)
	}
	return e.name == d.available.Profile
}

// entries returns the entries whose names match the search.
func (d *Models) entries() []entry {
	var all []entry
	if d.profiles {
		all = append(all, entry{description: "the session's own settings"})
		for _, p := range d.available.Profiles {
			all = append(all, entry{name: p.Name, description: p.Description})
		}
	} else {
		for i := range d.available.Models {
			all = append(all, entry{name: d.available.Models[i].Name, model: &d.available.Models[i]})
		}
	}
	search := strings.ToLower(d.query())
	return slices.DeleteFunc(all, func(e entry) bool { return !strings.Contains(strings.ToLower(e.name), search) })
}

// modelActions are the actions of the dialog.
func modelActions() keymap.Table[*Models] {
	return keymap.Table[*Models]{
		{ID: "models.think_more", Keys: "right", Does: "think harder", Refuse: (*Models).nothing, Do: keymap.Calls(func(d *Models) { d.think(1) })},
		{ID: "models.think_less", Keys: "left", Does: "think less", Refuse: (*Models).nothing, Do: keymap.Calls(func(d *Models) { d.think(-1) })},
		{ID: "models.plan_with", Keys: "alt+n f3", Does: "plan with the chosen model, or no longer", Do: (*Models).planWith},
		{ID: "models.remove", Keys: "delete ctrl+x", Does: "remove the chosen model; asks first", Refuse: (*Models).noRemoval, Do: keymap.Calls((*Models).askRemoval)},
		{ID: "models.pull", Do: keymap.Calls((*Models).beginPull)},
		{ID: "models.cancel_pull", Refuse: (*Models).NoPull, Do: (*Models).CancelPull},
		{ID: "list.choose", Refuse: (*Models).nothing, Do: (*Models).choose},
		{ID: "list.other", Do: keymap.Calls((*Models).turnList)},
		leaving[*Models](),
		closing[*Models]("models"),
	}
}

// Actions returns the actions of the dialog.
func (d *Models) Actions() keymap.Handlers {
	if hs := d.installing(); hs != nil {
		return hs.First(d.nextKey)
	}
	return modelActions().For(d).With(d.Moving(true, len(d.entries())), keymap.Searching(d.query(), d.seek)).First(d.nextKey)
}

// turnList shows the profiles, or the models again.
func (d *Models) turnList() {
	d.profiles = !d.profiles
	d.seek("")
}

// nothing returns why nothing can be chosen.
func (d *Models) nothing() string {
	switch {
	case len(d.entries()) > 0:
		return ""
	case d.profiles:
		return "There is no profile to choose."
	default:
		return "There is no model to choose."
	}
}

// seek sets the search text and selects the session's current model or profile.
func (d *Models) seek(text string) {
	d.setQuery(text)
	d.home()
}

// Update handles letters of the search, the mouse and the list of models.
func (d *Models) Update(msg tea.Msg) keymap.Requests {
	if a, ok := msg.(keymap.AnswerMsg[session.Models]); ok {
		d.store(a.Value)
	}
	if d.removing != nil {
		return nil
	}
	if text := typed(msg); d.naming {
		d.name += strings.TrimSpace(text)
	} else if text != "" && text != " " {
		d.setQuery(d.query() + text)
		d.ChooseFirst()
	}
	return d.update(msg, d)
}

// Typing reports that letters are text.
func (d *Models) Typing() bool { return true }

// Hints lists the keys that are active now.
func (d *Models) Hints() []keymap.Hint {
	if hints := d.installHints(); hints != nil {
		return hints
	}
	change := []keymap.Hint{d.Keys.Hint("pull", "models.pull"), d.Keys.Hint("remove", "models.remove")}
	if d.pull.Model != "" {
		change[0] = d.Keys.Hint("cancel the pull", "models.cancel_pull")
	}
	hints := []keymap.Hint{d.Keys.Hint("choose", "list.choose"), d.Keys.Hint("close", "dialog.leave"), d.Keys.Hint(d.other(), "list.other"), d.Keys.Hint("think", "models.think_less", "models.think_more"), d.Keys.Hint("move", "list.up", "list.down")}
	if d.profiles {
		return hints
	}
	return slices.Insert(slices.Insert(hints, 3, change[0]), 5, change[1])
}

// think switches to the next or previous thinking level.
func (d *Models) think(by int) {
	levels := prompt.ThinkLevels()
	at := slices.Index(levels, levelName(d.level))
	level, ok := prompt.ParseThinkLevel(levels[max(min(at+by, len(levels)-1), 0)])
	if ok {
		d.level = level
	}
}

// levelName returns the configuration name of a thinking level.
func levelName(l prompt.ThinkLevel) string {
	if l == prompt.ThinkAuto {
		return "auto"
	}
	return string(l)
}

// choose sends the settings that differ from the session's.
func (d *Models) choose() keymap.Requests {
	e := d.entries()[d.At]
	var c session.Choose
	if level := d.level; level != d.available.Think {
		c.Think = &level
	}
	switch {
	case e.model != nil && !e.model.Chats:
		d.say("This model only makes embeddings and cannot answer: choose another.")
		return nil
	case d.current(e):
	case e.model != nil:
		c.Model = &e.name
	default:
		c.Profile = &e.name
	}
	if c == (session.Choose{}) {
		d.say("This is already the session's choice; " + d.Keys.Name("dialog.leave") + " keeps it.")
		return nil
	}
	d.Close()
	return keymap.SendCommands(c)
}

// planWith lets the chosen model plan, or no longer. The model that answers plans if
// no other does.
func (d *Models) planWith() keymap.Requests {
	entries := d.entries()
	if d.asked || d.profiles || len(entries) == 0 {
		d.say("Select a model to plan with.")
		return nil
	}
	e := entries[d.At]
	planner := e.name
	switch {
	case !e.model.Chats:
		d.say("This model only makes embeddings and cannot plan: choose another.")
		return nil
	case d.plans(e) || d.current(e):
		planner = ""
	}
	if planner == d.available.Planner {
		d.say("This model answers and plans already.")
		return nil
	}
	d.Close()
	return keymap.SendCommands(session.Choose{Planner: &planner})
}

// plans reports whether a model plans in place of the one that answers.
func (d *Models) plans(e entry) bool {
	return e.model != nil && prompt.SameModel(e.name, d.available.Planner)
}

// View draws the dialog in the middle of the screen.
func (d *Models) View(size draw.Rect) []string {
	const widest, oneLine = 104, 84 // cells
	width, inner := d.width(size, widest)
	v := listView{title: d.tabs(second(d.profiles), "Models", "Profiles"), width: width, each: 1, foot: d.foot(inner)}
	if inner < oneLine {
		v.each = 2
	}
	entries := d.entries()
	v.count = len(entries)
	v.row = func(i int) []string { return d.row(entries[i], i == d.At, inner) }
	v.empty = draw.Paint(d.Styles.Faint, draw.Wrap(d.empty(), inner))
	if d.available.Problem != "" && !d.profiles {
		v.empty = draw.Paint(d.Styles.Warning, draw.Wrap(d.available.Problem.Line(), inner))
	}
	return d.view(size, v)
}

// empty explains why the list is empty.
func (d *Models) empty() string {
	switch {
	case d.asked:
		return "Asking the server for its models" + d.Styles.Glyphs.Ellipsis
	case d.query() != "":
		return "No name contains " + d.query() + "; " + d.Keys.Name("list.erase") + " erases a letter."
	default:
		return "No models installed: " + d.Keys.Name("models.pull") + " pulls " + wording.SuggestedModel + " or another."
	}
}

// other names the list that is not in view.
func (d *Models) other() string {
	if d.profiles {
		return "models"
	}
	return "profiles"
}

// foot shows the search text, the thinking level and why the last key had no
// effect.
func (d *Models) foot(width int) []string {
	l := d.Styles
	search := l.Faint.Render("type to search")
	if d.query() != "" {
		search = l.Faint.Render("search ") + l.Strong.Render(l.Cut(d.query(), 20))
	}
	var levels []string
	for _, name := range prompt.ThinkLevels() {
		style := l.Faint
		if name == levelName(d.level) {
			style = l.Accent.Bold(true).Underline(true)
		}
		levels = append(levels, style.Render(name))
	}
	think := l.Muted.Render("think ") + strings.Join(levels, " ")
	lines := draw.Flow([]string{think, search}, "    ", width)
	for i, line := range lines {
		lines[i] = l.Cut(line, width)
	}
	if entries := d.entries(); !d.profiles && d.At < len(entries) {
		m := entries[d.At].model
		if m.Speed != (pace.Speed{}) {
			lines = append(lines, draw.Paint(l.Muted, draw.Wrap(untrusted.Line(m.Name)+" "+m.Speed.String()+" here", width))...)
		}
		if m.Fit != nil {
			lines = append(lines, l.Muted.Render(l.Cut(untrusted.Line(m.Name)+" "+strings.Join(m.Fit.Brief(), " "+l.Glyphs.Separator+" "), width)))
		}
		if m.Defect != "" {
			lines = append(lines, draw.Paint(l.Warning, draw.Wrap(m.Defect.Line(), width))...)
		}
	}
	lines = append(lines, d.installLines(width)...)
	if d.lastMessage() != "" {
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(d.lastMessage(), width))...)
	}
	return lines
}

// row draws a model or a profile.
func (d *Models) row(e entry, chosen bool, width int) []string {
	l := d.Styles
	line := l.Line(chosen, true)
	mark := " "
	if d.current(e) {
		mark = l.Glyphs.Done
	}
	name, style := untrusted.Line(e.name), l.Text
	switch {
	case e.name == "":
		name, style = "none", l.Muted
	case e.model != nil && !e.model.Chats:
		style = l.Faint
	case d.current(e):
		style = l.Strong
	}
	facts := []string{e.description.Line()}
	if e.model != nil {
		facts = modelFacts(*e.model, d.plans(e), d.Each == 1)
	}
	between := " " + l.Glyphs.Separator + " "
	head := line.Cursor + line.Draw(l.Success, mark) + line.Blank(1)
	if d.Each > 1 {
		text := strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), between)
		return []string{
			line.Fill(head+line.Draw(style, name), width),
			line.Fill(line.Cursor+line.Draw(l.Muted, "  "+l.Cut(text, width-3)), width),
		}
	}
	const beside = 62 // cells for the columns beside model names
	column := min(d.longest()+2, max(width-beside, 12))
	drawn := line.Fill(head+line.Draw(style, l.Cut(name, column-1)), column+3)
	if e.model == nil {
		return []string{line.Fill(drawn+line.Draw(l.Muted, facts[0]), width)}
	}
	for i, w := range []int{8, 9, 9, 9} { // parameters, quantization, size, context
		drawn += line.Draw(l.Muted, l.Fit(facts[i], w))
	}
	return []string{line.Fill(drawn+line.Draw(l.Muted, strings.Join(facts[4:], between)), width)}
}

// longest returns the width of the longest name, in cells.
func (d *Models) longest() int {
	w := len("none")
	for _, e := range d.entries() {
		w = max(w, ansi.StringWidth(untrusted.Line(e.name)))
	}
	return w
}

// modelFacts returns a model's parameters, quantization, size, context and
// abilities for display in columns. Without columns, it returns them in order of
// importance. Unknown facts are "".
func modelFacts(m prompt.ModelInfo, plans, columns bool) []string {
	size, context := "", ""
	if m.Bytes > 0 {
		size = wording.DiskSize(m.Bytes)
	}
	if room := cmp.Or(m.ContextWindow, m.Longest); room > 0 {
		context = wording.WindowSize(room)
		if !columns {
			context += " ctx"
		}
	}
	facts := []string{m.Parameters.Line(), m.Quantization.Line(), size, context}
	var abilities []string
	goals := ""
	if m.Fit != nil {
		goals = m.Fit.Brief()[1]
	}
	for _, ability := range []struct {
		has  bool
		word string
	}{{plans, "plans"}, {m.Tools, "tools"}, {m.Thinks, "thinks"}, {!m.Chats, "no chat"}, {m.Loaded, "loaded"}, {goals != "", goals}, {m.Growable > m.ContextWindow, "grows to " + wording.WindowSize(m.Growable)}} {
		if ability.has {
			abilities = append(abilities, ability.word)
		}
	}
	if columns {
		return append(facts, abilities...)
	}
	return append(abilities, context, facts[0], size, facts[1])
}

// info returns what is known about a model. Its name is empty if nothing is known.
func (d *Models) info(name untrusted.Text) prompt.ModelInfo {
	for _, info := range d.available.Models {
		if prompt.SameModel(info.Name, name) {
			return info
		}
	}
	return prompt.ModelInfo{}
}

// Sent remembers a choice until the session answers it.
func (d *Models) Sent(c session.Choose) { d.sent = &c }

// Chosen returns what to say about the session's answer to a choice that was made here, ""
// for any other. It is also "" for a refusal, about which there is a note. The words are
// those of the replies to /model, /think and /profile.
func (d *Models) Chosen(a session.Chosen, now session.Status) string {
	c := d.sent
	if c == nil || !sameChoice(session.Choice(*c), a.Choice) {
		return ""
	}
	d.sent = nil
	if a.Problem != "" {
		return ""
	}
	info := a.Info
	if listed := d.info(now.Model); info.Name == "" || listed.Name != "" {
		info = listed
	}
	var words []string
	if c.Model != nil {
		words = append(words, wording.Model(cmp.Or(info.Name, *c.Model), info))
	}
	if c.Planner != nil {
		words = append(words, "plan with `"+untrusted.Line(cmp.Or(*c.Planner, now.Model.Line()))+"`")
	}
	if c.Profile != nil {
		name := "no profile"
		if *c.Profile != "" {
			name = "the profile `" + untrusted.Line(*c.Profile) + "`"
		}
		words = append(words, name)
	}
	if c.Think != nil {
		words = append(words, "think "+levelName(now.Think))
	}
	message := "from the next run on: " + strings.Join(words, "; ")
	if warning := wording.NoThinking(info, now.Think); warning != "" && c.Profile == nil {
		message += ". " + warning
	}
	return message
}

// sameChoice reports whether two choices choose the same.
func sameChoice(a, b session.Choice) bool {
	return equal(a.Model, b.Model) && equal(a.Think, b.Think) && equal(a.Profile, b.Profile) && equal(a.Planner, b.Planner)
}

// equal reports whether two values are equal or both missing.
func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
