package tui

// tellCalls adds a card to the chat for each call without one.
func (m *Model) tellCalls() {
	if m.run.Chat == nil {
		return
	}
	for ; m.cards < len(m.run.Chat.Calls); m.cards++ {
		card := m.chat.Card(m.run, m.run.Chat.Calls[m.cards])
		card.Gap = m.cards == 0 || !m.chat.EndsInCard()
		m.chat.Add(card)
	}
}
