package planning_test

import (
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestModelsMayPlanForEachItem(t *testing.T) {
	const text = `{"title":"Read all","steps":[
		{"index":"1","title":"Find the files","tool":"look","args":{},"depends_on":[],"result_variable":"found"},
		{"index":"2","title":"Read each","tool":"look","args":{"at":"${item.path}"},"for_each":"${found.files}","when":"len(found.files) > 0","check":[{"expect":"result != nil"}],"depends_on":["1"]}]}`
	p := reply.ReadProposal(reply.Reply{Text: text}, false)
	if len(p.Faults) > 0 || len(p.Plan.Steps) != 2 {
		t.Fatalf("got %v, %v", p.Plan.Steps, p.Faults)
	}
	s := p.Plan.Steps[1]
	if s.ForEach == nil || s.ForEach.Items != "${found.files}" || s.ForEach.Max != plan.DefaultMax || s.When == "" || len(s.Checks) != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestOnlySmallModelsAreNotToldOfForEach(t *testing.T) {
	for name, small := range map[string]bool{"small": true, "large": false} {
		b := prompt.Brief{Goal: "Read all", Prompting: prompt.Prompting{Small: small}}
		request := prompt.PlanRequest(b, reply.Analysis{}, "")
		told := strings.Contains(request.Messages[0].Content, "for_each")
		if offered := strings.Contains(string(request.Format), "for_each"); told == small || offered == small {
			t.Errorf("%s: told %v, offered %v", name, told, offered)
		}
	}
}
