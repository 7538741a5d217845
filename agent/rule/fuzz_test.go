package rule_test

import (
	"testing"

	"replan/agent/rule"
	"replan/planning/plan"
)

// FuzzPatterns checks that a text is matched by the pattern made of it, that a deny
// rule matches whatever an allow rule with the same pattern does, and that it wins.
func FuzzPatterns(f *testing.F) {
	for _, c := range [][2]string{
		{"docs/**", "docs/../x"}, {"go test *", "go test ./... ; rm"}, {`a\*`, "a*"}, {"**", "a\nb"}, {"*?**", "\xff\x00"}, {"git *", "git -c x=y"}, {"é*", "É"}, {`\`, `\\`}, {"https://*/x", "https://a%2F/x"}, {"a*", "A\u202e"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		args := map[string]any{"path": text, "shell": text}
		for _, name := range []string{"path", "shell"} {
			allow := rule.Rule{Tool: "*", Args: at(name, pattern), Verdict: rule.VerdictRun}
			deny := rule.Rule{Tool: "*", Args: at(name, pattern), Verdict: rule.VerdictBlock}
			if allow.MatchesArgs(args) && !deny.MatchesArgs(args) {
				t.Fatalf("%s=%q allows %q, and as a deny rule does not match it", name, pattern, text)
			}
			whole := rule.Rule{Tool: "*", Args: at(name, rule.Literal(text)), Verdict: rule.VerdictBlock}
			if text != "" && !whole.MatchesArgs(args) {
				t.Fatalf("%s=%q is not matched by %q", name, text, rule.Literal(text))
			}
			tool := plan.Tool{Name: "proc.run", Server: "workspace"}
			if d := rule.Decide([]rule.Rule{allow, deny}, tool, args); deny.MatchesArgs(args) && d.Verdict != rule.VerdictBlock {
				t.Fatalf("%s=%q: the deny rule lost for %q: %+v", name, pattern, text, d)
			}
		}
	})
}
