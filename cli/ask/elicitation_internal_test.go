package ask

import (
	"encoding/json"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
)

// elicited asks the question of a server.
func (a *asker) elicited(q plan.Elicitation) {
	q.Server = "tables"
	a.q.put(elicitationQuestion("r", event.ElicitationRequested{ID: "q1", Step: "1", Attempt: 1, Elicitation: q}))
}

func answerOf(action plan.ElicitationAction, content map[string]any) session.Command {
	return session.AnswerElicitation{Run: "r", ID: "q1", Action: action, Content: content}
}

// booking is a form.
var booking = plan.Elicitation{Message: "Which table?", Schema: json.RawMessage(`{"properties":{"name":{"type":"string"},"guests":{"type":"integer","default":2},"note":{"type":"string"}},"required":["name","guests"]}`)}

func TestFormOfAServerIsFilledInLineByLine(t *testing.T) {
	a := newAsker(t)
	a.elicited(booking)
	const first, name, guests = "  Answer tables? [f]ill in the form, [n]o, [c]ancel, [?]: ", "    name: ", "    guests (a whole number; empty is 2): "
	a.wantOutput(first)
	a.typeLine("f")
	a.wantOutput(name)
	a.typeLine("")
	a.wantOutput("  name is required\n")
	a.wantOutput(name)
	a.typeLine("Ann")
	a.wantOutput(guests)
	a.typeLine("two")
	a.wantOutput("  guests takes a whole number\n")
	a.wantOutput(guests)
	a.typeLine("")
	a.wantOutput("    note (optional): ")
	a.typeLine("")
	a.wantSent(answerOf(plan.ElicitationAccept, map[string]any{"name": "Ann", "guests": json.Number("2")}))
}

func TestQuestionOfAServerIsDeclinedOrCanceled(t *testing.T) {
	for line, action := range map[string]plan.ElicitationAction{"n": plan.ElicitationDecline, "cancel": plan.ElicitationCancel} {
		a := newAsker(t)
		a.elicited(booking)
		<-a.output
		a.typeLine(line)
		a.wantSent(answerOf(action, nil))
	}
}

func TestEndOfInputCancelsTheQuestionOfAServer(t *testing.T) {
	a := newAsker(t)
	a.elicited(booking)
	<-a.output
	a.typeLine("f")
	<-a.output
	_ = a.typed.Close()
	a.wantSent(answerOf(plan.ElicitationCancel, nil))
}

func TestPageOfAServerOpensAfterAYes(t *testing.T) {
	a := newAsker(t)
	a.elicited(plan.Elicitation{URL: "https://pay.example/7"})
	a.wantOutput("  tables asks to open https://pay.example/7: [y]es, open it in the browser, [n]o, [c]ancel, [?]: ")
	a.typeLine("y")
	a.wantSent(answerOf(plan.ElicitationAccept, nil))
}

func TestFormWithoutFieldsAsksForConsent(t *testing.T) {
	a := newAsker(t)
	a.elicited(plan.Elicitation{Schema: json.RawMessage(`{"type":"object"}`)})
	a.wantOutput("  tables asks: accept? [y]es, [n]o, [c]ancel, [?]: ")
	a.typeLine("yes")
	a.wantSent(answerOf(plan.ElicitationAccept, nil))
}
