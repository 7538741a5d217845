package data_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

type args = workspacetest.Args

const (
	jsonText = "{\n  // where it listens\n  \"port\": 8080,\n  \"server\": {\"timeout\": 30, \"hosts\": [\"a\", \"b\"]},\n  \"log\": \"info\",\n  \"cache\": false,\n  \"owner\": null,\n  \"a.b\": 1,\n}\n"
	tomlText = "# shop\nname = \"shop\"  # its name\nversion = '0.3.1'\n\n[server]\ntimeout = 30\nlimits = {soft = 1, hard = 2}\n\n[[mirror]]\nurl = \"a\"\n[[mirror]]\nurl = \"b\"\n"
	yamlText = "# shop\nname: shop   # its name\nserver:\n    timeout: 30\n    hosts:\n        - a\n        - 'b'\n    note: |\n        long\nversion: \"1.0\"\non: true\n"
	iniText  = "; shop\n[server]\ntimeout = 30 ; seconds\nhost=localhost\n\n[log]\nlevel: info\n"
	envText  = "# shop\nSHOP_PORT=8080 # default\nexport SHOP_NAME=\"my shop\"\nEMPTY=\n"
	goText   = "package shop\n\nconst MaxOrders = 1000 // at most\n\nvar (\n\tdefaultPort string = \"8080\"\n\ttimeout     = 30 * time.Second\n\traw = `x`\n)\n\nfunc f() {\n\tretries := 3\n\tuse(retries, Options{Depth: 2})\n\tif retries == 4 {\n\t}\n\tx, retries2 := 1, 2\n}\n"
	pyText   = "\"\"\"Notes.\"\"\"\n__version__ = \"0.3.0\"\nLIMIT: int = 10\nNAMES = [\"a\"]\nDEBUG = False\n\n\nclass A:\n    size = 1\n\n\nclass B:\n    size = 2\n\n\noptions = {\"depth\": 3}\n"
	tsText   = "export const limit: number = 10;\nconst name = 'shop';\nlet f = (x: number) => x === 10;\nexport default { retries: 3 };\n"
)

func TestValueIsSetAndAllElseStays(t *testing.T) {
	for name, c := range map[string]struct {
		path, text, key, value string
		old, new               string // the part of the text that differs
	}{
		"a number of JSON given as text":     {"a.json", jsonText, "port", "9090", "8080", "9090"},
		"a nested number of JSON":            {"a.json", jsonText, "$.server.timeout", "60", "30", "60"},
		"an item of JSON":                    {"a.json", jsonText, "server.hosts[1]", "c", `"b"`, `"c"`},
		"a text of JSON given with quotes":   {"a.json", jsonText, "log", `"de<bug"`, `"info"`, `"de<bug"`},
		"a truth value of JSON":              {"a.json", jsonText, "cache", "on", "false", "true"},
		"null of JSON":                       {"a.json", jsonText, "owner", "me", "null", `"me"`},
		"a list of JSON":                     {"a.json", jsonText, "server.hosts", `["x"]`, `["a", "b"]`, `["x"]`},
		"a key of JSON with a dot":           {"a.json", jsonText, "a.b", "2", "\"a.b\": 1", "\"a.b\": 2"},
		"a text of TOML":                     {"a.toml", tomlText, "name", "store", `"shop"`, `"store"`},
		"a literal text of TOML":             {"a.toml", tomlText, "version", "0.4.0", "'0.3.1'", "'0.4.0'"},
		"a number in a table of TOML":        {"a.toml", tomlText, "server.timeout", "60", "30", "60"},
		"a number in an inline table":        {"a.toml", tomlText, "server.limits.hard", "3", "hard = 2", "hard = 3"},
		"a text in a list of tables":         {"a.toml", tomlText, "mirror[1].url", "c", `"b"`, `"c"`},
		"a plain text of YAML":               {"a.yaml", yamlText, "name", "store", "name: shop", "name: store"},
		"a text of YAML that needs quotes":   {"a.yaml", yamlText, "name", "12", "name: shop", `name: "12"`},
		"a number of YAML":                   {"a.yml", yamlText, "server.timeout", "60", "30", "60"},
		"an item of YAML":                    {"a.yml", yamlText, "server.hosts.1", "it's", "'b'", "'it''s'"},
		"a quoted text of YAML":              {"a.yml", yamlText, "version", "2.0", `"1.0"`, `"2.0"`},
		"a number in a section of INI":       {"a.ini", iniText, "server.timeout", "60", "30", "60"},
		"a text after a colon":               {"a.cfg", iniText, "log.level", "debug", "info", "debug"},
		"a variable of .env with a remark":   {".env", envText, "SHOP_PORT", "9090", "8080", "9090"},
		"a quoted variable of .env":          {".env.local", envText, "SHOP_NAME", "store", `"my shop"`, `"store"`},
		"an empty variable of .env":          {".env", envText, "EMPTY", "a b", "EMPTY=", `EMPTY="a b"`},
		"a constant of Go":                   {"a.go", goText, "MaxOrders", "2000", "1000", "2000"},
		"a typed variable of Go":             {"a.go", goText, "defaultPort", "9090", `"8080"`, `"9090"`},
		"a duration of Go":                   {"a.go", goText, "timeout", "60", "30", "60"},
		"a raw text of Go":                   {"a.go", goText, "raw", `a\b`, "`x`", "`a\\b`"},
		"a local variable of Go":             {"a.go", goText, "retries", "5", ":= 3", ":= 5"},
		"a field in a literal of Go":         {"a.go", goText, "Depth", "7", "Depth: 2", "Depth: 7"},
		"the version of Python":              {"notes/__init__.py", pyText, "__version__", "0.3.1", `"0.3.0"`, `"0.3.1"`},
		"a typed constant of Python":         {"a.py", pyText, "LIMIT", "20", "10", "20"},
		"a truth value of Python":            {"a.py", pyText, "DEBUG", "true", "False", "True"},
		"a field of one of two classes":      {"a.py", pyText, "B.size", "9", "size = 2", "size = 9"},
		"a value of a dictionary of Python":  {"a.py", pyText, "depth", "4", `"depth": 3`, `"depth": 4`},
		"a typed constant of TypeScript":     {"a.ts", tsText, "limit", "20", "number = 10", "number = 20"},
		"a text of TypeScript with a quote":  {"a.ts", tsText, "name", "it's", "'shop'", `'it\'s'`},
		"a field of an object of TypeScript": {"a.ts", tsText, "retries", "4", "retries: 3", "retries: 4"},
		"CR LF":                              {"a.env", strings.ReplaceAll(envText, "\n", "\r\n"), "SHOP_PORT", "1", "8080", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(c.text, c.old) != 1 && c.old != "EMPTY=" {
				t.Fatalf("%q is not once in the text", c.old)
			}
			b := workspacetest.New(t, workspace.Config{})
			b.Write(t, map[string]string{c.path: c.text})
			a := args{"path": c.path, "key": c.key, "value": c.value}
			if asked := b.Ask(t, "data.set", a, workspacetest.Preview); asked.IsError || asked.Data["diff"] == "" {
				t.Fatalf("the preview is %+v", asked)
			}
			b.Same(t, map[string]string{c.path: c.text})
			b.Must(t, "data.set", a)
			b.Same(t, map[string]string{c.path: strings.Replace(c.text, c.old, c.new, 1)})
		})
	}
}

func TestNewKeyIsAddedAndSaid(t *testing.T) {
	for name, c := range map[string]struct{ path, text, key, value, after string }{
		"JSON":                      {"a.json", "{\n  \"a\": 1\n}\n", "debug", "true", "{\n  \"a\": 1,\n  \"debug\": true\n}\n"},
		"an object of JSON":         {"a.json", `{"s":{"a":1}}`, "s.host", "x", `{"s":{"a":1,"host":"x"}}`},
		"an empty object of JSON":   {"a.json", "{}\n", "host", "x", "{\"host\": \"x\"}\n"},
		"a trailing comma of JSON":  {"a.jsonc", "{\n\t\"a\": 1, // one\n}\n", "host", "x", "{\n\t\"a\": 1,\n\t\"host\": \"x\", // one\n}\n"},
		"TOML, before the tables":   {"a.toml", "a = 1\n\n[s]\nb = 2\n", "host", "x", "a = 1\nhost = \"x\"\n\n[s]\nb = 2\n"},
		"a table of TOML":           {"a.toml", "a = 1\n\n[s]\nb = 2\n", "s.limit", "3", "a = 1\n\n[s]\nb = 2\nlimit = 3\n"},
		"a variable of .env":        {".env", "A=1", "HOST", "x y", "A=1\nHOST=\"x y\"\n"},
		"an empty document of TOML": {"a.toml", "", "host", "x", "host = \"x\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := workspacetest.New(t, workspace.Config{})
			b.Write(t, map[string]string{c.path: c.text})
			done := b.Must(t, "data.set", args{"path": c.path, "key": c.key, "value": c.value})
			if !strings.Contains(done.Text, "the key "+c.key+" is new") {
				t.Errorf("the result does not say that the key is new: %s", done.Text)
			}
			b.Same(t, map[string]string{c.path: c.after})
		})
	}
}

func TestValueThatIsNotClearStays(t *testing.T) {
	files := map[string]string{
		"a.json": jsonText, "a.toml": tomlText, "a.yaml": yamlText, "a.ini": iniText, ".env": envText, "a.go": goText, "a.py": pyText, "a.md": "# port = 1\n", "bad.json": "{",
	}
	for name, c := range map[string]struct {
		path, key, value string
		wantErr          []string
	}{
		"the key of another level":     {"a.json", "timeout", "60", []string{"a.json has no key timeout", "near it: server.timeout = 30 (line 4)"}},
		"a wrong letter":               {"a.json", "prot", "1", []string{"near it: port = 8080"}},
		"other letters":                {"a.toml", "Server.Timeout", "1", []string{"near it: server.timeout = 30"}},
		"no such key of YAML":          {"a.yaml", "owner", "me", []string{"no key owner", "it has these: name = shop (line 2)"}},
		"a text of several lines":      {"a.yaml", "server.note", "x", []string{"several lines", "fs.patch"}},
		"no number":                    {"a.json", "port", "high", []string{`port is the number 8080, and "high" is none`}},
		"no truth value":               {"a.json", "cache", "maybe", []string{"neither true nor false"}},
		"no object":                    {"a.json", "server", "x", []string{"an object"}},
		"the value that it has":        {"a.json", "port", "8080", []string{"nothing to change"}},
		"two constants of a name":      {"a.py", "size", "3", []string{"2 values named size", "line 9", "line 13", "fs.patch"}},
		"a list in code":               {"a.py", "NAMES", "x", []string{"no key NAMES"}},
		"a name of code that is not":   {"a.go", "maxOrder", "3", []string{"no key maxOrder", "MaxOrders = 1000 (line 3)"}},
		"text for people":              {"a.md", "port", "2", []string{"fs.patch"}},
		"no key":                       {"a.json", " ", "2", []string{"key of data.set is empty"}},
		"no file":                      {"b.json", "a", "2", []string{`no file "b.json"`}},
		"a document that is not JSON":  {"bad.json", "a", "2", []string{"bad.json cannot be read"}},
		"a new table of several parts": {"a.toml", "x.y.z", "2", []string{"no key x.y.z"}},
		"a placeholder":                {".env", "SHOP_NAME", "{{name}}", []string{"stands for content"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := workspacetest.New(t, workspace.Config{})
			b.Write(t, files)
			b.Refused(t, "data.set", args{"path": c.path, "key": c.key, "value": c.value}, c.wantErr...)
			b.Same(t, files)
		})
	}
}
