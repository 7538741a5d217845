package prompt_test

import (
	"strconv"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

// sideRequests returns the requests of side questions: to a model with tools and to a small one, and
// without a run.
func sideRequests(b prompt.Brief) map[string]prompt.Request {
	s := prompttest.Situation()
	requests := map[string]prompt.Request{}
	for name, about := range map[string]*prompt.About{
		"about": {
			Goal: string(s.Plan.Goal), State: "waiting for the user to allow step 3", Plan: s.Plan, History: s.History, Waits: "fs.patch\n-x\n+y",
			States: map[string]string{"1": "completed", "2": "completed", "3": "waiting", "4": "pending"},
		},
		"about_none": {},
	} {
		b := b
		b.Goal, b.Prompting.About = "Why did the patch fail?", about
		requests[name] = prompt.ChatRequest(b, false)
		b.Prompting.Small = true
		requests[name+"_small"] = prompt.ChatRequest(b, false)
	}
	return requests
}

func TestSideQuestionIsOfferedOnlyToolsThatRead(t *testing.T) {
	b := prompttest.Full()
	all := prompt.ChatRequest(b, false)
	b.Prompting.About = &prompt.About{}
	side := prompt.ChatRequest(b, false)
	if len(side.Tools) == 0 || len(side.Tools) >= len(all.Tools) {
		t.Errorf("offered %d tools of %d", len(side.Tools), len(all.Tools))
	}
	for _, tool := range side.Tools {
		if !tool.ReadOnly {
			t.Errorf("offered %s", tool.Name)
		}
	}
}

// TestSideQuestionBeginsAsRunsDo holds that the server of a model has read the first messages already.
func TestSideQuestionBeginsAsRunsDo(t *testing.T) {
	chat, side := prompt.ChatRequest(prompttest.Full(), false), sideRequests(prompttest.Full())["about"]
	for i, m := range chat.Messages[:len(chat.Messages)-1] {
		if side.Messages[i].Content != m.Content {
			t.Errorf("message %d differs: %q", i, side.Messages[i].Content)
		}
	}
}

func TestLongResultsOfRunAreCutForSideQuestion(t *testing.T) {
	b := prompttest.Full()
	b.Prompting.ContextWindow = 4096
	b.Prompting.About = &prompt.About{Goal: "Look", State: "running", Plan: plan.Plan{Steps: []plan.Step{{Index: "1", Title: "Read"}}}}
	for i := range 40 {
		b.Prompting.About.History = append(b.Prompting.About.History, plan.HistoryItem{Index: strconv.Itoa(i + 1), Title: "Read", Status: plan.ItemCompleted, Result: strings.Repeat("word ", 1000)})
	}
	req := prompt.ChatRequest(b, false)
	if req.TooLong != "" || req.Shortened == "" {
		t.Errorf("too long: %q, shortened: %q", req.TooLong, req.Shortened)
	}
	if !strings.HasSuffix(req.Messages[len(req.Messages)-1].Content, "Question: "+b.Goal) {
		t.Error("the question is not the end")
	}
}
