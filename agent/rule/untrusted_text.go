package rule

import (
	"slices"
	"strings"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// Uncovered returns what a call carries of untrusted text that must not pass
// because of the rule: it stops at a gate even so. from says where the text in
// the call comes from, and toolOf which tool had that result, ok being false
// where no tool did.
//
// Reading with the workspace's own operators carries nothing anywhere. To give
// text to another server is to send it, whatever that server says of its tool,
// unless the text came from that very server. What has effects carries all of it,
// but for an edit that the workspace's own operator worked out.
func Uncovered(rule Rule, tool plan.Tool, args map[string]any, from []Provenance, toolOf func(Provenance) (plan.Tool, bool)) []Provenance {
	if prompt.IsPlanTool(tool) || tool.Trusted && tool.ReadOnly {
		return nil // the steps of a plan have gates of their own
	}
	var out []Provenance
	for _, p := range from {
		source, known := toolOf(p)
		switch {
		case known && tool.ReadOnly && source.Server == tool.Server:
		case known && worksOut(source) && !p.Written && tool.Trusted && tool.Name == "fs.patch":
		case rule.Covers(p, tool, args):
		default:
			out = append(out, p)
		}
	}
	return out
}

// worksOut reports whether the result of a tool is an edit that it computed from
// what the plan asks for, of which the gate of fs.patch shows all.
func worksOut(t plan.Tool) bool { return t.Trusted && t.Name == "code.transform" }

// Covers reports whether a rule that lets calls pass has untrusted text in mind.
// A text that a reference carries is covered by a rule that names it alone. What a
// model wrote is covered by a pattern for the argument too, and by the mere name of
// an operator whose effects undo takes back. Built-in rules cover nothing.
func (r Rule) Covers(p Provenance, t plan.Tool, args map[string]any) bool {
	switch {
	case r.Verdict != VerdictRun || r.Source == SourceBuiltIn:
		return false
	case r.Untrusted:
		return true
	case !p.Written:
		return false
	default:
		return Undoable(t) || r.binds(p.Arg, args)
	}
}

// binds reports whether the rule has a pattern for an argument or a part of it;
// "" is every argument that holds text.
func (r Rule) binds(arg string, args map[string]any) bool {
	if arg == "" {
		for name, value := range args {
			if hasText(value) && !r.binds(name, args) {
				return false
			}
		}
		return true
	}
	for name, pattern := range r.Args {
		if pattern != "" && (name == arg || strings.HasPrefix(name, arg+".")) {
			return true
		}
	}
	return false
}

// hasText reports whether a value can hold text.
func hasText(value any) bool {
	switch value.(type) {
	case string, plan.Placeholder, []any, map[string]any:
		return true
	default:
		return false
	}
}

// Undoable reports whether the tool is one of the workspace's operators for files,
// code and tests.
func Undoable(t plan.Tool) bool {
	family, _, _ := strings.Cut(t.Name, ".")
	return t.Trusted && (family == "fs" || family == "code" || family == "test")
}

// UntrustedText is the rule by which a call asks for the untrusted text in it.
func UntrustedText(t plan.Tool) Rule {
	why := "it has effects, and its arguments carry text from a result"
	if t.ReadOnly {
		why = "it sends text from a result to the server " + t.Server
	}
	return Rule{Tool: t.Name, Verdict: VerdictAsk, Source: SourceBuiltIn, Why: why}
}

// Interprets reports whether a program runs code, or another program, that its
// arguments name.
func Interprets(program string) bool {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	name = strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-")
	return slices.Contains([]string{
		"sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "ash", "busybox", "cmd", "powershell", "pwsh", "env", "xargs", "sudo", "doas",
		"su", "ssh", "nohup", "nice", "time", "timeout", "setsid", "stdbuf", "find", "python", "perl", "ruby", "node", "deno", "bun", "php", "lua", "awk", "gawk",
		"osascript", "eval", "exec", "make", "npx", "tclsh", "rscript", "docker", "podman",
	}, name)
}
