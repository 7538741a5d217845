package ollama_test

import (
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"testing"

	"replan/agent/ollama"
	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// headers records [prompt.PurposeHeader] of the chat requests to a server.
type headers struct {
	mu   sync.Mutex
	seen [][]string
}

// before returns the URL of a proxy that records the requests to a server.
func (h *headers) before(t *testing.T, server *ollamatest.Server) string {
	t.Helper()
	target, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{DisableKeepAlives: true}
	recording := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/chat" {
			h.mu.Lock()
			h.seen = append(h.seen, r.Header.Values(prompt.PurposeHeader))
			h.mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(recording.Close)
	return recording.URL
}

// last returns the values of the newest request.
func (h *headers) last() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[len(h.seen)-1]
}

// purposeRequests returns a request for each purpose, by the header that it needs.
func purposeRequests() map[string]prompt.Request {
	tool := plan.Tool{Name: "fs.read", Server: "workspace", Description: "Reads a file.", InputSchema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
	b := prompt.Brief{Goal: "Rename it", Catalog: plan.Catalog{tool}}
	p := plan.Plan{Title: "Rename", Steps: []plan.Step{{Index: "3", Title: "Read it", Executor: plan.ExecutorTool, Tool: "fs.read"}}}
	step, profile := p.Steps[0], prompt.Profile{Name: "explorer"}
	talk := []prompt.Message{prompt.ReplyMessage(reply.Reply{Text: "I look."}), prompt.Reminder(b, step, prompt.Turn{Number: 5})}
	crowded := b
	crowded.Prompting.ContextWindow = 4096
	for i := range 220 {
		crowded.Catalog = append(crowded.Catalog, plan.Tool{Name: fmt.Sprintf("weather.station_%03d", i), Server: "weather", InputSchema: tool.InputSchema})
	}
	selection, _ := prompt.SelectionRequest(crowded, reply.Analysis{})
	delegated := prompt.AnalysisRequest(prompt.AgentBrief(b, step, profile))
	delegated.Step = "3"
	return map[string]prompt.Request{
		"analysis":         prompt.AnalysisRequest(b),
		"analysis; step=3": delegated,
		"review":           prompt.ReviewRequest(b, reply.Analysis{}),
		"tools":            selection,
		"plan":             prompt.PlanRequest(b, reply.Analysis{}, ""),
		"repair":           prompt.RepairRequest(b, prompt.RepairContext{Reply: "{}", Faults: []plan.Fault{{Message: "it has no steps"}}}),
		"replan":           prompt.ReplanRequest(b, prompt.Situation{Plan: p, Failed: "3", Error: "no such file"}, 5),
		"step; step=3":     prompt.StepRequest(b, p, step, nil),
		"args; step=3":     prompt.ArgsRequest(b, p, step, tool, nil, ""),
		"agent; step=3":    prompt.AgentRequest(b, p, step, profile, nil, talk, prompt.Turn{Number: 5}),
		"answer":           prompt.SynthesisRequest(b, p, nil, nil),
		"compaction":       prompt.CompactionRequest(b),
		"chat":             prompt.ChatRequest(b, false),
	}
}

func TestPurposeTravelsInHeaderAndInNoMessage(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{When: func(ollamatest.Request) bool { return true }, Text: "yes", Times: -1}}})
	var sent headers
	client := connect(t, ollama.Config{Host: sent.before(t, server)})
	heading := regexp.MustCompile(`(?mi)^# *(phase|analysis|review|plan|repair|replan|synthesis|step|arguments|answer|compaction)\b`)
	for want, req := range purposeRequests() {
		if _, err := client.Ask(testContext(t), req, nil); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if got := sent.last(); !slices.Equal(got, []string{want}) {
			t.Errorf("got the header %q, want %q", got, want)
		}
		requests := server.Requests()
		for _, m := range requests[len(requests)-1].Messages {
			if line := heading.FindString(m.Content); line != "" {
				t.Errorf("%s: a message has the heading %q", want, line)
			}
		}
	}
}

func TestStepOfPurposeIsEscaped(t *testing.T) {
	server := serve(t, ollamatest.Script{Model: "m", Replies: []ollamatest.Reply{{Purpose: "step", Text: "yes", Times: -1}}})
	var sent headers
	client := connect(t, ollama.Config{Host: sent.before(t, server)})
	for _, index := range []string{"5.1", "two words", "a;b=\"c\"", "zwölf", "1\r\nX-Other: 2"} {
		req := ask("do it")
		req.Purpose, req.Step = prompt.PurposeAgent, index
		if _, err := client.Ask(testContext(t), req, nil); err != nil {
			t.Fatalf("%q: %v", index, err)
		}
		got := sent.last()
		if len(got) != 1 {
			t.Fatalf("%q: got the headers %q", index, got)
		}
		if purpose, values, err := mime.ParseMediaType(got[0]); err != nil || purpose != "agent" || values["step"] != index {
			t.Errorf("%q: the header %s says %s of step %q, error %v", index, got[0], purpose, values["step"], err)
		}
	}
}

func TestLoadingModelHasNoPurpose(t *testing.T) {
	var sent headers
	client := connect(t, ollama.Config{Host: sent.before(t, serve(t, ollamatest.Script{Model: "m"}))})
	if err := client.Warm(testContext(t), ""); err != nil {
		t.Fatal(err)
	}
	if got := sent.last(); len(got) > 0 {
		t.Errorf("got the header %q", got)
	}
}
