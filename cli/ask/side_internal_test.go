package ask

import (
	"testing"

	"replan/agent/event"
	"replan/agent/session"
)

func TestSideQuestionLeavesGateOpen(t *testing.T) {
	a := newAsker(t)
	prompt := "  Allow fs.patch in step 1?" + choice
	a.q.put(gateOf("g", "1", "fs.patch"))
	a.wantOutput(prompt)
	a.typeLine("/ask  why this file?")
	a.wantSent(session.AskSideQuestion{Question: "why this file?"})
	a.wantOutput(prompt)
	a.typeLine("/ask")
	a.wantOutput("  name the question: /ask TEXT\n")
	a.wantOutput(prompt)
	a.typeLine("/") // the key of a terminal that delivers single keys
	a.wantOutput("  /")
	a.typeLine("ask what next?")
	a.wantSent(session.AskSideQuestion{Question: "what next?"})
	a.wantOutput(prompt)
	a.typeLine("/")
	a.wantOutput("  /")
	a.typeLine("plan list")
	a.wantOutput("  only /ask TEXT can be typed here\n")
	a.wantOutput(prompt)
	a.typeLine("y")
	a.wantSent(session.Resolve{Run: "r", Gate: "g", Decision: event.Allow, Scope: event.ScopeOnce})
}
