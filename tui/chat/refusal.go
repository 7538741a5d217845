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

// pullID is the action that pulls the model that the newest refusal names.
const pullID = "chat.pull"

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
			ID: pullID, Keys: "0", Does: "pull the model that it names", KeyOnly: true,
			When:   func(c *Pane) bool { return c.offeredModel() != "" && !c.state.Typed },
			Refuse: keymap.Needs(func(c *Pane) bool { return c.offeredModel() != "" }, "The newest entry of the chat names no model to pull."),
			Do: func(c *Pane) keymap.Requests {
				return keymap.Requests{keymap.DoAction("models"), session.Pull{Model: c.offeredModel()}}
			},
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
	if c.offeredModel() != "" && !c.state.Typed {
		hints = append(hints, k.Hint("pull", pullID))
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

// offeredModel returns the model that the newest entry of the chat offers to pull here, "" for
// none.
func (c *Pane) offeredModel() string {
	if !c.orders.open() {
		return ""
	}
	return c.state.Pullable
}

// refuse shows the words of a refusal, with a line for each order that it offers and one for
// the model that can be pulled.
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
		orders, model := 0, ""
		if current() {
			orders, model = c.offeredOrders(), c.offeredModel()
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
		if model != "" {
			lines = append(lines, offerLines(l, c.state.PullKey, "pull "+model+" from here", pullID, width)...)
		}
		return lines
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
// pulls the model that it names.
func OrderKeys(k *keymap.Map) (orders []string, pull string) {
	for _, id := range orderIDs {
		orders = append(orders, k.Name(id))
	}
	return orders, k.Name(pullID)
}
