package wording_test

import (
	"testing"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/tui/wording"
)

func TestGateSaysWhyThereIsNoAlwaysAndWhatSkipsIt(t *testing.T) {
	const why = "the arguments come from a result that can change"
	gate := func(tool string, trusted bool, from ...rule.Provenance) event.GateRequested {
		return event.GateRequested{Step: "4", Tool: tool, Server: "workspace", Trusted: trusted, Provenance: from, NoAlways: why}
	}
	planned := gate("fs.patch", true, rule.Provenance{Arg: "text", Step: "1"})
	planned.Planned = true
	offered := gate("fs.patch", true, rule.Provenance{Arg: "text", Step: "1"})
	offered.Always = &event.Always{}
	shell := gate("proc.run", true, rule.Provenance{Arg: "shell", Step: "1"})
	shell.Args = map[string]any{"shell": "ls"}
	for name, c := range map[string]struct {
		gate event.GateRequested
		want string
	}{
		"text as it is":              {gate("vcs.commit", true, rule.Provenance{Arg: "message", Step: "3"}), "always is off, since results change: r skips this gate in this run, a rule with untrusted = true from now on"},
		"a change worked out":        {gate("fs.patch", true, rule.Provenance{Arg: "diff", Step: "2", Tool: "code.transform"}), "always is off, since results change: r skips this gate in this run, a rule that allows fs.patch from now on"},
		"a command of the shell":     {shell, "always is off, since results change: a rule with untrusted = true skips this gate"},
		"written after reading":      {gate("send", false, rule.Provenance{Arg: "to", Step: "1", Written: true}), "always is off, since results change: a rule with a pattern for to skips this gate"},
		"a gate of the plan":         {planned, ""},
		"a gate that offers a rule":  {offered, ""},
		"nothing from results":       {gate("fs.patch", true), ""},
		"the project's notes":        {gate("fs.patch", true, rule.Provenance{Notes: true}), ""},
		"a decision about the call":  {gate("send", false, rule.Provenance{Step: "1", Decides: true}), "always is off, since results change: a rule with untrusted = true skips this gate"},
		"a decision that undo takes": {gate("fs.patch", true, rule.Provenance{Step: "1", Decides: true}), "always is off, since results change: r skips this gate in this run, a rule that allows fs.patch from now on"},
	} {
		if got := wording.AlwaysNote(c.gate); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
