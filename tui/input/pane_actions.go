package input

import (
	"replan/agent/session"
	"replan/planning/intent"
	"replan/tui/keymap"
)

// actions are the actions of the input.
func actions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "chat.send", Keys: "enter", Does: "send; queue during a run", KeyOnly: true, Refuse: (*Pane).nothingToSend, Do: (*Pane).send},
		{ID: "chat.new_line", Keys: "alt+enter ctrl+j shift+enter", Does: "new line (also ctrl+j, or \\ enter)", KeyOnly: true, Do: (*Pane).addLine},
		{ID: "chat.shell", Keys: "!", Does: "run a shell command", When: (*Pane).Empty, Refuse: (*Pane).NoCommand, Do: (*Pane).beginCommand},
		{ID: "chat.before", Keys: "up", Does: "previous message; edit the newest queued one", KeyOnly: true, When: (*Pane).hasEarlier, Refuse: keymap.Needs((*Pane).hasEarlier, "There is no earlier text."), Do: (*Pane).showEarlier},
		{ID: "chat.after", Keys: "down", Does: "next message", KeyOnly: true, When: (*Pane).hasAfter, Refuse: keymap.Needs((*Pane).hasAfter, "There is no later text."), Do: (*Pane).showLater},
		{ID: "chat.history", Keys: "alt+r", Does: "search the history", Refuse: (*Pane).noHistory, Do: keymap.Calls((*Pane).searchHistory)},
		{ID: "chat.editor", Keys: "alt+e", Does: "write in your editor", Refuse: (*Pane).noEditor, Do: keymap.Runs((*Pane).editMessage)},
		{ID: "chat.paste", Keys: "ctrl+v", Does: "paste a picture, or text", Refuse: (*Pane).noClipboard, Do: keymap.Runs((*Pane).pasteCopied)},
		{ID: "chat.open_paste", Keys: "alt+p", Does: "expand pasted text", Refuse: keymap.Needs((*Pane).hasPaste, "The input contains no collapsed paste."), Do: keymap.Calls((*Pane).openPaste)},
		{ID: "chat.drop_queued", Keys: "alt+q", Does: "remove the newest queued message", Refuse: (*Pane).nothingQueued, Do: (*Pane).dropQueued},
		{ID: "servers.skip", Keys: "alt+w", Does: "start without the servers that are not ready", Refuse: keymap.Needs((*Pane).awaitsServers, "Nothing waits for a server."), Do: (*Pane).skipServers},
		{ID: "chat.end", Keys: "ctrl+d", Does: "quit if the input is empty", KeyOnly: true, When: (*Pane).Empty, Refuse: keymap.Needs((*Pane).Empty, "The input is not empty."), Do: (*Pane).end},
	}
}

// runActions are the actions of the input that have their key in every pane.
func runActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "run.steer", Keys: "ctrl+t", Does: "send the text to the current run", Refuse: (*Pane).noSteering, Do: (*Pane).steer},
		sideRow(),
	}
}

// Lines returns the keys and words of the actions of the input.
func Lines() keymap.Lines { return actions().Lines() }

// RunLines returns those of the actions that have their key in every pane.
func RunLines() keymap.Lines { return runActions().Lines() }

// Actions returns the actions of the input.
func (p *Pane) Actions() keymap.Handlers {
	hs := actions().For(p).With(runActions().For(p))
	if !p.TakesText() {
		return hs.With(closedActions().For(p))
	}
	return hs
}

// skipServers starts without the servers that are not ready.
func (p *Pane) skipServers() keymap.Requests { return keymap.SendCommands(session.SkipServers{}) }

// end quits the program.
func (p *Pane) end() keymap.Requests { return keymap.Requests{keymap.Quit{}} }

// closedActions are what replaces the actions on text in a closed input. The keys of those
// that never apply have another action there.
func closedActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		{ID: "chat.send", Refuse: (*Pane).NoText},
		{ID: "chat.history", Refuse: (*Pane).NoText},
		{ID: "chat.editor", Refuse: (*Pane).NoText},
		{ID: "chat.paste", Refuse: (*Pane).NoText},
		{ID: "run.steer", Refuse: (*Pane).NoText},
		{ID: "run.ask", Refuse: (*Pane).NoText},
		{ID: "chat.new_line", When: (*Pane).TakesText, Refuse: (*Pane).NoText},
		{ID: "chat.before", When: (*Pane).TakesText, Refuse: (*Pane).NoText},
		{ID: "chat.after", When: (*Pane).TakesText, Refuse: (*Pane).NoText},
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
	case p.AsksSide():
		return []keymap.Hint{k.Hint("ask beside the run", "chat.send")}
	case !p.Running && p.NoModel && p.Empty():
		return []keymap.Hint{k.Hint("try again", "chat.send")}
	case !p.Running && p.Can.NoGoals != "":
		return nil
	case !p.Running && p.IsCommand():
		return []keymap.Hint{k.Hint("run", "chat.send")}
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
	if p.Steerable && !p.IsCommand() {
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
	case p.value() == intent.CommandMark:
		return "Type a command first."
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
	switch {
	case intent.Undoes(text), text == "/undo":
		return keymap.Requests{keymap.DoAction("plan.undo"), keymap.Focus(keymap.PlaceChat)} // where its outcome appears
	case intent.Redoes(text), text == "/redo":
		return keymap.Requests{keymap.DoAction("plan.redo")}
	}
	return keymap.Requests{keymap.ScrollToEnd{}, session.Submit{Text: text}}
}

// beginCommand makes what is typed next a command for the shell.
func (p *Pane) beginCommand() keymap.Requests { return p.Start(intent.CommandMark) }

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
	case p.hasPicture():
		return "A remark shows no pictures; " + p.keys.Name("chat.send") + " queues the message."
	case p.IsCommand():
		return "A command is no remark; " + p.keys.Name("chat.send") + " queues it."
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
