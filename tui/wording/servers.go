package wording

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"replan/agent"
	"replan/agent/session"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// ServerWords describes the server that a yes would start, from the fields that
// decide it. First comes its command line as a shell would take it, or its URL.
// Below it is one line for each other field.
func ServerWords(server any) string {
	fields, ok := server.(map[string]any)
	if !ok {
		text, _ := ValueText(server)
		return text
	}
	var lines []string
	field := func(name string) string { text, _ := fields[name].(string); return text }
	if words := texts(fields["command"]); len(words) > 0 {
		lines = append(lines, shellWords(words...))
	}
	if url := field("url"); url != "" {
		lines = append(lines, shellWords(url))
	}
	if field("type") == "sse" {
		lines = append(lines, "over the older SSE transport")
	}
	if fields["roots"] == false {
		lines = append(lines, "does not learn the folder of the workspace")
	}
	if dir := field("dir"); dir != "" {
		lines = append(lines, "in the folder "+shellWords(dir))
	}
	if helper := field("headers_helper"); helper != "" {
		lines = append(lines, "runs "+shellWords(helper)+" in a shell for its headers")
	}
	if names := texts(fields["inherit"]); len(names) > 0 {
		lines = append(lines, "gets of your environment "+shellWords(names...))
	}
	for _, name := range []string{"env", "headers", "oauth"} {
		table, _ := fields[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(table)) {
			value, _ := table[key].(string)
			lines = append(lines, strings.TrimSuffix(name, "s")+" "+shellWords(key)+"="+shellWords(value))
		}
	}
	return strings.Join(lines, "\n")
}

// IsLost reports whether no tool of a server can be called until the user does
// something about it.
func IsLost(s plan.ServerStatus) bool {
	return s.State == plan.ServerFailed || s.State == plan.ServerStopped
}

// LostServers returns the names of the lost servers, sorted.
func LostServers(servers []plan.ServerStatus) []string {
	var names []string
	for _, s := range servers {
		if IsLost(s) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// StepsUsing returns the indices of the steps of a run that are still to come and have no
// tool without a server. lost are the servers that were lost already. run may be nil.
func StepsUsing(run *agent.Run, server string, lost []string) []string {
	if run == nil || run.Result != nil {
		return nil
	}
	var steps []string
	lost = append(slices.Clone(lost), server)
	for _, s := range run.Steps {
		if ToCome(s) && slices.Contains(Lacks(run, s, lost), server) {
			steps = append(steps, s.Step.Index)
		}
	}
	return steps
}

// ToCome reports whether the call of a step is still to be made.
func ToCome(s *agent.StepState) bool {
	return !s.Draft && (s.Status == agent.StepPending || s.Status == agent.StepWaiting)
}

// Lacks returns the servers of a step's tools if all of them were lost.
func Lacks(run *agent.Run, s *agent.StepState, lost []string) []string {
	servers := agent.ServersOf(run, s.Step)
	for _, name := range servers {
		if !slices.Contains(lost, name) {
			return nil
		}
	}
	return servers
}

// StepList names steps for use in a sentence: "steps 2, 4 and 3 more".
func StepList(steps []string) string {
	const most = 6
	names := make([]string, len(steps))
	for i, index := range steps {
		names[i] = untrusted.Line(index)
	}
	return english.Agree(len(steps), "step ", "steps ") + english.Some(names, most, "")
}

// LostTools says which steps lose their tool with its server: "steps 2 and 4 lose
// their tool".
func LostTools(steps []string) string {
	return StepList(steps) + english.Agree(len(steps), " loses its tool", " lose their tool")
}

// ServerCalls says how many calls a server got, how many failed and how long they
// took, "" if it got none.
func ServerCalls(s plan.ServerStatus) string {
	if s.Calls == 0 {
		return ""
	}
	words := english.Count(s.Calls, "call")
	if s.Failures > 0 {
		words += ", " + strconv.Itoa(s.Failures) + " failed"
	}
	return words + ", last " + DoneIn(s.LastMS) + ", median " + DoneIn(s.MedianMS)
}

// LeftOut says which tools of a server are left out since they run only as tasks, ""
// for none.
func LeftOut(s plan.ServerStatus) string {
	if s.TaskTools == "" {
		return ""
	}
	return "tools that run only as tasks, which replan does not know: " + s.TaskTools.Line()
}

// ServerAddress says where a server is: its command line as a shell would take it, or
// its URL.
func ServerAddress(s plan.ServerStatus) string {
	if s.URL != "" {
		return s.URL
	}
	return shellWords(s.Command...)
}

// shellWord quotes a word as for a shell. One with control characters is quoted as
// in Go, so that it stays on its line.
func shellWord(word string) string {
	switch {
	case strings.ContainsFunc(word, unicode.IsControl):
		return strconv.Quote(word)
	case plainWord.MatchString(word):
		return word
	default:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
}

// LoginAddress says where to log in to a server.
func LoginAddress(p session.LoginProgress) string {
	return "log in to " + untrusted.Line(p.Server) + " in the browser; if none opens, or on another machine, open this address, which is sent to the clipboard: " +
		p.Address.Visible() + " (if that browser cannot reach replan at the end, use replan mcp login " + untrusted.Line(p.Server) + ")"
}
