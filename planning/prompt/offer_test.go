package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
)

func TestToolsOfOneNameAreNotOffered(t *testing.T) {
	b := prompt.Brief{Goal: "hello", Prompting: prompt.Prompting{ModelTools: true}, Catalog: plan.Catalog{
		{Name: "x", Server: "a"}, {Name: "x", Server: "a"}, {Name: "x", Server: "b"},
	}}
	for name, tools := range map[string]plan.Catalog{
		"chat": prompt.ChatTools(b), "sub-agent": prompt.AgentTools(b, prompt.Profile{Tools: []string{"*:*"}}),
	} {
		if len(tools) != 1 || tools[0].Server != "b" {
			t.Errorf("%s: got %+v", name, tools)
		}
	}
}

func TestWantedTokensHoldNoToolsBeyondWidestOffer(t *testing.T) {
	b := prompt.Brief{Goal: "hello", Prompting: prompt.Prompting{ModelTools: true, ContextWindow: 8192}}
	for i := range 500 {
		b.Catalog = append(b.Catalog, plan.Tool{Name: fmt.Sprintf("tool%d", i), Server: "w", Description: strings.Repeat("what it does, ", 40)})
	}
	if req := prompt.ChatRequest(b, false); req.Unoffered == nil || req.Wanted <= 8192 || req.Wanted > 32768 {
		t.Errorf("it wants %d tokens for %+v", req.Wanted, req.Unoffered)
	}
}

func TestToolsAreCutInSmallWindow(t *testing.T) {
	brief := prompt.Brief{Goal: "hello", Prompting: prompt.Prompting{ModelTools: true, PlanTools: true}}
	for i := range 10 {
		brief.Catalog = append(brief.Catalog, plan.Tool{
			Name: fmt.Sprintf("tool%d", i), Server: "w", Description: strings.Repeat("what it does, ", 12),
			InputSchema: []byte(`{"type":"object","properties":{"description":{"type":"string","description":"` + strings.Repeat("words ", 60) + `"}}}`),
		})
	}
	const plans, find = 3, 1
	bare := prompt.ConversationTokens(brief.Prompting, prompt.ChatRequest(brief, true).Messages)
	for _, tc := range []struct {
		name   string
		room   int // for tools, in tokens
		offers int
		terse  bool
		note   string
	}{
		{"all tools unchanged", 13000, 10 + plans, false, ""},
		{"shorter descriptions", 1650, 10 + plans, true, ""},
		{"some tools left out", 660, 3 + plans + find, true, "7 tools not offered: tool3, tool4, tool5, tool6, tool7 and 2 more"},
		{"only plan tools", 380, plans + find, true, "10 tools not offered"},
		{"no tools", 160, 0, true, "13 tools not offered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			brief.Prompting.ContextWindow = (bare + tc.room) * 8 / 7 // a reply takes an eighth of it
			req := prompt.ChatRequest(brief, false)
			if len(req.Tools) != tc.offers || !strings.Contains(req.Shortened, tc.note) || tc.note == "" && req.Shortened != "" {
				t.Fatalf("got %d tools and the note %q; want %d and %q", len(req.Tools), req.Shortened, tc.offers, tc.note)
			}
			for _, tool := range req.Tools {
				if tool.Server == prompt.PlanServer {
					continue
				}
				schema := string(tool.InputSchema)
				if strings.Contains(schema, "words") == tc.terse {
					t.Errorf("terse %t: the schema is %s", tc.terse, schema)
				}
				if !strings.Contains(schema, `"description":{`) {
					t.Errorf("the name of a parameter is missing: %s", schema)
				}
			}
			if strings.Contains(req.Shortened, "too long") {
				t.Error("the request is still too long")
			}
		})
	}
}

func TestLargeToolLeavesRoomForOthers(t *testing.T) {
	huge := `{"type":"object","properties":{`
	for i := range 2500 {
		if i > 0 {
			huge += ","
		}
		huge += fmt.Sprintf(`"field_%d":{"type":"string"}`, i)
	}
	own := plan.Tool{Name: "fs.read", Server: "workspace", Trusted: true, ReadOnly: true, InputSchema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}`)}
	small := plan.Tool{Name: "small", Server: "x", InputSchema: []byte(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`)}
	brief := prompt.Brief{
		Goal: "hello", Catalog: plan.Catalog{{Name: "big", Server: "x", InputSchema: []byte(huge + "}}")}, small, own},
		Prompting: prompt.Prompting{ModelTools: true, PlanTools: true, ContextWindow: 6000},
	}
	t.Run("chat omits only the large tool", func(t *testing.T) {
		req := prompt.ChatRequest(brief, false)
		var names []string
		for _, tool := range req.Tools {
			names = append(names, tool.Name)
		}
		if !slices.Contains(names, "fs.read") || !slices.Contains(names, "small") || slices.Contains(names, "big") || !strings.Contains(req.Shortened, "1 tool not offered: big") {
			t.Errorf("got the tools %q and the note %s", names, req.Shortened)
		}
	})
	t.Run("plan names a tool with an unreadable schema", func(t *testing.T) {
		brief := brief
		brief.Goal = "use the odd one"
		brief.Catalog = plan.Catalog{small, own, {Name: "odd", Server: "x", InputSchema: []byte(`{"type":"array"}`)}}
		if req := planRequest(brief); req.Shortened != "The args of 1 tool may be any, since the schema cannot be read: odd (it describes no object)." {
			t.Errorf("got the note %q", req.Shortened)
		} else if !slices.Equal(req.Untyped, []string{"odd"}) {
			t.Errorf("untyped by their own fault are %q", req.Untyped)
		}
	})
	t.Run("plan has no format only for the large tool", func(t *testing.T) {
		if req := planRequest(brief); len(req.Untyped) > 0 {
			t.Errorf("%q are named for a goal that needs none of them", req.Untyped)
		}
		brief := brief
		brief.Goal = "use the big one"
		req := planRequest(brief)
		if !strings.Contains(req.Shortened, "no room for the args of 1 tool, which may be any: big.") {
			t.Errorf("got the note %s", req.Shortened)
		}
		if !slices.Equal(req.Untyped, []string{"big"}) {
			t.Errorf("untyped by their own fault are %q", req.Untyped)
		}
		format := compile(t, req.Format)
		for name, c := range map[string]struct {
			step string
			fits bool
		}{
			"workspace tool, valid args":   {`"tool":"fs.read","args":{"path":"a"}`, true},
			"workspace tool, invalid args": {`"tool":"fs.read","args":{"path":[7]}`, false},
			"small tool, valid args":       {`"tool":"small","args":{"word":"a"}`, true},
			"small tool, invalid args":     {`"tool":"small","args":{"word":{}}`, false},
			"large tool, any args":         {`"tool":"big","args":{"field_7":{}}`, true},
			"unknown tool":                 {`"tool":"huge","args":{}`, false},
		} {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"title":"T","steps":[{"index":"1","title":"a",` + c.step + `,"depends_on":[],"expected_outcome":"x"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := format.Validate(value); (err == nil) != c.fits {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("workspace tools get room first", func(t *testing.T) {
		for i := range 150 {
			brief.Catalog = append(brief.Catalog, plan.Tool{Name: fmt.Sprintf("a%03d", i), Server: "x", InputSchema: small.InputSchema})
		}
		req := planRequest(brief)
		if len(req.Format) > 64<<10 || !strings.Contains(string(req.Format), `{"enum":["fs.read"],"type":"string"}`) && !strings.Contains(string(req.Format), `{"type":"string","enum":["fs.read"]}`) {
			t.Errorf("the format has %d bytes: %.400s", len(req.Format), req.Format)
		}
	})
}

func TestManyForeignToolsLeaveRoomForPlan(t *testing.T) {
	brief := prompt.Brief{Goal: "sort them", Prompting: prompt.Prompting{ContextWindow: 16384, ModelTools: true, PlanTools: true}}
	schema := []byte(`{"type":"object","properties":{"owner":{"type":"string"},"repository":{"type":"string"},"state":{"enum":["open","closed","all"]}},"required":["owner","repository"]}`)
	for i := range 200 {
		brief.Catalog = append(brief.Catalog, plan.Tool{Name: fmt.Sprintf("tool_%03d", i), Server: "x", InputSchema: schema, Description: strings.Repeat("what it does, ", 12)})
	}
	brief.Catalog = append(brief.Catalog, plan.Tool{Name: "fs.read", Server: "workspace", Trusted: true, InputSchema: schema, Description: "Read a file."})
	for name, req := range map[string]prompt.Request{"a plan": planRequest(brief), "a turn of the chat": prompt.ChatRequest(brief, false)} {
		if strings.Contains(req.Shortened, "too long") {
			t.Errorf("%s: %s", name, req.Shortened)
		}
	}
	if list := planRequest(brief).Messages[1].Content; !strings.Contains(list, "\nfs.read(owner: string") || !strings.Contains(list, "tool_199") {
		t.Errorf("the tools are\n%s", list)
	}
	chat := prompt.ChatRequest(brief, false)
	if !slices.ContainsFunc(chat.Tools, func(tool plan.Tool) bool { return tool.Name == "fs.read" }) {
		t.Errorf("the workspace's tools are missing: %s", chat.Shortened)
	}
}

// offeredNames returns the names of the tools on offer, and their bytes.
func offeredNames(req prompt.Request) (names []string, bytes int) {
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
		bytes += len(tool.Name) + len(tool.Description) + len(tool.InputSchema) + 64
	}
	return names, bytes
}

func TestOfferHasToolsFindOnlyWhereToolsAreLeftOut(t *testing.T) {
	for _, tt := range []struct {
		name            string
		foreign, window int
		left, find      bool
	}{
		{"operators alone", 0, 16384, false, false},
		{"shorter descriptions", 40, 16384, false, false},
		{"200 foreign tools", 200, 16384, true, true},
		{"200 foreign tools in a large window", 200, 262144, true, true},
		{"unknown window", 200, 0, false, false},
		{"no room for any", 0, 512, true, false},
	} {
		for kind, request := range map[string]func(prompt.Brief) prompt.Request{
			"chat":      func(b prompt.Brief) prompt.Request { return prompt.ChatRequest(b, false) },
			"sub-agent": func(b prompt.Brief) prompt.Request { return explore(b, 0) },
		} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				brief := prompt.Brief{
					Goal: "comment on the jira issue ABC-1", Catalog: plantest.Beside(t, tt.foreign, nil),
					Prompting: prompt.Prompting{ContextWindow: tt.window, ModelTools: true, PlanTools: true},
				}
				req := request(brief)
				names, bytes := offeredNames(req)
				if left := strings.Contains(req.Shortened, "not offered"); left != tt.left {
					t.Errorf("left out %t, want %t: %s", left, tt.left, req.Shortened)
				}
				switch u := req.Unoffered; {
				case (u != nil) != tt.left:
					t.Errorf("got the summary %+v", u)
				case u != nil && (u.Window != tt.window || u.Tools != u.Of-len(names)+strings.Count(strings.Join(names, " "), prompt.ToolsFind) || slices.Contains(u.Servers, "slack") != (tt.foreign > 0)):
					t.Errorf("got the summary %+v with %d tools on offer", *u, len(names))
				}
				if slices.Contains(names, prompt.ToolsFind) != tt.find {
					t.Errorf("got the tools %q", names)
				}
				if tt.window > 0 && bytes > tt.window*3/2 || tt.find && !slices.Contains(names, "jira_add_comment") {
					t.Errorf("got %d tools of %d bytes: %q", len(names), bytes, names)
				}
			})
		}
	}
}

func TestChatWith200ForeignToolsTakes6000Tokens(t *testing.T) {
	goals, needed := plantest.Goals(t)
	for _, goal := range goals {
		brief := prompt.Brief{
			Goal: goal, Catalog: plantest.Beside(t, 200, needed[goal]), Prompting: prompt.Prompting{ContextWindow: 16384, ModelTools: true, PlanTools: true},
		}
		req := prompt.ChatRequest(brief, false)
		_, offered := offeredNames(req)
		if said, _ := promptBytes(req); said+offered > 6000*bytesPerToken {
			t.Errorf("%s: the prompt has %d bytes, %d of them tools", goal, said+offered, offered)
		}
	}
}

func TestFoundToolsAreOfferedFirst(t *testing.T) {
	brief := prompt.Brief{
		Goal: "fix the failing test", Catalog: plantest.Beside(t, 200, nil), Prompting: prompt.Prompting{ContextWindow: 16384, ModelTools: true, PlanTools: true},
	}
	before, _ := offeredNames(prompt.ChatRequest(brief, false))
	brief.Found = prompt.FoundNames(prompt.FindTools(brief.Catalog, "comment on an issue in jira"))
	if len(brief.Found) == 0 || brief.Found[0] != "jira_add_comment" || slices.Contains(before, brief.Found[0]) {
		t.Fatalf("found %q; offered before: %q", brief.Found, before)
	}
	after, bytes := offeredNames(prompt.ChatRequest(brief, false))
	for _, name := range append(brief.Found, prompt.PlanCreate, "fs.read") {
		if !slices.Contains(after, name) {
			t.Errorf("%s is not offered: %q", name, after)
		}
	}
	if bytes > 16384 {
		t.Errorf("the tools take %d bytes, more than a third of the window", bytes)
	}
}

func TestToolsFindAnswersWithBestFewOrSaysWhy(t *testing.T) {
	tools := append(prompt.PlanTools(), append(plantest.Beside(t, 200, nil), plan.Tool{Name: "translate", Server: "deepl"})...)
	for name, tt := range map[string]struct{ words, first, note string }{
		"words of the work":   {"send a slack message to a channel", "slack_", ""},
		"name of a tool":      {"jira_get_issue", "jira_get_issue", ""},
		"name of a server":    {"jira", "jira_", ""},
		"mistyped name":       {"tranlsate", "", "The nearest names are translate."},
		"nothing of the kind": {"xyzzy", "", "Use other words, or the name of a server: "},
		"no words":            {"", "", "No tool fits these words."},
	} {
		t.Run(name, func(t *testing.T) {
			result := prompt.FindTools(tools, tt.words)
			names := prompt.FoundNames(result)
			if tt.first != "" && (len(names) == 0 || len(names) > 8 || !strings.HasPrefix(names[0], tt.first)) {
				t.Errorf("found %q, want %s first", names, tt.first)
			}
			if tt.first == "" && len(names) > 0 {
				t.Errorf("found %q, want none", names)
			}
			if note, _ := result["note"].(string); !strings.Contains(note, tt.note) || (note == "") != (tt.note == "") {
				t.Errorf("got the note %q, want %q", note, tt.note)
			}
		})
	}
}
