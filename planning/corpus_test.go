package planning_test

import (
	"slices"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// faultyReply is a reply of a small model that should be a plan, and the expected
// result: the steps read from it, or the faults for its repair.
type faultyReply struct {
	name   string
	reply  string
	cut    bool     // off at the token limit
	steps  string   // see plantest.Shape
	faults []string // the faults in the repair request
}

// TestFaultyRepliesAreReadOrRepaired checks that each reply gives a valid plan or
// a repair request with its faults.
func TestFaultyRepliesAreReadOrRepaired(t *testing.T) {
	corpus := slices.Concat(jsonCorpus, proseCorpus, emptyCorpus)
	if len(corpus) < 60 {
		t.Errorf("got %d replies, want at least 60", len(corpus))
	}
	seen := make(map[string]bool)
	for _, tt := range corpus {
		if seen[tt.name] {
			t.Errorf("two replies are named %q", tt.name)
		}
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			b := prompttest.Brief()
			b.Prompting.SkipAnalysis = true
			b.Prompting.Profiles = []prompt.Profile{{Name: "explorer", Description: "finds its way"}}
			p := planning.NewPipeline(b)
			p.Absorb(reply.Reply{Text: tt.reply, CutOff: tt.cut})
			request, asks := p.Next()
			if out := p.Outcome(); !asks && (out.Kind != planning.OutcomePlanned || len(tt.faults) > 0 || plantest.Shape(out.Plan.Steps) != tt.steps) {
				t.Fatalf("ended %s with\n%s\nwant\n%s\nor the faults %q", out.Kind, plantest.Shape(out.Plan.Steps), tt.steps, tt.faults)
			}
			if asks && (request.Purpose != prompt.PurposeRepair || len(tt.faults) == 0) {
				t.Fatalf("requests %s:\n%s\nread\n%s", request.Purpose, last(request), plantest.Shape(reply.ReadProposal(reply.Reply{Text: tt.reply}, false).Plan.Steps))
			}
			if !asks {
				return
			}
			repair, _, _ := strings.Cut(last(request), "\n\nData, not instructions")
			for _, fault := range tt.faults {
				if !strings.Contains(repair, fault) {
					t.Errorf("the repair lacks %q:\n%s", fault, repair)
				}
			}
			if n := strings.Count(repair, "\n- "); n != len(tt.faults) {
				t.Errorf("the repair has %d faults, want %d:\n%s", n, len(tt.faults), repair)
			}
		})
	}
}

// jsonCorpus holds more or less valid JSON.
var jsonCorpus = []faultyReply{
	{name: "a fence with a greeting before it", reply: "Sure! Here's the plan you asked for:\n\n```json\n{\"title\":\"Look\",\"steps\":[{\"index\":\"1\",\"title\":\"Read main.go\",\"executor\":\"tool\",\"tool\":\"fs.read\",\"args\":{\"path\":\"main.go\"},\"depends_on\":[]}]}\n```\n\nLet me know if you'd like changes!", steps: `1 fs.read <> Read main.go {"path":"main.go"}`},
	{name: "an unclosed fence", reply: "```json\n{\"title\":\"t\",\"steps\":[{\"title\":\"Read\",\"tool\":\"fs.read\",\"args\":{\"path\":\"a\"}}]}", steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a fence for another language", reply: "```python\n{'title': 't', 'steps': [{'title': 'Run the tests', 'tool': 'test.run', 'args': {}, 'gate': False}]}\n```", steps: "1 test.run <> Run the tests"},
	{name: "thoughts before it", reply: "<think>\nThe user wants {\"steps\": [\"no\"]} maybe.\n</think>\n\n{\"title\":\"t\",\"steps\":[{\"title\":\"Read\",\"tool\":\"fs.read\",\"args\":{\"path\":\"a\"}}]}", steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "trailing commas", reply: `{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a",},"depends_on":[],},],}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "single quotes throughout", reply: `{'title':'t','steps':[{'title':'Read','tool':'fs.read','args':{'path':'a'}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "comments in JSON", reply: "{\n  // the plan\n  \"title\": \"t\",\n  \"steps\": [\n    {\"title\": \"Read\", \"tool\": \"fs.read\", \"args\": {\"path\": \"a\"}} // first\n  ]\n}", steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "keys without quotes", reply: `{title: "t", steps: [{title: "Read", tool: "fs.read", args: {path: "a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "Python's True and None", reply: `{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"},"result_variable":None,"gate":True}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "typographic quotes", reply: `{“title”:“t”,“steps”:[{“title”:“Read”,“tool”:“fs.read”}]}`, steps: "1 fs.read <> Read"},
	{name: "cut off in the second step", reply: `{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}},{"title":"Test","tool":"te`, cut: true, faults: []string{"cut off at its bound of tokens, and only 1 step arrived whole"}},
	{name: "stops in the middle", reply: `{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a`, faults: []string{"stops in the middle"}},
	{name: "lacks only its closing brackets", reply: `{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "two plans; the first counts", reply: `{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}}]}` + "\n\n" + `{"title":"t","steps":[{"title":"Other","executor":"self"}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "another object first", reply: `{"thought":"I need to read"} {"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a plan within a plan", reply: `{"plan":{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}}]}}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a plan within data", reply: `{"status":"ok","data":{"title":"t","steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}}]}}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a plan deep in results", reply: `{"result":{"response":{"plan":[{"title":"Read","tool":"fs.read","args":{"path":"a"}}]}}}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "steps by their numbers", reply: `{"title":"t","steps":{"2":{"title":"Test","tool":"test.run","args":{},"depends_on":["1"]},"1":{"title":"Read","tool":"fs.read","args":{"path":"a"}}}}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "steps called step1 and step2", reply: `{"plan":{"step1":{"title":"Read","tool":"fs.read","args":{"path":"a"}},"step2":{"title":"Test","tool":"test.run","args":{},"depends_on":["step 1"]}}}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "a list of texts", reply: `["Read the file","Weigh it","Say so"]`, steps: "1 self <> Read the file\n2 self <1> Weigh it\n3 self <2> Say so"},
	{name: "a list of texts as steps", reply: `{"title":"t","steps":["Read it → TOOL: fs.search","Say it"]}`, steps: "1 fs.search <> Read it\n2 self <1> Say it"},
	{name: "everything from 0", reply: `{"steps":[{"index":0,"title":"Read","tool":"fs.read","args":{"path":"a"},"depends_on":[]},{"index":1,"title":"Test","tool":"test.run","args":{},"depends_on":[0]}]}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "dependencies from 0, indices from 1", reply: `{"steps":[{"index":"1","title":"Read","tool":"fs.read","args":{"path":"a"},"depends_on":[]},{"index":"2","title":"Test","tool":"test.run","args":{},"depends_on":["0"]}]}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "dependencies as numbers", reply: `{"steps":[{"index":1,"title":"Read","tool":"fs.read","args":{"path":"a"}},{"index":2,"title":"Test","tool":"test.run","args":{},"depends_on":[1]}]}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "a dependency as a number without a list", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"}},{"title":"Test","tool":"test.run","args":{},"depends_on":1}]}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "dependencies by title", reply: `{"steps":[{"title":"Read it","tool":"fs.read","args":{"path":"a"}},{"title":"Test","tool":"test.run","args":{},"depends_on":["Read it"]}]}`, steps: `1 fs.read <> Read it {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "dependencies in words", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"},"depends_on":"none"},{"title":"Test","tool":"test.run","args":{},"depends_on":["step 1"]}]}`, steps: `1 fs.read <> Read {"path":"a"}` + "\n2 test.run <1> Test"},
	{name: "a dependency on an unknown step", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":{"path":"a"},"depends_on":["7"]}]}`, faults: []string{"depends on step 7, which does not exist"}},
	{name: "args as a text of JSON", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":"{\"path\": \"a\"}"}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "args as a list", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":["a"]}]}`, faults: []string{"args must be an object, not a list"}},
	{name: "numbers and flags as texts", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":{"path":"7","offset":"10"}}]}`, steps: `1 fs.read <> Read {"offset":"10","path":"7"}`},
	{name: "numbers as Python and JavaScript write them", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":{"path":"True","offset":" 1e1 "}}]}`, steps: `1 fs.read <> Read {"offset":"10","path":"True"}`},
	{name: "an invalid argument", reply: `{"steps":[{"title":"Search","tool":"fs.search","args":{"pattern":"x","kind":"fuzzy"}}]}`, faults: []string{"kind: value must be one of 'text', 'regexp'"}},
	{name: "a tool written as a call", reply: `{"steps":[{"title":"Read","tool":"fs.read(path='a.go', offset=3)"}]}`, steps: `1 fs.read <> Read {"offset":3,"path":"a.go"}`},
	{name: "a tool written as a call without names", reply: `{"steps":[{"title":"Read","tool":"fs.read(\"a.go\")"}]}`, steps: `1 fs.read <> Read`},
	{name: "a tool in backticks", reply: "{\"steps\":[{\"title\":\"Read\",\"tool\":\"`fs.read`\",\"args\":{\"path\":\"a\"}}]}", steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a tool in the wrong case", reply: `{"steps":[{"title":"Read","tool":"FS.Read","args":{"path":"a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a tool with an underscore", reply: `{"steps":[{"title":"Read","tool":"fs_read","args":{"path":"a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "a tool with its server before it", reply: `{"steps":[{"title":"Read","tool":"workspace.fs.read","args":{"path":"a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "an unknown tool", reply: `{"steps":[{"title":"Fly","tool":"drone.fly","args":{}}]}`, faults: []string{`there is no tool "drone.fly"; there are fs.patch, fs.read, fs.search, test.run`}},
	{name: "the tool as the executor", reply: `{"steps":[{"title":"Read","executor":"fs.read","args":{"path":"a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "an unknown executor", reply: `{"steps":[{"title":"Read","executor":"robot"}]}`, faults: []string{`executor must be tool, agent or self, not "robot"`}},
	{name: "an agent without a name, with one profile", reply: `{"steps":[{"title":"Explore","executor":"agent"}]}`, steps: "1 agent:explorer <> Explore"},
	{name: "an unknown agent", reply: `{"steps":[{"title":"Explore","executor":"agent","profile":"hacker"}]}`, faults: []string{`names the profile "hacker", which does not exist; there is explorer`}},
	{name: "calls as in chat", reply: `{"tool_calls":[{"type":"function","function":{"name":"fs.read","arguments":"{\"path\":\"a\"}"}},{"type":"function","function":{"name":"test.run","arguments":{}}}]}`, steps: `1 fs.read <> fs.read {"path":"a"}` + "\n2 test.run <> test.run"},
	{name: "one call in tags", reply: "<tool_call>\n{\"name\": \"fs.read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>", steps: `1 fs.read <> fs.read {"path":"a"}`},
	{name: "calls within steps", reply: `{"steps":[{"title":"Read","tool_calls":[{"name":"fs.read","args":{"path":"a"}}]}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "placeholders left in", reply: `{"title":"[title]","steps":[{"title":"[what to do]","tool":""},{"title":"Read","tool":"fs.read","args":{"path":"a"}}]}`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "code in the arguments, quotes unescaped", reply: `{"steps":[{"title":"Search","tool":"fs.search","args":{"pattern":"fmt.Println("hi")"}}]}`, steps: `1 fs.search <> Search {"pattern":"fmt.Println(\"hi\")"}`},
	{name: "code in the arguments, with line breaks", reply: "{\"steps\":[{\"title\":\"Patch\",\"tool\":\"fs.patch\",\"args\":{\"path\":\"a\",\"edits\":[{\"old\":\"x\n\ty\",\"new\":\"z\"}]}}]}", steps: `1 fs.patch <> Patch {"edits":[{"new":"z","old":"x\n\ty"}],"path":"a"}`},
	{name: "too many steps", reply: `["a","b","c","d","e","f","g"]`, faults: []string{"has 7 steps, and there may be at most 5"}},
	{name: "the same step over and over", reply: `{"steps":[` + strings.Repeat(`{"title":"Read","tool":"fs.read","args":{"path":"a"}},`, 40), cut: true, faults: []string{"repeats one step over and over"}},
	{name: "two steps that wait for each other", reply: `{"steps":[{"index":"1","title":"A","executor":"self","depends_on":["2"]},{"index":"2","title":"B","executor":"self","depends_on":["1"]}]}`, faults: []string{"steps 1 and 2 wait for each other"}},
	{name: "a step that waits for itself", reply: `{"steps":[{"index":"1","title":"A","executor":"self","depends_on":["1"]}]}`, steps: "1 self <> A"},
	{name: "one index twice", reply: `{"steps":[{"index":"1","title":"A","executor":"self"},{"index":"1","title":"B","executor":"self"}]}`, faults: []string{"both have the index 1"}},
	{name: "an undefined variable", reply: `{"steps":[{"title":"Read","tool":"fs.read","args":{"path":"${file}"}}]}`, faults: []string{"refers to ${file}, and the plan defines no variables"}},
	{name: "a plan in another language", reply: `{"title":"テスト","steps":[{"index":"1","title":"テストを実行する","tool":"test.run","args":{}},{"index":"2","title":"Überprüfen","executor":"self","depends_on":["1"]}]}`, steps: "1 test.run <> テストを実行する\n2 self <1> Überprüfen"},
	{name: "steps that are numbers", reply: `{"steps":[1,2,3]}`, faults: []string{"step 1: a step must be an object, not a number", "step 2: a step must be an object", "step 3: a step must be an object"}},
	{name: "JSON within a text of JSON", reply: `"{\"title\":\"t\",\"steps\":[{\"title\":\"Read\",\"tool\":\"fs.read\",\"args\":{\"path\":\"a\"}}]}"`, steps: `1 fs.read <> Read {"path":"a"}`},
	{name: "fields in camel case", reply: `{"steps":[{"stepNumber":1,"title":"Read","toolName":"fs.read","arguments":{"path":"a"},"dependsOn":[],"resultVariable":"src"},{"title":"Sum up ${src}","dependsOn":["src"]}]}`, steps: `1 fs.read <> Read {"path":"a"} =src` + "\n2 self <1> Sum up ${src}"},
}

// proseCorpus holds plans in prose.
var proseCorpus = []faultyReply{
	{name: "the Markdown plan with tools", reply: "## Plan\n\n**Task:** Rename it\n\n**Steps:**\n1. Find uses → TOOL: fs.search\n2. Explore → AGENT: explorer\n3. Sum up → SELF\n\n**Parallel:** NONE\n**Risks:** NONE", steps: "1 fs.search <> Find uses\n2 agent:explorer <1> Explore\n3 self <2> Sum up"},
	{name: "the Markdown plan with parallel steps", reply: "**Steps:**\n1. Find uses → TOOL: fs.search\n2. Run the tests → TOOL: test.run\n3. Sum up → SELF\n**Parallel:** 1, 2", steps: "1 fs.search <> Find uses\n2 test.run <> Run the tests\n3 self <1,2> Sum up"},
	{name: "numbered lines", reply: "Here is my plan:\n1. Look at the code\n2. Change it\n3. Test it", steps: "1 self <> Look at the code\n2 self <1> Change it\n3 self <2> Test it"},
	{name: "bulleted lines", reply: "* Look at the code\n* Change it", steps: "1 self <> Look at the code\n2 self <1> Change it"},
	{name: "bold titles with fields under them", reply: "1. **Read the file**\n   - Tool: fs.read\n   - Args: {\"path\": \"a.go\"}\n   - Depends on: none\n2. **Run the tests**\n   - Tool: `test.run`\n   - Depends on: 1\n   - Expected outcome: all pass", steps: `1 fs.read <> Read the file {"path":"a.go"}` + "\n2 test.run <1> Run the tests"},
	{name: "a tool as a call in a line", reply: "1. Read it → TOOL: fs.read(path=\"a.go\")\n2. Test → TOOL: test.run()", steps: `1 fs.read <> Read it {"path":"a.go"}` + "\n2 test.run <1> Test"},
	{name: "YAML", reply: "title: Rename it\nsteps:\n  - index: 1\n    title: Read it\n    executor: tool\n    tool: fs.read\n    args:\n      path: a.go\n      offset: 3\n    depends_on: []\n  - index: 2\n    title: Test it\n    tool: test.run\n    depends_on: [1]", steps: `1 fs.read <> Read it {"offset":3,"path":"a.go"}` + "\n2 test.run <1> Test it"},
	{name: "YAML in a fence", reply: "```yaml\nsteps:\n- title: \"Search\"\n  tool: fs.search\n  args: {\"pattern\": \"x\"}\n- title: Say\n  executor: self\n```", steps: `1 fs.search <> Search {"pattern":"x"}` + "\n2 self <1> Say"},
	{name: "a table", reply: "| Step | Description | Tool | Args | Depends on |\n|---|---|---|---|---|\n| 1 | Read it | fs.read | {\"path\": \"a.go\"} | - |\n| 2 | Test it | `test.run` | | 1 |", steps: `1 fs.read <> Read it {"path":"a.go"}` + "\n2 test.run <1> Test it"},
	{name: "a table of titles and tools", reply: "| Step | Tool |\n|---|---|\n| Search for uses | fs.search |\n| Weigh them | self |", steps: "1 fs.search <> Search for uses\n2 self <1> Weigh them"},
	{name: "headings for steps", reply: "### Step 1: Read it\n\nWe read it first.\n\n### Step 2: Test it\n", steps: "1 self <> Read it\n2 self <1> Test it"},
	{name: "tags for steps", reply: "<plan><step><title>Read</title><tool>fs.read</tool></step></plan>", faults: []string{"holds no list of steps"}},
	{name: "an unfilled template", reply: "**Steps:**\n1. [Description] → TOOL: tool_name\n2. [Description] → SELF", faults: []string{"holds no list of steps"}},
	{name: "DIRECT instead of a plan", reply: "**DIRECT**", faults: []string{"holds no list of steps"}},
	{name: "an analysis instead of a plan", reply: "TASK: rename\nGOAL: green\n**REFLECT:** yes", faults: []string{"holds no list of steps"}},
	{name: "an essay", reply: "I would first look at how the function is used, then rename it, and after that I would run the tests to be sure.", faults: []string{"holds no list of steps"}},
	{name: "lines in another language", reply: "1. Datei lesen → TOOL: fs.search\n2. Zusammenfassen → SELF", steps: "1 fs.search <> Datei lesen\n2 self <1> Zusammenfassen"},
	{name: "lines cut off", reply: "1. Look\n2. Change\n3. Te", cut: true, faults: []string{"cut off at its bound of tokens"}},
	{name: "an unknown tool in a line", reply: "1. Fly → TOOL: drone.fly", faults: []string{`there is no tool "drone.fly"`}},
	{name: "an apology before a plan", reply: "Unfortunately I cannot see your files, but here is a plan:\n1. Search → TOOL: fs.search\n2. Say → SELF", steps: "1 fs.search <> Search\n2 self <1> Say"},
}

// emptyCorpus holds replies without a plan.
var emptyCorpus = []faultyReply{
	{name: "nothing", reply: "", faults: []string{"the reply is empty"}},
	{name: "nothing, cut off", reply: "", cut: true, faults: []string{"the reply is empty, up to its bound of tokens"}},
	{name: "endless white space", reply: strings.Repeat("\n ", 400), cut: true, faults: []string{"nothing but white space, up to its bound of tokens"}},
	{name: "endless white space after a title", reply: `{"title": "t",` + strings.Repeat("\n", 300), cut: true, faults: []string{"runs on into white space without end"}},
	{name: "endless white space after a step", reply: `{"title":"t","steps":[{"title":"Say","executor":"self"},` + strings.Repeat("  ", 300), cut: true, faults: []string{"runs on into white space without end, and only 1 step arrived whole"}},
	{name: "a refusal", reply: "I'm sorry, but I can't help with that.", faults: []string{"the reply is a refusal, “I'm sorry, but I can't help with that.”"}},
	{name: "a refusal of a language model", reply: "As an AI language model, I do not have access to files.", faults: []string{"the reply is a refusal"}},
	{name: "a refusal in German", reply: "Tut mir leid, dabei kann ich nicht helfen.", faults: []string{"the reply is a refusal"}},
	{name: "a refusal with a curly apostrophe", reply: "I can’t do this.", faults: []string{"the reply is a refusal"}},
	{name: "thoughts that never end", reply: "<think>So the user wants {\"steps\":[\"a\"]} and", cut: true, faults: []string{"nothing but thoughts, up to its bound of tokens"}},
	{name: "only thoughts", reply: "<think>Easy.</think>\n", faults: []string{"nothing but thoughts"}},
	{name: "a word over and over", reply: strings.Repeat("plan plan ", 200), cut: true, faults: []string{"cut off at its bound of tokens"}},
	{name: "brackets over and over", reply: strings.Repeat("[[{", 200), cut: true, faults: []string{"cut off at its bound of tokens"}},
	{name: "an error message", reply: `{"error":"context length exceeded"}`, faults: []string{"holds no list of steps"}},
	{name: "steps that are null", reply: `{"title":"t","steps":null}`, faults: []string{"holds no list of steps"}},
}
