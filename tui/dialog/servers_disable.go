package dialog

import (
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/keymap"
	"replan/tui/telling"
)

// toggle requests to disable a server, or to enable a disabled one.
func (d *Servers) toggle(s *plan.ServerStatus, forGood bool) keymap.Request {
	name := untrusted.Line(s.Name)
	switch {
	case s.Transport == "built-in":
		d.message = name + " is part of replan and cannot be disabled here."
		return keymap.Request{}
	case s.Disabled == plan.DisabledForNow && forGood, s.Disabled == "":
		d.message = "Disabling " + name + d.Look.Glyphs.Ellipsis
		return keymap.SendCommands(session.Disable{Server: s.Name, ForGood: forGood})
	}
	d.message, d.awaited = "Starting "+name+d.Look.Glyphs.Ellipsis, s.Name
	return keymap.SendCommands(session.Enable{Server: s.Name})
}

// callWords says how many calls a server got, how many failed and how long they took.
func callWords(s plan.ServerStatus) string {
	if s.Calls == 0 {
		return ""
	}
	words := english.Count(s.Calls, "call") + ", "
	if s.Failures > 0 {
		words += english.Count(s.Failures, "failure") + ", "
	}
	return words + "last " + telling.Milliseconds(s.LastMS) + ", median " + telling.Milliseconds(s.MedianMS)
}
