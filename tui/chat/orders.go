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
var orderIDs = []string{"chat.order_1", "chat.order_2", "chat.order_3"}

// orders are the orders that a refusal offers while it is the newest entry of the chat. A key
// or a click gives one.
type orders struct {
	chat  *viewport
	block *Block   // shows the newest refusal, nil for none
	texts []string // that it offers; none once one is given
}

// offer notes that a block shows a refusal with these orders.
func (o *orders) offer(b *Block, texts []string) {
	if o.block != nil {
		o.block.change() // its keys are those of the new one
	}
	o.block, o.texts = b, texts[:min(len(texts), len(orderIDs))]
}

// count returns how many orders the newest entry of the chat offers.
func (o *orders) count() int {
	if o.block == nil || !o.chat.endsIn(o.block) {
		return 0
	}
	return len(o.texts)
}

// shows reports whether a block shows orders that can be given.
func (o *orders) shows(b *Block) bool { return o.block == b && o.count() > 0 }

// take returns an order, and withdraws all of them.
func (o *orders) take(at int) string {
	text := o.texts[at]
	o.block.change()
	o.texts = nil
	return text
}

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
	}
}

// OrderLines returns the keys and words of the actions that give an order of a refusal.
func OrderLines() keymap.Lines { return orderActions().Lines() }

// OrderActions returns the actions that give an order of the newest refusal. Their keys act
// where text is typed, while there is none.
func (c *Pane) OrderActions() keymap.Handlers { return orderActions().For(c) }

// OrderHints returns the keys that give an order of the newest refusal, for the footer.
func (c *Pane) OrderHints(k *keymap.Map) []keymap.Hint {
	n := c.offeredOrders()
	if n == 0 || c.state.Typed {
		return nil
	}
	return []keymap.Hint{k.Hint("do it", orderIDs[:n]...)}
}

// offeredOrders returns how many orders the newest entry of the chat offers here.
func (c *Pane) offeredOrders() int {
	if len(c.state.OrderKeys) == 0 {
		return 0
	}
	return c.orders.count()
}

// refuse shows the words of a refusal with the orders that it offers, a line for each.
func (c *Pane) refuse(words string, near []string) {
	l := c.Styles
	said, after, found := strings.Cut(words, intent.DidYouMean(near))
	question := intent.DidYouMean(nil)
	if !found {
		said, after = words+" ", ""
	}
	b := &Block{text: func() string { return words }, live: true, note: true}
	b.until = func() bool { return !c.orders.shows(b) }
	b.lay = func(width int) []draw.TextLine {
		lines := draw.Led(l.Danger.Render(l.Glyphs.Failed)+" ", l.Muted, draw.Wrapped(said+question, width-2))
		for i, text := range near {
			sign, action, style := l.Faint.Render(l.Glyphs.Separator), "", l.Muted
			if i < c.offeredOrders() && c.orders.shows(b) {
				sign, action, style = l.Key.Render(c.state.OrderKeys[i]), orderIDs[i], l.Text
			}
			order := draw.Led("  "+sign+" ", style, draw.Wrapped(untrusted.Line(text), width-4))
			for line := range order {
				order[line].Action = action
			}
			lines = append(lines, order...)
		}
		if after = strings.TrimSpace(after); after != "" {
			lines = append(lines, draw.Led("  ", l.Muted, draw.Wrapped(after, width-2))...)
		}
		return lines
	}
	c.Add(b)
	c.orders.offer(b, near)
}

// OrderKeys returns the names of the keys that give an order of a refusal.
func OrderKeys(k *keymap.Map) []string {
	names := make([]string, len(orderIDs))
	for i, id := range orderIDs {
		names[i] = k.Name(id)
	}
	return names
}
