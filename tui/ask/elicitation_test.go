package ask

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

// booking is a question with a form.
var booking = event.ElicitationRequested{ID: "1.1.q1", Step: "1", Attempt: 1, Elicitation: plan.Elicitation{
	Server: "tables", Message: "Which table may I book?\nIt is for tonight.",
	Schema: json.RawMessage(`{"type":"object","required":["name","guests"],"properties":{
		"name":{"type":"string","title":"Your name","description":"As at the door."},
		"guests":{"type":"integer","minimum":1,"maximum":8,"default":2},
		"room":{"type":"string","enum":["s","l"],"enumNames":["small","large"]},
		"window":{"type":"boolean"},
		"token":{"type":"string","title":"Access token"}}}`),
}}

// payment is a question for a page.
var payment = event.ElicitationRequested{ID: "1.1.q2", Step: "1", Attempt: 1, Elicitation: plan.Elicitation{
	Server: "tables", Message: "Please pay.", URL: "https://pay.example.com/table/7?session=0123456789abcdef&return=https%3A%2F%2Ftables.example%2Fdone",
}}

// asks returns a dialog that shows a question after its grace time.
func asks(d event.ElicitationRequested, size draw.Rect) *Dialog {
	g := New(panetest.DarkLook(), panetest.Keys(), draw.Pauses{})
	g.Set([]Request{elicitation("r", d)})
	g.Guard().Stop()
	show(g, size)
	return g
}

func TestQuestionOfAServerShowsItsFormOrItsWholePage(t *testing.T) {
	for name, d := range map[string]event.ElicitationRequested{"form": booking, "page": payment} {
		for _, size := range []draw.Rect{{W: 120, H: 18}, {W: 40, H: 14}} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size.W, size.H), func(t *testing.T) {
				g := asks(d, size)
				golden.RequireEqual(t, panetest.Stripped(show(g, size))+"\n")
			})
		}
	}
}

func TestFormIsFilledInAndSentIfItFits(t *testing.T) {
	size := draw.Rect{W: 100, H: 18}
	g := asks(booking, size)
	act := func(id string) keymap.Requests {
		t.Helper()
		w, why := g.Actions().Act(id)
		if why != "" {
			t.Fatalf("%s: %s", id, why)
		}
		return w
	}
	write := func(text string) {
		for _, r := range text {
			g.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	act("question.edit")
	g.Guard().Stop()
	if w := act("question.send"); panetest.Sent(w) != nil || g.editor.fields.Fault() != "Not sent: Your name is required" {
		t.Fatalf("an empty form: sent %+v, %q", panetest.Sent(w), g.editor.fields.Fault())
	}
	write("Ann")
	act("question.next_field")
	act("question.next_field")
	write("large")
	golden.RequireEqual(t, panetest.Stripped(show(g, size))+"\n")
	w := act("question.send")
	want := session.AnswerElicitation{Run: "r", ID: "1.1.q1", Action: plan.ElicitationAccept, Content: map[string]any{"name": "Ann", "guests": json.Number("2"), "room": "l"}}
	if len(panetest.Sent(w)) != 1 || !reflect.DeepEqual(panetest.Sent(w)[0], session.Command(want)) || g.Waiting() != 0 {
		t.Errorf("sent %+v, %d wait", panetest.Sent(w), g.Waiting())
	}
}

func TestFieldOfAFormShowsItsDescriptionAndAllItsChoices(t *testing.T) {
	for name, c := range map[string]struct {
		size  draw.Rect
		moves int
		want  []string
	}{
		"a description":                    {draw.Rect{W: 100, H: 18}, 0, []string{"As at the door."}},
		"choices on a narrow screen":       {draw.Rect{W: 30, H: 18}, 2, []string{"one of s (small), l", "(large), optional"}},
		"a description in the least lines": {draw.Rect{W: 60, H: 7}, 0, []string{"As at the door."}},
		"choices beyond the least lines":   {draw.Rect{W: 30, H: 8}, 2, []string{"one of s (small), l …"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := asks(booking, c.size)
			g.Actions().Act("question.edit")
			for range c.moves {
				g.editor.move(1)
			}
			drawn := panetest.Stripped(show(g, c.size))
			for _, words := range c.want {
				if !strings.Contains(drawn, "│   "+words) {
					t.Errorf("%q is missing:\n%s", words, drawn)
				}
			}
		})
	}
}

func TestQuestionOfAServerIsDeclinedOrCanceled(t *testing.T) {
	for id, action := range map[string]plan.ElicitationAction{"gate.deny": plan.ElicitationDecline, "question.abort": plan.ElicitationCancel, "gate.once": plan.ElicitationAccept} {
		g := asks(payment, draw.Rect{W: 100, H: 18})
		w, why := g.Actions().Act(id)
		want := session.AnswerElicitation{Run: "r", ID: "1.1.q2", Action: action}
		if why != "" || len(panetest.Sent(w)) != 1 || !reflect.DeepEqual(panetest.Sent(w)[0], session.Command(want)) {
			t.Errorf("%s: refused %q, sent %+v", id, why, panetest.Sent(w))
		}
	}
}

func TestPageOpensOnlyAfterItsWholeAddressWasInView(t *testing.T) {
	g := asks(payment, draw.Rect{W: 40, H: 6})
	if w, _ := g.Actions().Act("gate.once"); panetest.Sent(w) != nil {
		t.Errorf("sent %+v", panetest.Sent(w))
	}
}

func TestStrangeHostsAreWarnedOf(t *testing.T) {
	for page, warned := range map[string]bool{
		"https://pay.example/x": false, "http://pay.example/x": true, "https://раy.example/x": true, "https://xn--y-7sba.example": true, "": false,
	} {
		if got := strangeHost(page) != ""; got != warned {
			t.Errorf("%s: got %t", page, got)
		}
	}
}
