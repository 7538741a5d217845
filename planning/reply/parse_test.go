package reply_test

import (
	"testing"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/reply"
)

func TestRepliesAreReadInAnyShape(t *testing.T) {
	tests := []struct{ name, reply, want string }{
		{"the agreed form", `{"title":"t","steps":[{"index":"1","title":"Read","executor":"tool","tool":"fs.read","args":{"path":"a"},"depends_on":[],"result_variable":"src"}]}`, `1 fs.read <> Read {"path":"a"} =src`},
		{"JSON in a fence", "```json\n{\"steps\":[{\"title\":\"Read\",\"tool\":\"fs.read\"}]}\n```", "1 fs.read <> Read"},
		{"JSON in a fence without a name", "```\n[\"Look\",\"Act\"]\n```", "1 self <> Look\n2 self <1> Act"},
		{"JSON in prose", "Sure! Here is {the} plan:\n{\"steps\":[{\"title\":\"Read\",\"tool\":\"fs.read\"}]}\nLet me know [if] it helps.", "1 fs.read <> Read"},
		{"after thinking", "<think>I could write {\"steps\":[\"wrong\"]}</think>\n{\"steps\":[{\"title\":\"Right\",\"tool\":\"fs.read\"}]}", "1 fs.read <> Right"},
		{"after thinking opened by the template", "so I should… {\"steps\":[\"wrong\"]}\n</think>\n{\"steps\":[\"Right\"]}", "1 self <> Right"},
		{"think tags within a plan", `{"steps":[{"title":"Strip <think> and </think>","tool":"fs.read"}]}`, "1 fs.read <> Strip <think> and </think>"},
		{"a bare list of texts is a sequence", `["Look","Think","Act"]`, "1 self <> Look\n2 self <1> Think\n3 self <2> Act"},
		{"a bare list of objects", `[{"title":"Read","tool":"fs.read"},{"title":"Test","tool":"test.run","depends_on":[1]}]`, "1 fs.read <> Read\n2 test.run <1> Test"},
		{"objects one after the other", "{\"title\":\"Read\",\"tool\":\"fs.read\"}\n{\"title\":\"Test\",\"tool\":\"test.run\",\"depends_on\":[1]}", "1 fs.read <> Read\n2 test.run <1> Test"},
		{"bullets among numbered lines are steps", "1. Read A\n2. Read B\n- Compare them\n- Recommend one → SELF", "1 self <> Read A\n2 self <1> Read B\n3 self <2> Compare them\n4 self <3> Recommend one"},
		{"numbers refer to numbered lines between bullets", "1. Read A\n- Note it\n2. Read B (after 1)\n3. Compare (after 1, 2)", "1 self <> Read A\n2 self <1> Note it\n3 self <1> Read B\n4 self <1,3> Compare"},
		{"bullets that name fields or executors are details", "1. Read A\n- TOOL: fs.read\n2. Test\n- tool: test.run\n  - deep", "1 fs.read <> Read A\n2 test.run <1> Test"},
		{"bullets after other text are not steps", "1. Read A\n2. Read B\n\nWhat I assume:\n- nothing else", "1 self <> Read A\n2 self <1> Read B"},
		{"a plan within a plan", `{"plan":{"title":"x","steps":[{"title":"Read","tool":"fs.read"}]}}`, "1 fs.read <> Read"},
		{"steps under another name", `{"tasks":[{"description":"Read","tool":"fs.read"}]}`, "1 fs.read <> Read"},
		{"fields under other names", `{"steps":[{"id":1,"description":"Read","tool_name":"fs.read","arguments":{"path":"a"},"dependencies":[],"save_as":"${src}"},{"id":2,"name":"Test","tool":"test.run","after":"1"}]}`, `1 fs.read <> Read {"path":"a"} =src` + "\n2 test.run <1> Test"},
		{"args as text", `{"steps":[{"title":"Read","tool":"fs.read","args":"{\"path\":\"a\"}"}]}`, `1 fs.read <> Read {"path":"a"}`},
		{"the tool within the executor", `{"steps":[{"title":"Read","executor":"TOOL: fs.read"},{"title":"Say","executor":"SELF","depends_on":["1"]}]}`, "1 fs.read <> Read\n2 self <1> Say"},
		{"a self step that names a tool", `{"steps":[{"title":"Say","executor":"self","tool":"fs.read","args":{"path":"x"}}]}`, "1 self <> Say"},
		{"a tool called none", `{"steps":[{"title":"Say","tool":"none"}]}`, "1 self <> Say"},
		{"objects without executor and order are a sequence", `{"steps":[{"title":"Read","tool":"fs.read"},{"title":"Weigh"},{"title":"Say"}]}`, "1 fs.read <> Read\n2 self <1> Weigh\n3 self <2> Say"},
		{"an object with empty depends_on", `{"steps":[{"title":"Weigh"},{"title":"Say","depends_on":[]}]}`, "1 self <> Weigh\n2 self <> Say"},
		{"whole numbers for indices", `{"steps":[{"index":1,"title":"A","tool":"x"},{"index":2,"title":"B","tool":"y","depends_on":[1,1]}]}`, "1 x <> A\n2 y <1> B"},
		{"indices from 0", `{"steps":[{"index":0,"title":"A","tool":"x"},{"index":1,"title":"B","tool":"y","depends_on":[0]},{"index":2,"title":"C","tool":"z","depends_on":["0","1"]}]}`, "1 x <> A\n2 y <1> B\n3 z <1,2> C"},
		{"dependencies from 0 without indices", `{"steps":[{"title":"A","tool":"x"},{"title":"B","tool":"y","depends_on":[0]},{"title":"C","tool":"z","depends_on":[1]}]}`, "1 x <> A\n2 y <1> B\n3 z <2> C"},
		{"dependencies from 0 beside indices from 1", `{"steps":[{"index":1,"title":"A","tool":"x"},{"index":2,"title":"B","tool":"y","depends_on":[0]},{"index":3,"title":"C","tool":"z","depends_on":[0,1]}]}`, "1 x <> A\n2 y <1> B\n3 z <1,2> C"},
		{"0 as a dependency of the first step", `{"steps":[{"index":1,"title":"A","tool":"x","depends_on":[0]},{"index":2,"title":"B","tool":"y","depends_on":[1]}]}`, "1 x <> A\n2 y <1> B"},
		{"0 as a dependency of a later step", `{"steps":[{"title":"A","tool":"x"},{"title":"B","tool":"y","depends_on":[1]},{"title":"C","tool":"z","depends_on":[0]}]}`, "1 x <> A\n2 y <1> B\n3 z <0> C"},
		{"dependencies as text", `{"steps":[{"title":"A","tool":"x","depends_on":"none"},{"title":"B","tool":"y","depends_on":"step 1"},{"title":"C","tool":"z","depends_on":"1 and 2"}]}`, "1 x <> A\n2 y <1> B\n3 z <1,2> C"},
		{"dependencies by title and by variable", `{"steps":[{"title":"Read","tool":"x"},{"title":"B","tool":"y","depends_on":["Read"],"result_variable":"b"},{"title":"C","tool":"z","depends_on":["b"]}]}`, "1 x <> Read\n2 y <1> B =b\n3 z <2> C"},
		{"placeholders", `{"steps":["[describe the step]",{"title":"[title]"},{"title":"Read","tool":"fs.read"}]}`, "1 fs.read <> Read"},
		{"executors in lines within JSON", `{"steps":["Read it → TOOL: fs.read","Say it → SELF"]}`, "1 fs.read <> Read it\n2 self <1> Say it"},
		{"single quotes and Python literals", `{'steps': [{'title': 'Read', 'tool': 'fs.read', 'depends_on': [], 'gate': True, 'args': None}]}`, "1 fs.read <> Read"},
		{"trailing commas and comments", "{\"steps\": [\n {\"title\": \"Read\", \"tool\": \"fs.read\",}, // look\n],}", "1 fs.read <> Read"},
		{"unquoted keys", `{steps: [{title: "Read", tool: "fs.read"}]}`, "1 fs.read <> Read"},
		{"quotes within text", `{"steps":[{"title":"Say "hello" twice","tool":"fs.read"}]}`, `1 fs.read <> Say "hello" twice`},
		{"a line break within text", "{\"steps\":[{\"title\":\"Read\nit\",\"tool\":\"fs.read\"}]}", "1 fs.read <> Read it"},
		{"a plan that lacks its last brackets", `{"steps":[{"title":"Read","tool":"fs.read"},{"title":"Test","tool":"test.run"}`, "1 fs.read <> Read\n2 test.run <> Test"},
		{"numbers keep their digits", `{"steps":[{"title":"A","tool":"x","args":{"n":12345678901234567890,"m":1.10}}]}`, `1 x <> A {"m":1.10,"n":12345678901234567890}`},
		{"numbered lines are a sequence", "Plan:\n1. Look around\n2) Change it\n3. Say so", "1 self <> Look around\n2 self <1> Change it\n3 self <2> Say so"},
		{"bulleted lines", "- Look\n* Act", "1 self <> Look\n2 self <1> Act"},
		{"checkboxes", "- [ ] Look\n- [x] Act", "1 self <> Look\n2 self <1> Act"},
		{"details under a line are not steps", "1. Look\n   - in a.go\n   - in b.go\n2. Act\n   1. first this", "1 self <> Look\n2 self <1> Act"},
		{"bold numbers and titles", "**1.** **Look** around\n**2.** Act", "1 self <> Look around\n2 self <1> Act"},
		{"lines that begin with Step", "Step 1: Look\nStep 2: Act", "1 self <> Look\n2 self <1> Act"},
		{"lines that count from 0", "0. Look\n1. Act", "1 self <> Look\n2 self <1> Act"},
		{"the executor on the next line", "1. Read it\n   - TOOL: fs.read\n2. Say it\n   → SELF", "1 fs.read <> Read it\n2 self <1> Say it"},
		{"a tool in brackets with args", "1. Read it (TOOL: `fs.read` {\"path\": \"a.go\"})", `1 fs.read <> Read it {"path":"a.go"}`},
		{"arrows in ASCII and bold marks", "1. Read -> **TOOL:** fs.read\n2. Say => SELF", "1 fs.read <> Read\n2 self <1> Say"},
		{"dependencies in lines", "1. A → TOOL: x\n2. B → TOOL: y\n3. C → TOOL: z (depends on 1)", "1 x <> A\n2 y <1> B\n3 z <1> C"},
		{
			"the Markdown plan", "## Plan\n\n**Task:** Rename it\n**Goal:** green\n\n**Milestones:**\nA. Understand\nB. Change\n\n**Steps:**\n1. Find uses → TOOL: fs.search\n2. Read main.go → TOOL: fs.read\n3. Read util.go → TOOL: fs.read\n4. [description] → TOOL: tool_name\n5. Explore → AGENT: explorer\n6. Sum up → SELF\n\n**Parallel:** 2, 3\n**Risks:** NONE\n",
			"1 fs.search <> Find uses\n2 fs.read <1> Read main.go\n3 fs.read <1> Read util.go\n5 agent:explorer <2,3> Explore\n6 self <5> Sum up",
		},
		{"several parallel groups", "**Steps:**\n1. A\n2. B\n3. C\n4. D\n5. E\n**Parallel:** 1-2; steps 4 and 5", "1 self <> A\n2 self <> B\n3 self <1,2> C\n4 self <3> D\n5 self <3> E"},
		{"separate steps are not parallel", "**Steps:**\n1. A\n2. B\n3. C\n**Parallel:** 1, 3", "1 self <> A\n2 self <1> B\n3 self <2> C"},
		{"a heading for the steps", "# Fix it\n\nSome words.\n\n## Steps\n\n1. Look\n\n## Notes\n\n1. Not a step", "1 self <> Look"},
		{"prose is no plan", "I would first look around and then decide.", ""},
		{"a refusal is no plan", "I'm sorry, I can't help with that.", ""},
		{"an unclosed thought is no plan", "<think>hmm {\"steps\":[\"a\"]}", ""},
		{"nothing is no plan", "", ""},
		{"a number is no plan", "42", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := plantest.Shape(readSteps(tt.reply)); got != tt.want {
				t.Errorf("read\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestArgsAreReadFromReply(t *testing.T) {
	tests := []struct{ name, reply, want string }{
		{"plain", `{"path":"a","n":12345678901234567890}`, `{"n":12345678901234567890,"path":"a"}`},
		{"in a fence after thinking", "<think>x</think>```json\n{\"path\":\"a\"}\n```", `{"path":"a"}`},
		{"broken", `{'path': 'a',}`, `{"path":"a"}`},
		{"empty", `{}`, `{}`},
		{"a list", `["a"]`, ""},
		{"prose", "I cannot.", ""},
		{"cut off", `{"path":"a","text":"half of`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args, err := reply.ParseArgs(tt.reply)
			got := ""
			if err == nil {
				got = plan.CanonicalJSON(args)
			}
			if got != tt.want {
				t.Errorf("read %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

// readSteps reads the steps of a reply as the pipeline does, whether valid or
// not.
func readSteps(text string) []plan.Step {
	return reply.ReadProposal(reply.Reply{Text: text}, false).Plan.Steps
}
