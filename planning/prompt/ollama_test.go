//go:build ollama

package prompt_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// serverAt returns the address of the server at OLLAMA_HOST.
func serverAt(t *testing.T) string {
	t.Helper()
	host := os.Getenv("OLLAMA_HOST")
	if host == "" {
		t.Fatal("OLLAMA_HOST is not set: name the server for these tests")
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	return host
}

// serverSays sends a request to the server and decodes its answer.
func serverSays(t *testing.T, method, path string, question, answer any) {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, serverAt(t)+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK || json.Unmarshal(text, answer) != nil {
		t.Fatalf("the server answers %s to %s: %v %s", reply.Status, path, err, text)
	}
}

// longWait is the timeout for one reply of a real model on a slow machine.
const longWait = 2 * time.Minute

// smallestModel returns the smallest model that chats and does not think: a
// format binds a thinking model only after its thoughts. It skips the test if
// there is none.
func smallestModel(t *testing.T) string {
	t.Helper()
	type entry struct {
		Name string
		Size int64
	}
	var list struct{ Models []entry }
	serverSays(t, http.MethodGet, "/api/tags", nil, &list)
	slices.SortFunc(list.Models, func(a, b entry) int { return cmp.Compare(a.Size, b.Size) })
	for _, m := range list.Models {
		var shown struct{ Capabilities []string }
		serverSays(t, http.MethodPost, "/api/show", map[string]string{"model": m.Name}, &shown)
		if slices.Contains(shown.Capabilities, "completion") && !slices.Contains(shown.Capabilities, "thinking") {
			return m.Name
		}
	}
	t.Skipf("%s has no model that chats and does not think: pull one to run this test", serverAt(t))
	return ""
}

// askServer sends a request to a model and returns its reply. Models with random
// weights write nonsense in the form that the grammar allows.
func askServer(t *testing.T, model string, req prompt.Request, seed int) reply.Reply {
	t.Helper()
	messages := []map[string]string{}
	// Without this, such a model proposes no steps.
	format := bytes.ReplaceAll(req.Format, []byte(`"maxItems":5}`), []byte(`"minItems":3,"maxItems":5}`))
	for _, m := range req.Messages[len(req.Messages)-1:] {
		messages = append(messages, map[string]string{"role": string(m.Role), "content": m.Content})
	}
	var answer struct {
		Message    struct{ Content string }
		DoneReason string `json:"done_reason"`
	}
	serverSays(t, http.MethodPost, "/api/chat", map[string]any{
		"model": model, "messages": messages, "format": json.RawMessage(format), "stream": false,
		"options": map[string]any{"num_predict": 900, "num_ctx": 4096, "seed": seed, "temperature": 1.0},
	}, &answer)
	return reply.Reply{Text: answer.Message.Content, CutOff: answer.DoneReason == "length"}
}

// TestServerEnforcesPlanSchema checks the grammar that the server derives from
// each format with a model that writes nonsense.
func TestServerEnforcesPlanSchema(t *testing.T) {
	model := smallestModel(t)
	wide := prompttest.Brief()
	wide.Catalog = plantest.Wide()
	withAgents := prompttest.Brief()
	withAgents.Prompting.Profiles = []prompt.Profile{{Name: "explorer"}, {Name: "fixer"}}
	odd := prompttest.Brief()
	odd.Catalog = oddTools()
	for name, b := range map[string]prompt.Brief{"tools with their arguments": prompttest.Brief(), "too many tools": wide, "agents": withAgents, "all kinds of schemas": odd} {
		t.Run(name, func(t *testing.T) {
			whole := 0
			for seed := range 3 {
				req := prompt.AnalysisRequest(b)
				if seed%2 == 0 {
					req = planRequest(b)
				}
				answer := askServer(t, model, req, seed)
				for i, s := range reply.ReadProposal(answer, false).Plan.Steps {
					if s.Executor == plan.ExecutorTool && s.Tool == "" && answer.CutOff {
						continue // cut off within the step
					}
					if _, err := b.Catalog.Find(s.Tool); s.Executor == plan.ExecutorTool && err != nil {
						t.Errorf("seed %d, step %d: %v\n%s", seed, i, err, answer.Text)
					}
					if s.Executor == plan.ExecutorAgent && s.Profile != "" && !slices.Contains(b.Prompting.ProfileNames(), s.Profile) {
						t.Errorf("seed %d, step %d names the agent %q", seed, i, s.Profile)
					}
					whole++
				}
			}
			if whole == 0 {
				t.Error("got no steps")
			}
		})
	}
}

// TestServerAcceptsArgsFormats checks that the server derives a grammar from each
// tool's arguments and the model writes some.
func TestServerAcceptsArgsFormats(t *testing.T) {
	model := smallestModel(t)
	b := prompttest.Brief()
	b.Catalog = append(oddTools(), plantest.Tools()...)
	for _, tool := range b.Catalog {
		req := prompt.ArgsRequest(b, plan.Plan{}, plan.Step{Index: "1", Title: "x", Tool: tool.Name}, tool, nil, "")
		answer := askServer(t, model, req, 1)
		if args, err := reply.ParseArgs(answer.Text); err != nil && !answer.CutOff {
			t.Errorf("%s: %v, %v\n%s", tool.Name, args, err, answer.Text)
		}
	}
}

// oddTools returns a tool with every kind of argument, and tools with unusable
// schemas.
func oddTools() plan.Catalog {
	return plan.Catalog{
		{Name: "every.kind", Server: "odd", InputSchema: json.RawMessage(`{"type":"object","required":["n"],"properties":{
			"n":{"type":"integer","minimum":3},"f":{"type":"number"},"b":{"type":"boolean"},"null":{"type":["string","null"]},"two":{"type":["integer","boolean"]},
			"e":{"enum":[1,2,null]},"c":{"const":{"a":1}},"any":{},"yes":true,"ref":{"$ref":"#/$defs/x"},
			"list":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"k":{"type":"integer"}},"required":["k"]}},
			"either":{"oneOf":[{"type":"integer"},{"type":"array","items":{"type":"string"}}]},"odd \"name\"":{"type":"string","pattern":"^a"}},"$defs":{"x":{"type":"string"}}}`)},
		{Name: "one.or.other", Server: "odd", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"diff":{"type":"string"}},"additionalProperties":false,"anyOf":[{"required":["path","old"]},{"required":["diff"]}]}`)},
		{Name: "no.schema", Server: "odd"},
		{Name: "no.args", Server: "odd", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		{Name: "broken", Server: "odd", InputSchema: json.RawMessage(`{"type":[`)},
	}
}

// TestServerCompilesManyFormsSoon checks how long the server takes to make a grammar
// of a format with so many forms of steps.
func TestServerCompilesManyFormsSoon(t *testing.T) {
	model := smallestModel(t)
	took := func(format json.RawMessage) time.Duration {
		best := longWait
		for range 3 {
			question := map[string]any{
				"model": model, "messages": []map[string]string{{"role": "user", "content": "Plan."}}, "stream": false,
				"options": map[string]any{"num_predict": 1, "num_ctx": 4096},
			}
			if format != nil {
				question["format"] = format
			}
			var answer struct{}
			began := time.Now()
			serverSays(t, http.MethodPost, "/api/chat", question, &answer)
			best = min(best, time.Since(began))
		}
		return best
	}
	without := took(nil)
	for _, forms := range []int{60, 90} {
		b := prompttest.Brief()
		b.Catalog = nil
		for i := range forms {
			b.Catalog = append(b.Catalog, plan.Tool{
				Name: fmt.Sprintf("tool%d", i), Server: "w",
				InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`),
			})
		}
		typed, _ := typedTools(t, prompt.PlanRequest(b, reply.Analysis{}, "").Format)
		format := prompt.PlanRequest(b, reply.Analysis{}, "").Format
		with := took(format)
		if t.Logf("%d forms, %d KB: %s", len(typed), len(format)>>10, with-without); with-without > time.Second {
			t.Error("that is more than a second")
		}
		if len(typed) != forms {
			t.Errorf("the format has %d forms, want %d", len(typed), forms)
		}
	}
}
