package wording

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// CallWords describes a call of the workspace's own operators as a user would
// type it. It returns "" if only the arguments describe the call.
func CallWords(g event.GateRequested) string {
	if !g.Trusted {
		return ""
	}
	arg := func(name string) string { text, _ := g.Args[name].(string); return text }
	flag := func(name, words string) string {
		if on, _ := g.Args[name].(bool); on {
			return words
		}
		return ""
	}
	inFolder := func(words, dir string) string {
		if words != "" && dir != "" {
			words += "\nin the folder " + dir
		}
		return words
	}
	switch {
	case g.Command == nil:
	case len(g.Command.Argv) == 0:
		return "nothing: there are no tests here"
	default:
		return inFolder(shellWords(g.Command.Argv...), g.Command.Dir)
	}
	switch g.Tool {
	case "test.run":
		return checkWords("run all tests", "run the tests of ", arg("path")) + named(" that match ", arg("run"))
	case "test.lint":
		return checkWords("run the linter", "run the linter on ", arg("path"))
	case "proc.run":
		words := arg("shell")
		if argv := texts(g.Args["argv"]); words == "" && len(argv) > 0 {
			words = shellWords(argv...)
		}
		return inFolder(words, arg("dir"))
	case "vcs.commit":
		words := "git commit" + flag("all", " --all")
		if paths := texts(g.Args["paths"]); len(paths) > 0 {
			words += " -- " + shellWords(paths...)
		}
		return words + "\n" + arg("message")
	case "vcs.branch":
		return "git switch" + flag("create", " --create") + named(" ", arg("name"))
	case "vcs.push":
		return "git push" + flag("set_upstream", " --set-upstream") + named(" ", arg("remote")) + named(" ", arg("branch"))
	default:
		return ""
	}
}

// checkWords describes a check of everything, or of one path.
func checkWords(all, of, at string) string {
	if at == "" || at == "./..." {
		return all
	}
	return of + at
}

// named returns a text behind its lead, or "" without a text.
func named(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

// texts returns the texts of a JSON array.
func texts(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// plainWord matches a word that a shell takes as it stands.
var plainWord = lazyregexp.New(`^[\w@%+=:,./-]+$`)

// shellWords quotes words as for a shell, so that their bounds are visible.
func shellWords(words ...string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = shellWord(word)
	}
	return strings.Join(out, " ")
}

// AskWords says why a gate asks and whose rule that is; whose is "" if that is not
// known.
func AskWords(g event.GateRequested) (why, whose string) {
	whose = map[string]string{
		rule.SourceFlag: "command-line rule", rule.SourceConfiguration: "rule in config.toml",
		rule.SourceBuiltIn: "built-in rule", rule.SourcePlan: "the plan's rule", rule.SourceUser: "your own rule",
	}[g.Rule.Source]
	return "asks: " + strings.TrimPrefix(GateReason(g), "it "), whose
}

// GateReason says why a gate asks.
func GateReason(g event.GateRequested) string {
	if g.Trusted && g.Diff != "" && g.Rule.Source == rule.SourceBuiltIn && g.Rule.When == rule.WhenDestructive {
		return "it changes files"
	}
	return g.Rule.Why.Line() + containedWords[g.Contained]
}

// containedWords are what a gate says of the box that the program of a call runs in,
// and of what the box leaves open.
var containedWords = map[plan.Containment]string{
	plan.ContainedFiles:   "; contained: changes only this folder or its copy, but can use the network and read your files",
	plan.ContainedOffline: "; contained: changes only this folder or its copy, no network",
}

// ChangedTool is the heading of what a server has changed.
const ChangedTool = "the tool has changed, from - to +"

// AlwaysOff says why a gate offers no rule for every later call.
func AlwaysOff(g event.GateRequested) string {
	return `"always" is off: ` + g.NoAlways.Visible()
}

// SourceWords sums up on one line where the text of a call comes from. It returns ""
// if all of it comes from the user and the plan.
func SourceWords(from []rule.Provenance, tools plan.Catalog) string {
	mentions, results, written := groupText(from)
	var parts []string
	for _, r := range results {
		switch {
		case !computed(r.from, tools):
			parts = append(parts, "arguments include output of "+sourceStep(r.from))
		case r.words:
			parts = append(parts, "computed by "+sourceStep(r.from)+", matched by name only")
		default:
			parts = append(parts, "computed by "+sourceStep(r.from))
		}
	}
	if words := decidingWords(from, sourceStep); words != "" {
		parts = append(parts, words)
	}
	var after []string
	for _, w := range written {
		for _, p := range w.after {
			if at := stepsAndRuns([]rule.Provenance{p}); !slices.Contains(after, at) {
				after = append(after, at)
			}
		}
	}
	var read []string
	if len(after) > 0 {
		read = append(read, english.Count(len(after), "result"))
	}
	for _, p := range mentions {
		if name := untrusted.Line(p.Mention); !slices.Contains(read, name) {
			read = append(read, name)
		}
	}
	if len(read) > 0 {
		parts = append(parts, "written by the model after reading "+english.List(read, "and"))
	}
	return strings.Join(parts, "; ")
}

// sourceStep names the step that produced a text.
func sourceStep(p rule.Provenance) string {
	var words []string
	if p.Step != "" {
		words = append(words, StepWords(p.Step))
	}
	if p.Tool != "" {
		words = append(words, "("+untrusted.Line(p.Tool)+")")
	}
	if p.Run != "" {
		words = append(words, "of run "+untrusted.Line(ShortID(p.Run)))
	}
	return strings.Join(words, " ")
}

// commands are the operators whose arguments become commands.
var commands = []string{"proc.run", "test.run", "test.lint", "vcs.push", "vcs.branch"}

// Warning says how untrusted text of a call can do harm. It does in a command, in a path
// that the goal does not name, or on another server. It returns "" if it cannot.
func Warning(g event.GateRequested, tools plan.Catalog, goal string) string {
	from := slices.DeleteFunc(slices.Clone(g.Provenance), func(p rule.Provenance) bool { return computed(p, tools) })
	if len(from) == 0 {
		return ""
	}
	switch {
	case !slices.ContainsFunc(from, func(p rule.Provenance) bool { return !p.Decides }):
		return "untrusted text decides whether it is called"
	case !g.Trusted:
		return fmt.Sprintf("untrusted text goes to the server %s", untrusted.Line(g.Server))
	case slices.Contains(commands, g.Tool):
		return "untrusted text becomes part of a command"
	}
	if strange := strangePath(g, from, goal); strange != "" {
		return "untrusted text chose the path " + untrusted.Line(strange) + ", which your goal does not name"
	}
	return ""
}

// pathArgs are the arguments of the workspace's operators that hold paths.
var pathArgs = []string{"path", "from", "to", "dir", "paths", "diff"}

// fileName matches a word of a goal that names a file or a folder.
var fileName = lazyregexp.New(`[\w-]/|[\w-]\.[a-zA-Z]\w{0,4}\b`)

// strangePath returns a path that untrusted text chose although the goal names other
// files, or that a result holds word for word.
func strangePath(g event.GateRequested, from []rule.Provenance, goal string) string {
	names := fileName.MatchString(goal)
	for _, p := range from {
		for _, name := range pathArgs {
			if p.Decides || p.Arg != "" && p.Arg != name || p.Written && !names || p.Mention != "" && !names {
				continue
			}
			for _, at := range pathsIn(g, name) {
				if at != "" && !strings.Contains(goal, path.Base(path.Clean(at))) && !underNamed(goal, at) {
					return at
				}
			}
		}
	}
	return ""
}

// pathsIn returns the paths in an argument, for a diff those of its files.
func pathsIn(g event.GateRequested, arg string) []string {
	text, ok := g.Args[arg].(string)
	switch {
	case ok && arg == "diff":
		return slices.Sorted(maps.Keys(g.Hashes))
	case ok:
		return []string{text}
	default:
		return texts(g.Args[arg])
	}
}

// underNamed reports whether the goal names a folder above a path.
func underNamed(goal, at string) bool {
	for dir := path.Dir(path.Clean(at)); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if strings.Contains(goal, dir+"/") || strings.HasSuffix(goal, dir) {
			return true
		}
	}
	return false
}
