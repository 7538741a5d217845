//go:build ollama

package planning_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/planning"
)

// serverAt is the server at OLLAMA_HOST.
func serverAt(t *testing.T) string {
	t.Helper()
	host := os.Getenv("OLLAMA_HOST")
	if host == "" {
		t.Fatal("OLLAMA_HOST is not set: name the server that these tests are to ask")
	}
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	return host
}

// serverSays sends a question to the server and reads its answer.
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

// longWait is for one reply of a real model on a slow machine.
const longWait = 2 * time.Minute

// smallestModel is the model with the fewest bytes that chats and does not think:
// one that thinks would be held to a format only after that. Where there is none,
// the test is left out.
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
	t.Skipf("%s has no model that chats and does not think: pull one to have this tested", serverAt(t))
	return ""
}

// askServer sends a request to a model and returns its reply. Models of random
// weights write nonsense, in the form allowed by the grammar.
func askServer(t *testing.T, model string, req planning.Request, seed int) planning.Reply {
	t.Helper()
	messages := []map[string]string{}
	// Left to itself, such a model proposes no steps.
	format := bytes.ReplaceAll(req.Format, []byte(`"maxItems":5}`), []byte(`"minItems":3,"maxItems":5}`))
	for _, m := range req.Messages[len(req.Messages)-1:] {
		messages = append(messages, map[string]string{"role": string(m.Role), "content": m.Content})
	}
	var reply struct {
		Message    struct{ Content string }
		DoneReason string `json:"done_reason"`
	}
	serverSays(t, http.MethodPost, "/api/chat", map[string]any{
		"model": model, "messages": messages, "format": json.RawMessage(format), "stream": false,
		"options": map[string]any{"num_predict": 900, "num_ctx": 4096, "seed": seed, "temperature": 1.0},
	}, &reply)
	return planning.Reply{Text: reply.Message.Content, CutOff: reply.DoneReason == "length"}
}

// TestTheServerHoldsAPlanToItsSchema has the grammar that the server makes of
// each format obeyed by a model that knows no better.
func TestTheServerHoldsAPlanToItsSchema(t *testing.T) {
	model := smallestModel(t)
	wide := brief()
	wide.Catalogue = benchCatalogue()
	withAgents := brief()
	withAgents.Prompting.Profiles = []planning.Profile{{Name: "explorer"}, {Name: "fixer"}}
	odd := brief()
	odd.Catalogue = oddTools()
	for name, b := range map[string]planning.Brief{"tools with their arguments": brief(), "more tools than there is room for": wide, "agents": withAgents, "schemas of every kind": odd} {
		t.Run(name, func(t *testing.T) {
			whole := 0
			for seed := range 3 {
				b.Prompting.SkipAnalysis = seed%2 == 0
				p := planning.NewPipeline(b)
				req, _ := p.Next()
				reply := askServer(t, model, req, seed)
				for i, s := range planning.ReadSteps(reply.Text) {
					if s.Executor == planning.ExecutorTool && s.Tool == "" && reply.CutOff {
						continue // cut off in the middle of it
					}
					if _, err := b.Catalogue.Find(s.Tool); s.Executor == planning.ExecutorTool && err != nil {
						t.Errorf("seed %d, step %d: %v\n%s", seed, i, err, reply.Text)
					}
					if s.Executor == planning.ExecutorAgent && s.Profile != "" && !slices.Contains(b.Prompting.ProfileNames(), s.Profile) {
						t.Errorf("seed %d, step %d names the agent %q", seed, i, s.Profile)
					}
					whole++
				}
			}
			if whole == 0 {
				t.Error("no step came back")
			}
		})
	}
}

// TestTheServerTakesTheFormatOfEachCall has the server make a grammar of each
// tool's arguments, and the model write some.
func TestTheServerTakesTheFormatOfEachCall(t *testing.T) {
	model := smallestModel(t)
	b := brief()
	b.Catalogue = append(oddTools(), tools()...)
	for _, tool := range b.Catalogue {
		req := planning.ArgsRequest(b, planning.Plan{}, planning.Step{Index: "1", Title: "x", Tool: tool.Name}, tool, nil)
		reply := askServer(t, model, req, 1)
		if args, err := planning.ParseArgs(reply.Text); err != nil && !reply.CutOff {
			t.Errorf("%s: %v, %v\n%s", tool.Name, args, err, reply.Text)
		}
	}
}

// oddTools is a tool with an argument of every kind that a schema knows, and some
// whose schemas are of no use.
func oddTools() planning.Catalogue {
	return planning.Catalogue{
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
