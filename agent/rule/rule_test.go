package rule_test

import (
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

// at is one condition.
func at(name, pattern string) map[string]string { return map[string]string{name: pattern} }

func TestConditionsOfWhatLetsACallPassAreReadNarrowly(t *testing.T) {
	for name, c := range map[string]struct {
		conditions map[string]string
		args       map[string]any
		fits       bool
	}{
		"a file in the folder":                             {at("path", "docs/**"), map[string]any{"path": "docs/a/b.md"}, true},
		"a file elsewhere":                                 {at("path", "docs/**"), map[string]any{"path": "src/a.go"}, false},
		"an argument that is not there":                    {at("path", "**"), map[string]any{"text": "x"}, false},
		"an argument that is null":                         {at("path", "**"), map[string]any{"path": nil}, false},
		"an empty pattern for what is left out":            {at("dir", ""), map[string]any{"argv": "make"}, true},
		"an empty pattern for null":                        {at("dir", ""), map[string]any{"dir": nil}, true},
		"an empty pattern for empty text":                  {at("dir", ""), map[string]any{"dir": ""}, true},
		"an empty pattern for what is given":               {at("dir", ""), map[string]any{"dir": "x"}, false},
		"an empty pattern for a switch":                    {at("create", ""), map[string]any{"create": true}, false},
		"an empty pattern for what is not known yet":       {at("dir", ""), map[string]any{"dir": plan.Placeholder("<x>")}, false},
		"an empty pattern for a part that is not there":    {at("repo.owner", ""), map[string]any{"repo": map[string]any{}}, true},
		"no arguments at all":                              {at("path", "**"), nil, false},
		"a dot before it":                                  {at("path", "docs/**"), map[string]any{"path": "./docs/a.md"}, true},
		"dots and slashes within it":                       {at("path", "docs/*.md"), map[string]any{"path": "docs/.//a.md"}, true},
		"a step upwards out of the folder":                 {at("path", "docs/**"), map[string]any{"path": "docs/../src/a.go"}, false},
		"a step upwards that stays in it":                  {at("path", "docs/**"), map[string]any{"path": "docs/a/../b.md"}, false},
		"a step upwards by backslashes":                    {at("path", "docs/**"), map[string]any{"path": `docs\..\src\a.go`}, false},
		"a step upwards as in a URL":                       {at("url", "https://x/docs/**"), map[string]any{"url": "https://x/docs/%2E%2e/admin"}, false},
		"a step upwards in a word of a list":               {at("argv", "**"), map[string]any{"argv": []any{"cat", "docs/../x"}}, false},
		"a step upwards where the very text is named":      {at("shell", "go test ../..."), map[string]any{"shell": "go test ../..."}, true},
		"dots in a name are no step upwards":               {at("path", "docs/*"), map[string]any{"path": "docs/a..b.md"}, true},
		"an absolute path":                                 {at("path", "docs/**"), map[string]any{"path": "/work/docs/a.md"}, false},
		"another case":                                     {at("path", "docs/**"), map[string]any{"path": "DOCS/a.md"}, false},
		"a star stops at a slash":                          {at("path", "docs/*"), map[string]any{"path": "docs/a/b.md"}, false},
		"two stars may stand for no folder":                {at("path", "docs/**/a.md"), map[string]any{"path": "docs/a.md"}, true},
		"a folder that begins alike":                       {at("path", "docs/**"), map[string]any{"path": "docs2/a.md"}, false},
		"the pattern must fit whole":                       {at("path", "a.md"), map[string]any{"path": "xa.md"}, false},
		"a line break after it":                            {at("path", "docs/**"), map[string]any{"path": "docs/a\nrm"}, false},
		"a control character":                              {at("shell", "go **"), map[string]any{"shell": "go vet\x00x"}, false},
		"a question mark is one character":                 {at("path", "a?.md"), map[string]any{"path": "aé.md"}, true},
		"a backslash takes the meaning away":               {at("path", `a\*.md`), map[string]any{"path": "ab.md"}, false},
		"brackets are plain text":                          {at("path", "app/[id]/*"), map[string]any{"path": "app/[id]/page.tsx"}, true},
		"all conditions hold":                              {map[string]string{"from": "docs/**", "to": "docs/**"}, map[string]any{"from": "docs/a", "to": "docs/b"}, true},
		"one of two conditions holds":                      {map[string]string{"from": "docs/**", "to": "docs/**"}, map[string]any{"from": "docs/a", "to": "src/b"}, false},
		"a list as compact JSON":                           {at("argv", `["go","vet","*"]`), map[string]any{"argv": []any{"go", "vet", "x"}}, true},
		"a star does not reach over a word of a list":      {at("argv", `["go","*"]`), map[string]any{"argv": []any{"go", "vet", "x"}}, false},
		"a list where a text is wanted":                    {at("path", "docs/*"), map[string]any{"path": []any{"docs/a"}}, false},
		"a number":                                         {at("n", "7"), map[string]any{"n": 7}, true},
		"a part of an object":                              {at("repo.owner", "me"), map[string]any{"repo": map[string]any{"owner": "me"}}, true},
		"a word of a list by its place":                    {at("argv.0", "go"), map[string]any{"argv": []any{"go", "vet"}}, true},
		"a place that the list does not have":              {at("argv.7", "go"), map[string]any{"argv": []any{"go"}}, false},
		"a part that another argument's name pretends":     {at("repo.owner", "me"), map[string]any{"repo.owner": "me", "repo": map[string]any{"owner": "you"}}, false},
		"what is not known yet":                            {at("path", "docs/**"), map[string]any{"path": plan.Placeholder("<fs.list result>")}, false},
		"bytes that are no text":                           {at("path", "docs/*"), map[string]any{"path": "docs/\xff"}, true},
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

func TestConditionsOfWhatDeniesAreReadWidely(t *testing.T) {
	for name, path := range map[string]any{
		"as it is":                    "secrets/key",
		"a dot before it":             "./secrets/key",
		"another case":                "Secrets/KEY",
		"a way around":                "docs/../secrets/key",
		"backslashes":                 `docs\..\secrets\key`,
		"an absolute path":            "/home/me/work/secrets/key",
		"an absolute path with a way": "/home/me/work/docs/../secrets/key",
		"a drive":                     `C:\work\secrets\key`,
		"a quote in it":               `secrets/k"ey`,
		"a line break in it":          "secrets/k\ney",
	} {
		t.Run(name, func(t *testing.T) {
			rules := []rule.Rule{{Tool: "*", Args: at("path", "secrets/*"), Verdict: rule.VerdictBlock}, {Tool: "*", Verdict: rule.VerdictRun}}
			if got := rule.Decide(rules, write, map[string]any{"path": path}); got.Verdict != rule.VerdictBlock {
				t.Errorf("%q: %s", path, got.Verdict)
			}
		})
	}
}

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
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
		t.Errorf("where no rule speaks: %+v", got)
	}
}

func TestWhatHangsOnAnUnknownArgumentAsks(t *testing.T) {
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

func TestNoServerPosesAsAnother(t *testing.T) {
	posing := plan.Tool{Name: "workspace:fs.write", Server: "evil"}
	for _, r := range []rule.Rule{
		{Tool: "workspace:fs.write", Verdict: rule.VerdictRun},
		{Tool: "workspace:*", Verdict: rule.VerdictRun},
		{Tool: "workspace:fs.write", Verdict: rule.VerdictRun, Source: rule.SourceUser},
	} {
		if r.Matches(posing) {
			t.Errorf("%s speaks about %s", r, posing.QualifiedName())
		}
		if !r.Matches(write) {
			t.Errorf("%s does not speak about %s", r, write.QualifiedName())
		}
	}
}

func TestAPushPassesByItsNameAlone(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*": false, "vcs.*": false, "workspace:*": false, "vcs.pus?": false, "vcs.[p]ush": false, "vcs.push": true, "workspace:vcs.push": true,
	} {
		if got := (rule.Rule{Tool: pattern, Verdict: rule.VerdictRun}).Matches(push); got != want {
			t.Errorf("--allow %s lets a push pass: %v", pattern, got)
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

// TestALiteralFitsItsOwnTextAlone holds the pattern that "always" saves against
// any text, however strange.
func TestALiteralFitsItsOwnTextAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		other := rapid.OneOf(rapid.String(), rapid.Just(text+"x"), rapid.Just(strings.ToUpper(text)), rapid.Just("./"+text)).Draw(t, "other")
		rules := []rule.Rule{{Tool: "*", Args: at("a", rule.Literal(text)), Verdict: rule.VerdictRun}}
		if got := rule.Decide(rules, run, map[string]any{"a": text}); got.Verdict != rule.VerdictRun {
			t.Fatalf("%q does not fit its own pattern %q", text, rule.Literal(text))
		}
		same := other == text || path.Clean(other) == text // the same path, written in another way
		if got := rule.Decide(rules, run, map[string]any{"a": other}); got.Verdict == rule.VerdictRun && !same {
			t.Fatalf("%q fits the pattern of %q", other, text)
		}
	})
}

// TestNoWildcardLeadsOutOfItsFolder draws paths of the parts that hostile ones
// are made of.
func TestNoWildcardLeadsOutOfItsFolder(t *testing.T) {
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
				t.Fatalf("%q fits docs/**", path)
			case !inside && s != "docs":
				t.Fatalf("%q fits docs/**", path)
			default:
				inside = true
			}
		}
	})
}
