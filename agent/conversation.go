package agent

import (
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Conversations are the loops of a run: its chat, and its sub-agents.
type Conversations struct {
	Chat *Loop // the chat turn in which the model calls tools; nil before its first call

	agents  []*StepState    // steps that have started a loop
	writers map[string]bool // models whose loops get a format in place of tools to call
}

// newConversations returns the conversations of a run that begins with a model.
func newConversations(model string, terms prompt.Prompting) Conversations {
	c := Conversations{writers: map[string]bool{model: terms.WritesCalls}}
	for _, p := range terms.Profiles {
		if p.Model != "" {
			c.writers[p.Model] = c.writers[p.Model] || p.WritesCalls
		}
	}
	return c
}

// chat returns the loop of the chat, and starts it if needed.
func (c *Conversations) chat() *Loop {
	if c.Chat == nil {
		c.Chat = newLoop(nil, prompt.Profile{}, nil)
	}
	return c.Chat
}

// inChat returns the loop of the chat; nil before its first call.
func (c *Conversations) inChat() loopView { return viewOfLoop(c.Chat) }

// plansUnderWay reports whether a call of the chat runs a plan.
func (c *Conversations) plansUnderWay(tool func(string) plan.Tool) bool {
	return c.Chat.plansUnderWay(tool)
}

// addAgent adds a step that has started a loop.
func (c *Conversations) addAgent(s *StepState) { c.agents = append(c.agents, s) }

// forgetAgents drops all steps that have started a loop.
func (c *Conversations) forgetAgents() { c.agents = nil }

// working returns the steps of the sub-agents that work.
func (c *Conversations) working() []*StepState {
	var out []*StepState
	for _, s := range c.agents {
		if s.Status == StepRunning {
			out = append(out, s)
		}
	}
	return out
}

// atWork returns the views of the steps of the sub-agents that work.
func (c *Conversations) atWork() []stepView { return viewsOf(c.working()) }

// holdCalls notes that a format must hold the calls of a model.
func (c *Conversations) holdCalls(model string) { c.writers[model] = true }

// holdsCalls reports whether it must.
func (c *Conversations) holdsCalls(model string) bool { return c.writers[model] }
