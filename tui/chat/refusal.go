package chat

import (
	"strings"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// orderIDs are the actions that give an order of the newest refusal, in their order.
var orderIDs = [mostOrders]string{"chat.order_1", "chat.order_2", "chat.order_3"}

// remedyID is the action that starts the model server, or pulls the model that is missing.
const remedyID = "chat.get_model"

// orderRow is the row of the action that gives an order of the newest refusal.
func orderRow(at int, key, does string) keymap.Row[*Pane] {
	has := func(c *Pane) bool { return at < c.offeredOrders() }
	return keymap.Row[*Pane]{
		ID: orderIDs[at], Keys: key, Does: does, KeyOnly: true,
		When:   func(c *Pane) bool { return has(c) && !c.state.Typed },
		Refuse: keymap.Needs(has, "The newest entry of the chat offers no such order."),
		Do: func(c *Pane) keymap.Requests {
			return keymap.Requests{keymap.ScrollToEnd{}, session.Submit{Text: c.orders.take(at)}}
		},
	}
}

// orderActions are the actions that give an order of the newest refusal.
func orderActions() keymap.Table[*Pane] {
	return keymap.Table[*Pane]{
		orderRow(0, "1", "do the first order that a refusal offers"),
		orderRow(1, "2", "do the second one"),
		orderRow(2, "3", "do the third one"),
		{
			ID: remedyID, Keys: "0", Does: "start Ollama or pull a model", KeyOnly: true,
			When:   func(c *Pane) bool { return c.remedy().offers() && !c.state.Typed },
			Refuse: keymap.Needs(func(c *Pane) bool { return c.remedy().offers() }, "The newest entry of the chat names no model to pull and no server to start."),
			Do:     (*Pane).getModel,
		},
	}
}

// OrderLines returns the keys and words of the actions that give an order of a refusal.
func OrderLines() keymap.Lines { return orderActions().Lines() }

// OrderActions returns the actions that give an order of the newest refusal. Their keys act
// where text is typed, while there is none.
func (c *Pane) OrderActions() keymap.Handlers { return orderActions().For(c) }

// OrderHints returns the keys that give an order of the newest refusal, for the footer.
func (c *Pane) OrderHints(k *keymap.Map) []keymap.Hint {
	var hints []keymap.Hint
	if n := c.offeredOrders(); n > 0 && !c.state.Typed {
		hints = append(hints, k.Hint("do it", orderIDs[:n]...))
	}
	if r := c.remedy(); r.offers() && !c.state.Typed {
		hints = append(hints, k.Hint(r.word(), remedyID))
	}
	return hints
}

// offeredOrders returns how many orders the newest entry of the chat offers here.
func (c *Pane) offeredOrders() int {
	if len(c.state.OrderKeys) == 0 {
		return 0
	}
	return c.orders.count()
}

// remedy returns what the newest entry of the chat offers to do about a missing model. The
// welcome page offers to start the server.
func (c *Pane) remedy() Remedy {
	switch r := c.state.Remedy; {
	case c.orders.open():
		return r
	case c.OnlyNotes():
		return Remedy{Start: r.Start, Starting: r.Starting}
	default:
		return Remedy{}
	}
}

// word says in the footer what the key does.
func (r Remedy) word() string {
	switch {
	case r.Starting:
		return "cancel"
	case r.Start:
		return "start Ollama"
	default:
		return "pull"
	}
}

// getModel starts the model server or pulls the missing model, and has a goal that was refused
// for its lack sent again. Pressed once more, it cancels the start.
func (c *Pane) getModel() keymap.Requests {
	r := c.remedy()
	c.ForgetAgain()
	if c.orders.open() && !r.Starting {
		c.orders.await(c.sent)
	}
	switch {
	case r.Starting:
		return keymap.SendCommands(session.CancelStart{})
	case r.Start:
		return keymap.SendCommands(session.StartModelServer{})
	default:
		return keymap.Requests{keymap.DoAction("models"), session.Pull{Model: r.Pull}}
	}
}

// SendsAgain reports whether a refused goal waits for a model.
func (c *Pane) SendsAgain() bool { return c.orders.awaited() != "" }

// TakeAgain returns what sends the refused goal again that waited for a model, once.
func (c *Pane) TakeAgain() keymap.Requests {
	goal := c.orders.awaited()
	c.ForgetAgain()
	return keymap.Requests{keymap.ScrollToEnd{}, session.Submit{Text: goal}}
}

// ForgetAgain has no refused goal sent again: there will be no model, or the user went on.
func (c *Pane) ForgetAgain() { c.orders.await("") }

// remedyLines draws what a refusal offers to do about a missing model.
func (c *Pane) remedyLines(r Remedy, width int) []draw.TextLine {
	l := c.Styles
	var lines []draw.TextLine
	if r.Log != "" {
		lines = draw.Led("  "+l.Success.Render(l.Glyphs.Done)+" ", l.Muted, draw.Wrapped("Ollama is started; its output is in "+untrusted.Line(r.Log), width-4))
	}
	const then = ", then send the goal again"
	switch {
	case r.Starting:
		words := "Starting Ollama" + l.Glyphs.Ellipsis
		if c.SendsAgain() {
			words = "Starting Ollama; the goal is sent again once it answers" + l.Glyphs.Ellipsis
		}
		lines = append(lines, draw.Led("  ", l.Running, draw.Wrapped(words, width-2))...)
		lines = append(lines, offerLines(l, c.state.RemedyKey, "cancel", remedyID, width)...)
	case r.Start:
		lines = append(lines, offerLines(l, c.state.RemedyKey, "start Ollama here"+then, remedyID, width)...)
	case r.Pull != "":
		lines = append(lines, offerLines(l, c.state.RemedyKey, "pull "+r.Pull+" from here"+then, remedyID, width)...)
	}
	return lines
}

// refuse shows the words of a refusal, with a line for each order that it offers and one for
// what gets a model.
func (c *Pane) refuse(words string, near []string) {
	l := c.Styles
	said, after := words, ""
	if before, rest, found := strings.Cut(words, intent.DidYouMean(near)); found && len(near) > 0 {
		said, after = before+intent.DidYouMean(nil), strings.TrimSpace(rest)
	}
	var b *Block
	current := func() bool { return c.orders.shows(b) }
	b = &Block{text: func() string { return words }, live: true, note: true, until: func() bool { return !current() }, lay: func(width int) []draw.TextLine {
		lines := draw.Led(l.Danger.Render(l.Glyphs.Failed)+" ", l.Muted, draw.Wrapped(said, width-2))
		orders, remedy := 0, Remedy{}
		if current() {
			orders, remedy = c.offeredOrders(), c.remedy()
		}
		for i, text := range near {
			if i < orders {
				lines = append(lines, offerLines(l, c.state.OrderKeys[i], text, orderIDs[i], width)...)
			} else {
				lines = append(lines, draw.Led("  "+l.Faint.Render(l.Glyphs.Separator)+" ", l.Muted, draw.Wrapped(untrusted.Line(text), width-4))...)
			}
		}
		if after != "" {
			lines = append(lines, draw.Led("  ", l.Muted, draw.Wrapped(after, width-2))...)
		}
		return append(lines, c.remedyLines(remedy, width)...)
	}}
	c.Add(b)
	c.orders.offer(b, near)
}

// offerLines draws what a key or a click does.
func offerLines(l *draw.Styles, key, does, action string, width int) []draw.TextLine {
	sign := "  " + l.Key.Render(key) + " "
	lines := draw.Led(sign, l.Text, draw.Wrapped(untrusted.Line(does), width-draw.VisibleWidth(sign)))
	for i := range lines {
		lines[i].Action = action
	}
	return lines
}

// OrderKeys returns the names of the keys that give an order of a refusal, and of the one that
// gets a model.
func OrderKeys(k *keymap.Map) (orders []string, remedy string) {
	for _, id := range orderIDs {
		orders = append(orders, k.Name(id))
	}
	return orders, k.Name(remedyID)
}
