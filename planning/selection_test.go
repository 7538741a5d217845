package planning_test

import (
	"reflect"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

const simplePlan = `{"title":"t","steps":[{"index":"1","title":"Read a.go","tool":"fs.read","args":{"path":"a.go"},"depends_on":[],"expected_outcome":"its text"}]}`

func TestToolsWithoutRoomAreAskedForBeforePlan(t *testing.T) {
	p := planning.NewPipeline(prompttest.Crowd(prompttest.Brief()))
	p.Absorb(reply.Reply{Text: `{"mode":"plan","task":"x","goal":"y","complexity":"medium","reflect":false}`})
	req, _ := p.Next()
	if again, _ := p.Next(); req.Purpose != prompt.PurposeTools || !reflect.DeepEqual(req, again) {
		t.Fatalf("got %s, and then %s: %s", req.Purpose, again.Purpose, last(req))
	}
	p.Absorb(reply.Reply{Text: `{"tools":["spare_0900","depot:spare_0777","no_such_tool"]}`})
	for _, turn := range []struct {
		want  prompt.Purpose
		reply string
	}{{prompt.PurposePlan, plantest.WrongPlan}, {prompt.PurposeRepair, simplePlan}} {
		req, _ = p.Next()
		if req.Purpose != turn.want || !strings.Contains(last(req), "\nspare_0900(part: string)") {
			t.Errorf("got %s, want %s with the chosen tools:\n%s", req.Purpose, turn.want, last(req))
		}
		p.Absorb(reply.Reply{Text: turn.reply})
	}
	if o := p.Outcome(); o.Kind != planning.OutcomePlanned {
		t.Errorf("got %+v", o)
	}
}

func TestUselessChoiceOfToolsIsIgnored(t *testing.T) {
	b := prompttest.Crowd(prompttest.Brief())
	b.Prompting.SkipAnalysis = true
	plain := func(answer func(planning.Planner)) prompt.Request {
		p := planning.NewPipeline(b)
		if req, _ := p.Next(); req.Purpose != prompt.PurposeTools {
			t.Fatalf("got %s first", req.Purpose)
		}
		answer(p)
		req, _ := p.Next()
		return req
	}
	want := plain(func(p planning.Planner) { p.Absorb(reply.Reply{Text: `{"tools":[]}`}) })
	if want.Purpose != prompt.PurposePlan {
		t.Fatalf("got %s", want.Purpose)
	}
	for name, text := range map[string]string{"prose": "I need nothing.", "nothing": "", "unknown tools": `{"tools":["a","b"]}`, "broken": `{"tools":[`} {
		if got := plain(func(p planning.Planner) { p.Absorb(reply.Reply{Text: text}) }); !reflect.DeepEqual(got, want) {
			t.Errorf("after %s, the request of phase 3 differs", name)
		}
	}
	if got := plain(func(p planning.Planner) { p.Fail("it took too long", reply.Reply{Text: `{"tools":["spare_0900"`}) }); !reflect.DeepEqual(got, want) {
		t.Error("after a failure, the request of phase 3 differs")
	}
}
