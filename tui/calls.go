package tui

import (
	"slices"
	"strings"

	"replan/agent"
	"replan/planning"
	"replan/tui/untrusted"
)

// stepWords names a step in a sentence: one of the plan, or a call that a model
// makes in the chat.
func stepWords(index string) string {
	if number, ok := strings.CutPrefix(index, planning.ChatParent+"."); ok {
		return "call " + untrusted.Line(number)
	}
	return "step " + untrusted.Line(index)
}

// stepTitle is the same where a title begins with it.
func stepTitle(l *look, index string) string {
	words := stepWords(index)
	name, number, _ := strings.Cut(words, " ")
	return strings.ToUpper(name[:1]) + name[1:] + " " + l.cut(number, 8)
}

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

// callArgs are the arguments of a call, as they were resolved or as they were
// asked for.
func callArgs(s *agent.StepState) map[string]any {
	if s.Args != nil {
		return s.Args
	}
	return s.Step.Args
}

// newest is the call of a loop that a reader wants to see: one that waits for
// the user, else one that runs, else the last; nil where there is none.
func newest(l *agent.Loop) *agent.StepState {
	if l == nil || len(l.Calls) == 0 {
		return nil
	}
	for _, status := range []agent.StepStatus{agent.StepWaiting, agent.StepUncertain, agent.StepActive} {
		for _, c := range slices.Backward(l.Calls) {
			if c.Status == status {
				return c
			}
		}
	}
	for _, c := range slices.Backward(l.Calls) {
		if c.Status != agent.StepPending {
			return c
		}
	}
	return l.Calls[len(l.Calls)-1]
}

// mainArgument is the argument of a call that says most about it, on one line.
func mainArgument(args map[string]any) string {
	telling := []string{"path", "file", "goal", "query", "pattern", "name", "command", "url", "id", "text"}
	rank := func(name string) int {
		if i := slices.Index(telling, name); i >= 0 {
			return i
		}
		return len(telling)
	}
	best := ""
	for name, value := range args {
		if text, ok := value.(string); !ok || strings.TrimSpace(text) == "" {
			continue
		}
		if best == "" || rank(name) < rank(best) || rank(name) == rank(best) && name < best {
			best = name
		}
	}
	if best != "" {
		return untrusted.FirstLine(args[best].(string))
	}
	if len(args) == 0 {
		return ""
	}
	return untrusted.Line(jsonText(args, ""))
}
