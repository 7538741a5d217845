package reply_test

import (
	"encoding/json"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/reply"
)

// offered are tools as a loop offers them.
func offered() plan.Offer {
	schema := func(names ...string) json.RawMessage {
		properties := map[string]any{}
		for _, name := range names {
			properties[name] = map[string]any{"type": "string"}
		}
		return json.RawMessage(plan.CanonicalJSON(map[string]any{"type": "object", "properties": properties, "required": names}))
	}
	return plan.Offer{
		{Name: "fs.read", Server: "workspace", Trusted: true, InputSchema: schema("path")},
		{Name: "fs.search", Server: "workspace", Trusted: true, InputSchema: schema("query")},
		{Name: "fs.write", Server: "workspace", Trusted: true, InputSchema: schema("path", "text")},
		{Name: "vcs.log", Server: "workspace", Trusted: true, InputSchema: schema()},
		{Name: "memory.read", Server: "workspace", Trusted: true, InputSchema: schema("topic")},
		{Name: "create_issue", Server: "github", InputSchema: schema("title")},
		{Name: "weather", Server: "sky", InputSchema: schema("town")},
	}
}

// told is what a reply asks for: calls, unknown ones with a question mark, and the
// prose after a bar.
func told(w reply.Written) string {
	var parts []string
	for _, use := range w.Calls {
		parts = append(parts, use.Name+plan.CanonicalJSON(use.Args))
	}
	for _, use := range w.Unknown {
		parts = append(parts, "?"+use.Name+plan.CanonicalJSON(use.Args))
	}
	if w.Broken {
		parts = append(parts, "broken")
	}
	if w.Text != "" {
		parts = append(parts, "| "+w.Text)
	}
	return strings.Join(parts, " ")
}

func TestCallsWrittenAsTextAreRead(t *testing.T) {
	const todo = `fs.search{"query":"TODO"}`
	for name, tt := range map[string]struct{ text, want string }{
		"bare JSON":                       {`{"name": "fs.search", "arguments": {"query": "TODO"}}`, todo},
		"parameters":                      {`{"name": "fs.search", "parameters": {"query": "TODO"}}`, todo},
		"tool and args":                   {`{"tool": "fs.search", "args": {"query": "TODO"}}`, todo},
		"tool and input":                  {`{"tool": "fs.search", "input": {"query": "TODO"}}`, todo},
		"function and arguments":          {`{"function": "fs.search", "arguments": {"query": "TODO"}}`, todo},
		"function object":                 {`{"type": "function", "function": {"name": "fs.search", "arguments": {"query": "TODO"}}}`, todo},
		"arguments as a text":             {`{"name": "fs.search", "arguments": "{\"query\": \"TODO\"}"}`, todo},
		"arguments beside the name":       {`{"tool": "fs.search", "query": "TODO"}`, todo},
		"name as the field":               {`{"fs.search": {"query": "TODO"}}`, todo},
		"a fence":                         {"```json\n{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}}\n```", todo},
		"prose before a fence":            {"I look for it.\n\n```json\n{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}}\n```", todo + " | I look for it."},
		"tags":                            {"<tool_call>\n{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}}\n</tool_call>", todo},
		"tags in a row":                   {"<tool_call>{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}}</tool_call>\n<tool_call>{\"name\": \"fs.read\", \"arguments\": {\"path\": \"a\"}}</tool_call>", todo + ` fs.read{"path":"a"}`},
		"tag that is not closed":          {"<tool_call>\n{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}}", todo},
		"brace missing before a tag":      {"<tool_call>{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}</tool_call>", todo},
		"Mistral's list":                  {`[TOOL_CALLS][{"name": "fs.search", "arguments": {"query": "TODO"}}, {"name": "fs.read", "arguments": {"path": "a"}}]`, todo + ` fs.read{"path":"a"}`},
		"Mistral's name":                  {`[TOOL_CALLS]fs_search[ARGS]{"query": "TODO"}`, todo},
		"functions prefix":                {`functions.fs_search({"query": "TODO"})`, todo},
		"object in brackets":              {`fs.search({"query": "TODO"})`, todo},
		"Python":                          {`fs_search(query="TODO")`, todo},
		"Python, without the name":        {`fs_search('TODO')`, todo},
		"Python in a fence":               {"Let me see.\n```python\nfs_write(path='a.md', text=\"\"\"x\n\"y\", (z)\"\"\")\n```", `fs.write{"path":"a.md","text":"x\n\"y\", (z)"} | Let me see.`},
		"Python's print":                  {"```tool_code\nprint(fs_search(query=\"TODO\"))\n```", todo},
		"a single word alone":             {`weather(town="Rome")`, `weather{"town":"Rome"}`},
		"Llama's list":                    {`[fs.search(query="TODO"), fs.read(path="a")]`, todo + ` fs.read{"path":"a"}`},
		"Llama's mark":                    {`<|python_tag|>{"name": "fs.search", "parameters": {"query": "TODO"}}<|eom_id|>`, todo},
		"Llama's function":                {`<function=fs_search>{"query": "TODO"}</function>`, todo},
		"Qwen's parameters":               {"<tool_call>\n<function=fs.write>\n<parameter=path>\na.md\n</parameter>\n<parameter=text>\n# A\n\n[TOOL_CALLS]\n</parameter>\n</function>\n</tool_call>", `fs.write{"path":"a.md","text":"# A\n\n[TOOL_CALLS]"}`},
		"DeepSeek":                        {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs.search\n```json\n{\"query\": \"TODO\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", todo},
		"DeepSeek, newer":                 {"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>fs.search<｜tool▁sep｜>{\"query\": \"TODO\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", todo},
		"one after the other":             {"{\"name\": \"fs.search\", \"arguments\": {\"query\": \"TODO\"}}\n{\"name\": \"vcs.log\", \"arguments\": {}}", todo + ` vcs.log{}`},
		"single quotes":                   {`{'name': 'fs.search', 'arguments': {'query': 'TODO'}}`, todo},
		"missing braces":                  {`{"name": "fs.search", "arguments": {"query": "TODO"`, todo},
		"thoughts before":                 {`<think>{"name": "fs.read"}</think>{"name": "fs.search", "arguments": {"query": "TODO"}}`, todo},
		"a mark within an argument":       {`{"name": "fs.write", "arguments": {"path": "a", "text": "<tool_call>x</tool_call>"}}`, `fs.write{"path":"a","text":"<tool_call>x</tool_call>"}`},
		"values in a copy of the schema":  {`{"name": "fs.search", "parameters": {"type": "object", "properties": {"query": "TODO"}}}`, todo},
		"underscore":                      {`{"name": "fs_search", "arguments": {"query": "TODO"}}`, todo},
		"hyphen":                          {`{"name": "fs-search", "arguments": {"query": "TODO"}}`, todo},
		"capitals without a separator":    {`{"name": "fsSearch", "arguments": {"query": "TODO"}}`, todo},
		"last part of a name":             {`{"name": "search", "arguments": {"query": "TODO"}}`, todo},
		"server before the name":          {`{"name": "workspace.fs.search", "arguments": {"query": "TODO"}}`, todo},
		"the same words":                  {`{"name": "read_file", "arguments": {"path": "a"}}`, `fs.read{"path":"a"}`},
		"other words for an operator":     {`{"name": "git_log", "arguments": {}}`, `vcs.log{}`},
		"wrong letter":                    {`{"name": "fs.serach", "arguments": {"query": "TODO"}}`, todo},
		"words in another order":          {`{"name": "issue_create", "arguments": {"title": "x"}}`, `create_issue{"title":"x"}`},
		"unknown tool, alone":             {`{"name": "web.open", "arguments": {"url": "x"}}`, `?web.open{"url":"x"}`},
		"unknown tool in tags, and prose": {"I go.<tool_call>{\"name\": \"web.open\", \"arguments\": {\"url\": \"x\"}}</tool_call>", `?web.open{"url":"x"} | I go.`},
		"a name for two tools":            {`{"name": "read", "arguments": {"path": "a"}}`, `?read{"path":"a"}`},
		"text that is not closed":         {`{"name": "fs.write", "arguments": {"path": "a", "text": "half of`, "broken"},
		"copy of a schema":                {`{"name": "fs.search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}`, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(reply.ReadCalls(tt.text, offered(), false)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestTextAboutCallsIsNoCall(t *testing.T) {
	for _, text := range []string{
		"The default port is 8080.",
		"The configuration is {\"name\": \"auth\", \"input\": {\"port\": 8080}}, as you asked.",
		"`fs.read(path)` reads a file, fs.search(query) finds lines.",
		"The tool fs.read(path=\"a\") would show it.",
		"```go\nfunc main() {\n\tweather(\"Rome\")\n}\n```",
		"```json\n{\"port\": 8080, \"host\": \"localhost\"}\n```",
		"```go\nread(x)\nweather(y) // of the sky\n```\nThat is the code.",
		`{"port": 8080}`,
		`[{"name": "a"}, {"name": "b"}]`,
		"{{.Name}} and ${x} stay as they are",
		"",
	} {
		if w := reply.ReadCalls(text, offered(), false); w.Any() || w.Text != strings.TrimSpace(text) {
			t.Errorf("%q is read as %s", text, told(w))
		}
	}
}

func TestCallCutOffIsNotMade(t *testing.T) {
	for _, text := range []string{
		`{"name": "fs.write", "arguments": {"path": "a", "text": "x"`,
		`fs_write(path="a", text="x"`,
		"<function=fs.write><parameter=path>a</parameter>",
	} {
		if w := reply.ReadCalls(text, offered(), true); !w.Broken || len(w.Calls) > 0 {
			t.Errorf("%q is read as %s", text, told(w))
		}
	}
}

func TestTurnIsCallOrAnswer(t *testing.T) {
	for text, want := range map[string]string{
		`{"thought": "look", "tool": "fs.search", "args": {"query": "TODO"}}`:         `fs.search{"query":"TODO"} | look`,
		`{"thought": "look", "tool": "web.open", "args": {}}`:                         `?web.open{} | look`,
		`{"thought": "so", "answer": "The port is 8080."}`:                            "| The port is 8080.",
		`{"thought": "so", "tool": "", "args": {}, "answer": "8080"}`:                 "| 8080",
		`{"answer": {"port": 8080}}`:                                                  `| {"port":8080}`,
		"```json\n{\"answer\": \"8080\"}\n```":                                        "| 8080",
		"The port is 8080.":                                                           "| The port is 8080.",
		`{"answer": "half of`:                                                         "| half of",
		`{"thought": "look", "tool": "fs.write", "args": {"path": "a", "text": "half`: "broken | look",
		`<tool_call>{"name": "fs.search", "arguments": {"query": "x"}}</tool_call>`:   `fs.search{"query":"x"}`,
	} {
		if got := told(reply.ReadTurn(text, offered(), false)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestPromisesAreTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"Let me look at the files.":                                                true,
		"Sure! I'll check the configuration. Then I will read main.go.":            true,
		"I will first read main.go to find the port. This will help me to answer.": true,
		"To answer this, I need to search for PORT:":                               true,
		"I’m going to run the tests.":                                              true,
		"Let me know if you need more.":                                            false,
		"I will be happy to help.":                                                 false,
		"Let me check: the port is 8080.":                                          false,
		"The port is 8080. Let me check the rest.":                                 false,
		"I will keep that in mind.":                                                false,
		"":                                                                         false,
		"Let me look at the files." + strings.Repeat(" Then I will read the next one.", 20): false,
	} {
		if got := reply.Promises(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}

func FuzzReadCalls(f *testing.F) {
	for _, text := range []string{
		`{"name": "fs.search", "arguments": {"query": "TODO"}}`, `[fs.search(query="x"), fs_read('y'`, "<function=fs.write><parameter=path>a", "<｜tool▁sep｜>search\n```json\n{\"a\":",
		`[TOOL_CALLS]x[ARGS]{}`, `{"function":{"function":{"name":"read_file","args":"{}"}}}`, `print(fs.read(path=r"\d", x=[1,{'a':None}]))`,
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	offer := offered()
	names := plan.Catalog(offer).Names()
	f.Fuzz(func(t *testing.T, text string, cutOff bool) {
		w := reply.ReadCalls(text, offer, cutOff)
		reply.Promises(text)
		for _, use := range append(w.Calls, reply.ReadTurn(text, offer, cutOff).Calls...) {
			if !strings.Contains(strings.Join(names, " "), use.Name) || use.Args == nil {
				t.Errorf("%q calls %q with %v", text, use.Name, use.Args)
			}
			if _, err := plan.EncodeJSON(use.Args); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
