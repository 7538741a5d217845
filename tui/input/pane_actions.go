package input

import (
	"replan/agent/session"
	"replan/tui/keymap"
)

// Actions returns the actions of the input.
func (p *Pane) Actions() keymap.Handlers {
	hs := keymap.Handlers{
		"chat.send":        {Refuse: p.nothingToSend, Do: p.send},
		"chat.new_line":    {Do: p.addLine},
		"chat.before":      {When: p.hasEarlier, Refuse: keymap.Unless(p.hasEarlier, "There is no earlier text."), Do: p.showEarlier},
		"chat.after":       {When: p.hasAfter, Refuse: keymap.Unless(p.hasAfter, "There is no later text."), Do: p.showLater},
		"chat.history":     {Refuse: p.noHistory, Do: keymap.Just(p.searchHistory)},
		"chat.editor":      {Refuse: p.noEditor, Do: keymap.Command(p.editDraft)},
		"chat.open_paste":  {Refuse: keymap.Unless(p.hasPaste, "The input contains no collapsed paste."), Do: keymap.Just(p.openPaste)},
		"chat.drop_queued": {Refuse: p.nothingQueued, Do: p.dropQueued},
		"servers.skip": {
			Refuse: keymap.Unless(p.awaitsServers, "Nothing waits for a server."),
			Do:     func() keymap.Requests { return keymap.SendCommands(session.SkipServers{}) },
		},
		"chat.end":  {When: p.Empty, Refuse: keymap.Unless(p.Empty, "The input is not empty."), Do: func() keymap.Requests { return keymap.Requests{keymap.Quit{}} }},
		"run.steer": {Refuse: p.noSteering, Do: p.steer},
	}
	if !p.TakesText() {
		return hs.With(p.closedActions())
	}
	return hs
}

// closedActions returns what replaces the actions on text in a closed input.
func (p *Pane) closedActions() keymap.Handlers {
	refused := keymap.Handler{Refuse: p.NoText, Do: keymap.Just(func() {})}
	unbound := refused // its key has another action here
	unbound.When = func() bool { return false }
	return keymap.Handlers{
		"chat.send": refused, "chat.history": refused, "chat.editor": refused, "run.steer": refused,
		"chat.new_line": unbound, "chat.before": unbound, "chat.after": unbound,
	}
}

// Hints returns the keys for the footer: those of the list above the input, else
// those for the typed text.
func (p *Pane) Hints() []keymap.Hint {
	k := p.keys
	switch {
	case p.Listing():
		return []keymap.Hint{k.Hint("take", "list.take"), k.Hint("choose", "list.up", "list.down"), k.Hint("close", "dialog.leave")}
	case p.Closed:
		return nil
	case !p.Running && p.NoModel && p.Empty():
		return []keymap.Hint{k.Hint("try again", "chat.send")}
	case !p.Running && p.Can.NoGoals != "":
		return nil
	case !p.Running:
		return []keymap.Hint{k.Hint("send", "chat.send")}
	case p.Empty():
		return nil
	default:
		return p.QueueHints()
	}
}

// QueueHints returns the keys that pass the typed text to a running run.
func (p *Pane) QueueHints() []keymap.Hint {
	var hints []keymap.Hint
	if p.Can.NoGoals == "" {
		hints = append(hints, p.keys.Hint("queue", "chat.send"))
	}
	if p.Steerable {
		hints = append(hints, p.keys.Hint("steer", "run.steer"))
	}
	return hints
}

// nothingToSend returns why enter sends nothing.
func (p *Pane) nothingToSend() string {
	switch {
	case p.value() == "" && p.NoModel:
		return "" // enter looks for a model again
	case p.value() == "":
		return "Type a goal first."
	case p.Closed:
		return "The session is closed; " + p.keys.Name("quit") + " quits."
	default:
		return ""
	}
}

// send sends the typed text, unless a backslash requests a new line.
func (p *Pane) send() keymap.Requests {
	if p.breakLine() {
		return p.suggest()
	}
	text := p.toSend()
	if text == "" {
		return keymap.SendCommands(session.Recheck{})
	}
	p.Clear()
	if text == "undo" || text == "/undo" {
		return keymap.Requests{keymap.DoAction("plan.undo")}
	}
	return keymap.Requests{keymap.ScrollToEnd{}, session.Submit{Text: text}}
}

// addLine adds a line break at the cursor.
func (p *Pane) addLine() keymap.Requests {
	p.newline()
	return p.suggest()
}

// hasEarlier reports whether there is a queued entry to take back or an earlier
// text to show.
func (p *Pane) hasEarlier() bool { return p.mayTakeBack() || p.hasBefore() }

// showEarlier takes back the entry queued last, or shows the previous text of
// the history.
func (p *Pane) showEarlier() keymap.Requests {
	if p.mayTakeBack() {
		return keymap.SendCommands(session.Unqueue{ID: p.newestQueued().ID, Back: true})
	}
	p.back()
	return p.suggestAgain()
}

// showLater shows the next text of the history.
func (p *Pane) showLater() keymap.Requests {
	p.forward()
	return p.suggestAgain()
}

// noSteering returns why the user cannot steer a run now.
func (p *Pane) noSteering() string {
	switch {
	case !p.Focused:
		return p.keys.LeadingName("pane.next") + " moves to the input: " + p.keys.Name("run.steer") + " sends what you type there to the run."
	case p.Can.NoGoals != "" && !p.Running:
		return "The run has not begun."
	case p.Can.NoGoals != "" && !p.Steerable:
		return "No model in this run can read it now."
	case !p.Running:
		return "No run is active; " + p.keys.Name("chat.send") + " sends it."
	case !p.Steerable:
		return "No model in this run can read it now; " + p.keys.Name("chat.send") + " queues it."
	case p.value() == "":
		return "Type a message for the run first."
	default:
		return ""
	}
}

// steer sends the typed text to the current run.
func (p *Pane) steer() keymap.Requests {
	text := p.toSend()
	p.Clear()
	return keymap.Requests{keymap.ScrollToEnd{}, session.Steer{Text: text}}
}
