package tui

// tellCalls puts a card into the chat for each call that has none yet.
func (m *Model) tellCalls() {
	if m.run.Chat == nil {
		return
	}
	for ; m.cards < len(m.run.Chat.Calls); m.cards++ {
		card := m.chat.card(m.run, m.run.Chat.Calls[m.cards])
		card.gap = m.cards == 0 || !m.chat.endsInCard()
		m.chat.add(card)
	}
}

// endsInCard reports whether the newest block is a card.
func (c *chatPane) endsInCard() bool {
	return len(c.blocks) > 0 && c.blocks[len(c.blocks)-1].card
}
