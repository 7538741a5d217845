package input

import (
	"strings"

	"charm.land/bubbles/v2/key"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/keymap"
)

// Commands returns the chat commands as actions for the palette and help. A
// chosen command goes into the input, since most take arguments.
func (p *Pane) Commands() keymap.Group {
	g := keymap.Group{Place: keymap.PlaceCommand, Title: "Chat command"}
	if p.options.Commands == nil {
		return g
	}
	for _, c := range p.options.Commands() {
		if c.Detail == "" {
			continue // an argument of a command
		}
		text := untrusted.Line(strings.TrimSpace(c.Text + " " + c.Usage))
		binding := key.NewBinding(key.WithHelp(text, c.Detail.Line()))
		start := func() keymap.Request { return p.startCommand(c) }
		g.Actions = append(g.Actions, keymap.Action{ID: c.Text, Key: &binding, Handler: keymap.Handler{Refuse: p.noCommand, Do: start}})
	}
	return g
}

// noCommand returns why no command can be put into the input.
func (p *Pane) noCommand() string {
	switch {
	case !p.TakesText():
		return p.NoText()
	case !p.Empty():
		return "The input is not empty: send it or clear it first."
	default:
		return ""
	}
}

// startCommand puts a command into the input, ready for its arguments.
func (p *Pane) startCommand(c session.Completion) keymap.Request {
	text := c.Text
	if c.Usage != "" {
		text += " "
	}
	p.set(text)
	return keymap.Request{Focus: keymap.PlaceChat}
}
