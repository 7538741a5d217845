package rule_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/agent/rule"
	"replan/planning/plan"
)

var (
	write = plan.Tool{Name: "fs.write", Server: "workspace", Destructive: true, Annotated: true, Trusted: true}
	run   = plan.Tool{Name: "proc.run", Server: "workspace", Destructive: true, Annotated: true, Trusted: true}
	push  = plan.Tool{Name: "vcs.push", Server: "workspace", Annotated: true, Trusted: true}
)

// at returns one condition.
func at(name, pattern string) map[string]string { return map[string]string{name: pattern} }

func TestAllowConditionsMatchNarrowly(t *testing.T) {
	for name, c := range map[string]struct {
		conditions map[string]string
		args       map[string]any
		fits       bool
	}{
		"file in the folder":                               {at("path", "docs/**"), map[string]any{"path": "docs/a/b.md"}, true},
		"file elsewhere":                                   {at("path", "docs/**"), map[string]any{"path": "src/a.go"}, false},
		"missing argument":                                 {at("path", "**"), map[string]any{"text": "x"}, false},
		"null argument":                                    {at("path", "**"), map[string]any{"path": nil}, false},
		"empty pattern, missing argument":                  {at("dir", ""), map[string]any{"argv": "make"}, true},
		"empty pattern, null":                              {at("dir", ""), map[string]any{"dir": nil}, true},
		"empty pattern, empty text":                        {at("dir", ""), map[string]any{"dir": ""}, true},
		"empty pattern, text":                              {at("dir", ""), map[string]any{"dir": "x"}, false},
		"empty pattern, boolean":                           {at("create", ""), map[string]any{"create": true}, false},
		"empty pattern, unknown value":                     {at("dir", ""), map[string]any{"dir": plan.Placeholder("<x>")}, false},
		"empty pattern, missing field":                     {at("repo.owner", ""), map[string]any{"repo": map[string]any{}}, true},
		"no arguments":                                     {at("path", "**"), nil, false},
		"leading dot":                                      {at("path", "docs/**"), map[string]any{"path": "./docs/a.md"}, true},
		"dots and slashes within":                          {at("path", "docs/*.md"), map[string]any{"path": "docs/.//a.md"}, true},
		"parent folder out of the pattern":                 {at("path", "docs/**"), map[string]any{"path": "docs/../src/a.go"}, false},
		"parent folder within the pattern":                 {at("path", "docs/**"), map[string]any{"path": "docs/a/../b.md"}, false},
		"parent folder with backslashes":                   {at("path", "docs/**"), map[string]any{"path": `docs\..\src\a.go`}, false},
		"parent folder escaped in a URL":                   {at("url", "https://x/docs/**"), map[string]any{"url": "https://x/docs/%2E%2e/admin"}, false},
		"parent folder in a list element":                  {at("argv", "**"), map[string]any{"argv": []any{"cat", "docs/../x"}}, false},
		"parent folder in the pattern itself":              {at("shell", "go test ../..."), map[string]any{"shell": "go test ../..."}, true},
		"dots in a name":                                   {at("path", "docs/*"), map[string]any{"path": "docs/a..b.md"}, true},
		"an absolute path":                                 {at("path", "docs/**"), map[string]any{"path": "/work/docs/a.md"}, false},
		"other case":                                       {at("path", "docs/**"), map[string]any{"path": "DOCS/a.md"}, false},
		"star stops at a slash":                            {at("path", "docs/*"), map[string]any{"path": "docs/a/b.md"}, false},
		"two stars match no folder":                        {at("path", "docs/**/a.md"), map[string]any{"path": "docs/a.md"}, true},
		"folder with the same prefix":                      {at("path", "docs/**"), map[string]any{"path": "docs2/a.md"}, false},
		"pattern matches the whole text":                   {at("path", "a.md"), map[string]any{"path": "xa.md"}, false},
		"line break":                                       {at("path", "docs/**"), map[string]any{"path": "docs/a\nrm"}, false},
		"control character":                                {at("shell", "go **"), map[string]any{"shell": "go vet\x00x"}, false},
		"question mark matches one character":              {at("path", "a?.md"), map[string]any{"path": "aé.md"}, true},
		"backslash escapes":                                {at("path", `a\*.md`), map[string]any{"path": "ab.md"}, false},
		"brackets are plain text":                          {at("path", "app/[id]/*"), map[string]any{"path": "app/[id]/page.tsx"}, true},
		"two conditions, both hold":                        {map[string]string{"from": "docs/**", "to": "docs/**"}, map[string]any{"from": "docs/a", "to": "docs/b"}, true},
		"two conditions, one holds":                        {map[string]string{"from": "docs/**", "to": "docs/**"}, map[string]any{"from": "docs/a", "to": "src/b"}, false},
		"list as compact JSON":                             {at("argv", `["go","vet","*"]`), map[string]any{"argv": []any{"go", "vet", "x"}}, true},
		"star stays within a list element":                 {at("argv", `["go","*"]`), map[string]any{"argv": []any{"go", "vet", "x"}}, false},
		"list instead of text":                             {at("path", "docs/*"), map[string]any{"path": []any{"docs/a"}}, false},
		"number":                                           {at("n", "7"), map[string]any{"n": 7}, true},
		"field of an object":                               {at("repo.owner", "me"), map[string]any{"repo": map[string]any{"owner": "me"}}, true},
		"list element by index":                            {at("argv.0", "go"), map[string]any{"argv": []any{"go", "vet"}}, true},
		"list index out of range":                          {at("argv.7", "go"), map[string]any{"argv": []any{"go"}}, false},
		"argument named like a field":                      {at("repo.owner", "me"), map[string]any{"repo.owner": "me", "repo": map[string]any{"owner": "you"}}, false},
		"unknown value":                                    {at("path", "docs/**"), map[string]any{"path": plan.Placeholder("<fs.list result>")}, false},
		"star takes no option":                             {at("argv", `["go","vet","*"]`), map[string]any{"argv": []any{"go", "vet", "-x=evil"}}, false},
		"two stars take no option":                         {at("argv", `["gofmt",**]`), map[string]any{"argv": []any{"gofmt", "a", "-x"}}, false},
		"option in the pattern":                            {at("argv", `["gofmt","-l","*"]`), map[string]any{"argv": []any{"gofmt", "-l", "a-b.go"}}, true},
		"star after an option takes its value":             {at("argv", `["gofmt","-r=*"]`), map[string]any{"argv": []any{"gofmt", "-r=a"}}, true},
		"list element is an option":                        {at("argv.1", "*"), map[string]any{"argv": []any{"gofmt", "-l"}}, false},
		"negative number":                                  {at("n", "*"), map[string]any{"n": json.Number("-7")}, true},
		"plain words of a shell command":                   {at("shell", "git show *"), map[string]any{"shell": "git show HEAD"}, true},
		"option of a shell command":                        {at("shell", "git show *"), map[string]any{"shell": "git show HEAD --output=x"}, false},
		"second shell command":                             {at("shell", "git show *"), map[string]any{"shell": "git show HEAD; touch x"}, false},
		"shell command with a substitution":                {at("shell", "git show **"), map[string]any{"shell": "git show `x`"}, false},
		"shell command with a pattern of files":            {at("shell", "go vet *"), map[string]any{"shell": "go vet *"}, false},
		"shell command with an escaped option":             {at("shell", "go vet *"), map[string]any{"shell": `go vet \-x`}, false},
		"invalid UTF-8":                                    {at("path", "docs/*"), map[string]any{"path": "docs/\xff"}, true},
		"a pattern that ends in a backslash is plain text": {at("path", `a\`), map[string]any{"path": `a\`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			rules := []rule.Rule{{Tool: "*", Args: c.conditions, Verdict: rule.VerdictRun}, {Tool: "*", Verdict: rule.VerdictAsk}}
			if got := rule.Decide(rules, write, c.args); (got.Verdict == rule.VerdictRun) != c.fits {
				t.Errorf("%v against %v: %s", c.args, c.conditions, got.Verdict)
			}
		})
	}
}

func TestDenyConditionsMatchWidely(t *testing.T) {
	for name, path := range map[string]any{
		"plain":                       "secrets/key",
		"leading dot":                 "./secrets/key",
		"other case":                  "Secrets/KEY",
		"parent folder":               "docs/../secrets/key",
		"backslashes":                 `docs\..\secrets\key`,
		"an absolute path":            "/home/me/work/secrets/key",
		"an absolute path with a way": "/home/me/work/docs/../secrets/key",
		"drive":                       `C:\work\secrets\key`,
		"quote":                       `secrets/k"ey`,
		"line break":                  "secrets/k\ney",
	} {
		t.Run(name, func(t *testing.T) {
			rules := []rule.Rule{{Tool: "*", Args: at("path", "secrets/*"), Verdict: rule.VerdictBlock}, {Tool: "*", Verdict: rule.VerdictRun}}
			if got := rule.Decide(rules, write, map[string]any{"path": path}); got.Verdict != rule.VerdictBlock {
				t.Errorf("%q: %s", path, got.Verdict)
			}
		})
	}
}

func TestPathsThatLinksLeadToAreJudgedToo(t *testing.T) {
	rules := []rule.Rule{
		{Tool: "fs.write", Args: at("path", "**/.env"), Verdict: rule.VerdictBlock},
		{Tool: "fs.write", Args: at("path", "docs/**"), Verdict: rule.VerdictRun},
	}
	for real, want := range map[string]rule.Verdict{"docs/b.md": rule.VerdictRun, "src/a.go": rule.VerdictAsk, "docs/.env": rule.VerdictBlock, ".env": rule.VerdictBlock} {
		args := rule.Linked(map[string]any{"path": "docs/link", "text": "x"}, map[string]string{"path": real})
		if got := rule.Decide(rules, write, args).Verdict; got != want {
			t.Errorf("a link to %s: got %s, want %s", real, got, want)
		}
	}
}

func TestFirstMatchingRuleDecides(t *testing.T) {
	rules := []rule.Rule{
		{Tool: "fs.write", Args: at("path", "docs/secret/**"), Verdict: rule.VerdictBlock},
		{Tool: "fs.*", Args: at("path", "docs/**"), Verdict: rule.VerdictRun},
		{Tool: "workspace:fs.write", Verdict: rule.VerdictAsk},
		{Tool: "*", Verdict: rule.VerdictRun},
	}
	for path, want := range map[string]rule.Verdict{
		"docs/secret/a": rule.VerdictBlock, "docs/a": rule.VerdictRun, "src/a": rule.VerdictAsk,
	} {
		if got := rule.Decide(rules, write, map[string]any{"path": path}); got.Verdict != want {
			t.Errorf("%s: %s by %+v, want %s", path, got.Verdict, got, want)
		}
	}
	if got := rule.Decide(rules[:2], write, map[string]any{"path": "src/a"}); got.Verdict != rule.VerdictAsk {
		t.Errorf("without a matching rule: %+v", got)
	}
}

func TestDenyWinsOverEveryAllow(t *testing.T) {
	allow := rule.Rule{Tool: "fs.write", Verdict: rule.VerdictRun, Source: rule.SourceFlag}
	for name, deny := range map[string]rule.Rule{
		"of the configuration":   {Tool: "fs.write", Verdict: rule.VerdictBlock, Source: rule.SourceConfiguration},
		"with a condition":       {Tool: "fs.write", Args: at("path", "**/.env"), Verdict: rule.VerdictBlock, Source: rule.SourceConfiguration},
		"of a flag, given later": {Tool: "*", Verdict: rule.VerdictBlock, Source: rule.SourceFlag},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rule.Decide([]rule.Rule{allow, deny}, write, map[string]any{"path": "a/.env"}); got.Verdict != rule.VerdictBlock {
				t.Errorf("got %s by %s", got.Verdict, got.Source)
			}
		})
	}
}

func TestCommandThatLaunchesAnotherIsAllowedOnlyByItsWords(t *testing.T) {
	for _, c := range []struct {
		argv     []any
		launches bool
	}{
		{[]any{"go", "vet", "./..."}, false},
		{[]any{"go", "vet", "-vettool=./evil", "./..."}, true},
		{[]any{"go", "vet", "--vettool", "./evil"}, true},
		{[]any{"go", "build", "-toolexec=./evil"}, true},
		{[]any{"go", "generate"}, true},
		{[]any{"git", "log", "-p"}, false},
		{[]any{"/usr/bin/git", "-c", "core.pager=./evil", "log"}, true},
		{[]any{"git", "fetch", "--upload-pac=./evil"}, true},
		{[]any{"git", "clone", "ext::sh -c evil"}, true},
		{[]any{"git", "commit", "-m", "config"}, false},
		{[]any{"git", "log", "--", "config", "foreach"}, false},
		{[]any{"git", "config", "alias.x", "!./evil"}, true},
		{[]any{"git", "--no-pager", "-C", "sub", "config", "alias.x", "!./evil"}, true},
		{[]any{"git", "submodule", "--quiet", "foreach", "./evil"}, true},
		{[]any{"npm", "--silent", "exec", "evil"}, true},
		{[]any{"npm", "--prefix", "sub", "x", "evil"}, true},
		{[]any{"go", "test", "run"}, false},
		{[]any{"git", "grep", "-O./evil", "x"}, true},
		{[]any{"tar", "-I./evil", "-xf", "a.tar"}, true},
		{[]any{"find", ".", "-name", "x"}, false},
		{[]any{"find", ".", "-exec", "evil"}, true},
		{[]any{"GIT_PAGER=./evil", "git", "log"}, true},
		{[]any{"tar", "xf", "a.tar", "--to-command=./evil"}, true},
	} {
		name := rule.Literal(c.argv[0].(string))
		call := map[string]any{"argv": c.argv}
		for kind, conditions := range map[string]map[string]string{"the program": at("argv.0", name), "a pattern": {"argv.0": "**", "dir": ""}} {
			allow := rule.Rule{Tool: "proc.run", Args: conditions, Verdict: rule.VerdictRun}
			if got := rule.Decide([]rule.Rule{allow}, run, call); (got.Verdict == rule.VerdictAsk) != c.launches {
				t.Errorf("%v, allowed by %s: %s", c.argv, kind, got.Verdict)
			}
		}
		exact := rule.Rule{Tool: "proc.run", Args: at("argv", rule.Literal(plan.CanonicalJSON(c.argv))), Verdict: rule.VerdictRun}
		if got := rule.Decide([]rule.Rule{exact}, run, call); got.Verdict != rule.VerdictRun {
			t.Errorf("%v, allowed by its words: %s", c.argv, got.Verdict)
		}
		if got := rule.Decide([]rule.Rule{{Tool: "proc.run", Verdict: rule.VerdictRun}}, run, call); got.Verdict != rule.VerdictRun {
			t.Errorf("%v, all commands allowed: %s", c.argv, got.Verdict)
		}
	}
}

func TestUnknownArgumentAsks(t *testing.T) {
	unknown := map[string]any{"path": plan.Placeholder("<x>")}
	allow := rule.Rule{Tool: "*", Args: at("path", "docs/**"), Verdict: rule.VerdictRun}
	deny := rule.Rule{Tool: "*", Args: at("path", "docs/**"), Verdict: rule.VerdictBlock}
	for name, c := range map[string]struct {
		rules []rule.Rule
		want  rule.Verdict
	}{
		"run or ask":   {[]rule.Rule{allow, {Tool: "*", Verdict: rule.VerdictAsk}}, rule.VerdictAsk},
		"run or run":   {[]rule.Rule{allow, {Tool: "*", Verdict: rule.VerdictRun}}, rule.VerdictRun},
		"deny or run":  {[]rule.Rule{deny, {Tool: "*", Verdict: rule.VerdictRun}}, rule.VerdictAsk},
		"deny or deny": {[]rule.Rule{deny, {Tool: "*", Verdict: rule.VerdictBlock}}, rule.VerdictBlock},
	} {
		if got := rule.Decide(c.rules, write, unknown); got.Verdict != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestRuleRejectsServerNameInToolName(t *testing.T) {
	posing := plan.Tool{Name: "workspace:fs.write", Server: "evil"}
	for _, r := range []rule.Rule{
		{Tool: "workspace:fs.write", Verdict: rule.VerdictRun},
		{Tool: "workspace:*", Verdict: rule.VerdictRun},
		{Tool: "workspace:fs.write", Verdict: rule.VerdictRun, Source: rule.SourceUser},
	} {
		if r.Matches(posing) {
			t.Errorf("%s matches %s", r, posing.QualifiedName())
		}
		if !r.Matches(write) {
			t.Errorf("%s does not match %s", r, write.QualifiedName())
		}
	}
}

func TestBareOperatorNameMeansTheWorkspace(t *testing.T) {
	same := plan.Tool{Name: "fs.write", Server: "evil"}
	for pattern, want := range map[string]bool{
		"fs.write": false, "fs.*": false, "fs.writ?": false, "workspace:fs.*": false, "evil:fs.write": true, "evil:*": true, "*": true,
	} {
		if got := (rule.Rule{Tool: pattern, Verdict: rule.VerdictRun}).Matches(same); got != want {
			t.Errorf("--allow %s allows the tool of another server: %t", pattern, got)
		}
		if !strings.Contains(pattern, "evil") && !(rule.Rule{Tool: pattern, Verdict: rule.VerdictRun}).Matches(write) {
			t.Errorf("--allow %s does not allow the operator", pattern)
		}
		if !strings.Contains(pattern, ":") && !(rule.Rule{Tool: pattern, Verdict: rule.VerdictBlock}).Matches(same) {
			t.Errorf("--deny %s does not deny the tool of another server", pattern)
		}
	}
}

func TestPushRunsOnlyByItsName(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*": false, "vcs.*": false, "workspace:*": false, "vcs.pus?": false, "vcs.[p]ush": false, "vcs.push": true, "workspace:vcs.push": true,
	} {
		if got := (rule.Rule{Tool: pattern, Verdict: rule.VerdictRun}).Matches(push); got != want {
			t.Errorf("--allow %s allows a push: %v", pattern, got)
		}
		if !(rule.Rule{Tool: pattern, Verdict: rule.VerdictBlock}).Matches(push) {
			t.Errorf("--deny %s does not deny a push", pattern)
		}
	}
	rules := []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}, {Tool: "vcs.push", Args: at("remote", "fork"), Verdict: rule.VerdictRun}}
	if got := rule.Decide(rules, push, map[string]any{"remote": "fork"}); got.Verdict != rule.VerdictRun {
		t.Errorf("%+v", got)
	}
	if got := rule.Decide(rules, push, map[string]any{"remote": "origin"}); got.Verdict != rule.VerdictAsk {
		t.Errorf("%+v", got)
	}
}

// TestLiteralMatchesOnlyItsText checks the patterns that "always" saves against
// arbitrary text.
func TestLiteralMatchesOnlyItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		other := rapid.OneOf(rapid.String(), rapid.Just(text+"x"), rapid.Just(strings.ToUpper(text)), rapid.Just("./"+text)).Draw(t, "other")
		rules := []rule.Rule{{Tool: "*", Args: at("a", rule.Literal(text)), Verdict: rule.VerdictRun}}
		if got := rule.Decide(rules, run, map[string]any{"a": text}); got.Verdict != rule.VerdictRun {
			t.Fatalf("%q does not match its own pattern %q", text, rule.Literal(text))
		}
		same := other == text || path.Clean(other) == text // the same path in another spelling
		if got := rule.Decide(rules, run, map[string]any{"a": other}); got.Verdict == rule.VerdictRun && !same {
			t.Fatalf("%q matches the pattern of %q", other, text)
		}
	})
}

// TestWildcardStaysInItsFolder draws paths from the parts of hostile ones.
func TestWildcardStaysInItsFolder(t *testing.T) {
	part := rapid.SampledFrom([]string{"docs", "a", "..", ".", "/", "//", `\`, "...", "DOCS", "%2e", "%2E%2E", "~", "*", "\n", " ", `"`})
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(part, 1, 8).Draw(t, "parts"), rapid.SampledFrom([]string{"", "/"}).Draw(t, "between"))
		rules := []rule.Rule{{Tool: "*", Args: at("path", "docs/**"), Verdict: rule.VerdictRun}}
		if rule.Decide(rules, write, map[string]any{"path": path}).Verdict != rule.VerdictRun {
			return
		}
		inside := false
		for _, s := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			switch {
			case s == ".":
			case s == "..":
				t.Fatalf("%q matches docs/**", path)
			case !inside && s != "docs":
				t.Fatalf("%q matches docs/**", path)
			default:
				inside = true
			}
		}
	})
}
