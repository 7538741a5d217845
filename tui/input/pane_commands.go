package input

import (
	"strings"

	"charm.land/bubbles/v2/key"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/prompt"
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
		start := func() keymap.Requests { return p.startCommand(c) }
		g.Actions = append(g.Actions, keymap.Action{ID: c.Text, Key: &binding, Handler: keymap.Handler{Refuse: p.NoCommand, Do: start}})
	}
	return g
}

// NoCommand returns why no command can be put into the input.
func (p *Pane) NoCommand() string {
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
func (p *Pane) startCommand(c session.Completion) keymap.Requests {
	text := c.Text
	if c.Usage != "" {
		text += " "
	}
	return p.Start(text)
}

// Start puts a text into the empty input.
func (p *Pane) Start(text string) keymap.Requests {
	p.set(text)
	return keymap.Requests{keymap.Focus(keymap.PlaceChat)}
}

// Mention attaches a file or folder at the cursor.
func (p *Pane) Mention(path string) keymap.Requests {
	before, after := p.split()
	if before != "" && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\n") {
		before += " "
	}
	p.setSplit(before+prompt.NameOf(path)+" ", after)
	return keymap.Requests{keymap.Focus(keymap.PlaceChat)}
}
