package reply_test

import (
	"testing"

	"replan/planning/plan"
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
