package dialog

import (
	"cmp"
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/wording"
)

// install is the part of the dialog about models that pulls and removes them.
type install struct {
	naming   bool                 // letters name the model to pull
	name     string               // typed so far
	removing *prompt.ModelInfo    // the model that the user may remove; nil for none
	pull     session.PullProgress // under way; no Model means none
}

// OpenPull opens the dialog to name a model to pull and requests the list of models.
func (d *Models) OpenPull(s session.Status) keymap.Query {
	q := d.Open(s)
	name := ""
	if s.Model == "" {
		name = cmp.Or(s.Trouble.Pull.Line(), s.Trouble.Model.Line(), wording.SuggestedModel)
	}
	d.nameModel(name)
	return q
}

// nameModel asks for the name of a model to pull, unless one is pulled already.
func (d *Models) nameModel(name string) {
	if d.pull.Model != "" {
		d.say(untrusted.Line(d.pull.Model) + " is being pulled: wait for its end, or press " + d.Keys.Name("models.cancel_pull") + " to cancel it.")
		return
	}
	d.naming, d.name, d.profiles = true, name, false
}

// installing returns the actions while the user names a model or confirms a removal,
// nil otherwise.
func (d *Models) installing() keymap.Handlers {
	switch {
	case d.naming:
		return keymap.Searching(d.name, func(text string) { d.name = text }).With(namingActions().For(d))
	case d.removing != nil:
		return removalActions().For(d)
	default:
		return nil
	}
}

// namingActions are the actions while the user names a model to pull.
func namingActions() keymap.Table[*Models] {
	return keymap.Table[*Models]{
		{ID: "list.choose", Do: (*Models).pullNamed},
		{ID: "dialog.leave", Do: keymap.Calls(func(d *Models) { d.naming = false })},
	}
}

// pullNamed pulls the model that the user has named.
func (d *Models) pullNamed() keymap.Requests {
	name := strings.TrimSpace(d.name)
	if name == "" {
		d.say("Type the name of a model, such as " + wording.SuggestedModel + ".")
		return nil
	}
	d.naming = false
	return keymap.SendCommands(session.Pull{Model: name})
}

// removalActions are the actions while the user confirms a removal.
func removalActions() keymap.Table[*Models] {
	return keymap.Table[*Models]{
		{ID: "quit.yes", Do: (*Models).remove},
		{ID: "quit.no", Do: keymap.Calls(func(d *Models) { d.removing = nil })},
	}
}

// remove removes the model whose removal the user has confirmed.
func (d *Models) remove() keymap.Requests {
	name := d.removing.Name
	d.removing = nil
	d.say("Removing " + untrusted.Line(name) + d.Styles.Glyphs.Ellipsis)
	return keymap.SendCommands(session.Remove{Model: name})
}

// beginPull asks for the name of a model to pull, and suggests one if there is none yet.
func (d *Models) beginPull() {
	name := ""
	if !d.asked && len(d.available.Models) == 0 {
		name = wording.SuggestedModel
	}
	d.nameModel(name)
}

// noRemoval returns why no model can be removed.
func (d *Models) noRemoval() string {
	if entries := d.entries(); d.At < len(entries) && entries[d.At].model != nil {
		return ""
	}
	return "Select a model to remove."
}

// askRemoval asks whether to remove the chosen model.
func (d *Models) askRemoval() { d.removing = d.entries()[d.At].model }

// NoPull returns why no pull can be canceled.
func (d *Models) NoPull() string {
	if d.pull.Model == "" {
		return "No model is being pulled."
	}
	return ""
}

// CancelPull cancels the pull under way.
func (d *Models) CancelPull() keymap.Requests { return keymap.SendCommands(session.CancelPull{}) }

// installHints lists the keys while the user names a model or confirms a removal,
// nil otherwise.
func (d *Models) installHints() []keymap.Hint {
	switch {
	case d.naming:
		return []keymap.Hint{d.Keys.Hint("pull", "list.choose"), d.Keys.Hint("back", "dialog.leave")}
	case d.removing != nil:
		return []keymap.Hint{d.Keys.Hint("remove", "quit.yes"), d.Keys.Hint("keep", "quit.no")}
	default:
		return nil
	}
}

// installLines draws the pull under way, the name typed and the question about a
// removal.
func (d *Models) installLines(width int) []string {
	l := d.Styles
	var lines []string
	if d.pull.Model != "" {
		lines = append(lines, d.progress(width))
	}
	switch {
	case d.naming:
		line := l.Strong.Render("Pull ") + l.Text.Render(l.CutLeft(untrusted.Line(d.name), max(width-10, 1))) + l.Accent.Render(l.Glyphs.Cursor)
		lines = append(lines, l.Cut(line, width), l.Faint.Render(l.Cut("a name from ollama.com/search, such as "+wording.SuggestedModel, width)))
	case d.removing != nil:
		question := "Remove " + untrusted.Line(d.removing.Name)
		if d.removing.Bytes > 0 {
			question += " (" + wording.DiskSize(d.removing.Bytes) + ")"
		}
		question += "? " + d.Keys.Name("quit.yes") + "/" + d.Keys.Name("quit.no")
		lines = append(lines, draw.Paint(l.Warning, draw.Wrap(question, width))...)
	}
	return lines
}

// progress draws how far the pull is in a line, with a bar if there is room.
func (d *Models) progress(width int) string {
	const bar = 20 // cells
	l, p := d.Styles, d.pull
	parts := []string{l.Running.Render("pulling ") + l.Strong.Render(l.Cut(untrusted.Line(p.Model), max(width/3, 12)))}
	if p.Total > 0 && width >= 60 {
		parts = append(parts, l.Gauge(float64(p.Done)/float64(p.Total), bar, l.Running))
	}
	for _, words := range wording.PullFigures(p) {
		parts = append(parts, l.Muted.Render(words))
	}
	return l.Cut(strings.Join(parts, "  "), width)
}

// Pulling returns the progress of the pull under way; no Model means none.
func (d *Models) Pulling() session.PullProgress { return d.pull }

// Pulled shows the progress of a pull. It reports whether the list of models may
// have changed.
func (d *Models) Pulled(p session.PullProgress) (changed bool) {
	switch {
	case !p.Ended:
		d.pull = p
		return false
	case d.pull.Model == p.Model:
		d.pull = session.PullProgress{}
	}
	d.say(p.Problem.Line())
	return d.Shown()
}

// Removed shows the outcome of a removal. It reports whether the list of models may
// have changed.
func (d *Models) Removed(r session.Removed) (changed bool) {
	d.say(r.Problem.Line())
	return d.Shown()
}
