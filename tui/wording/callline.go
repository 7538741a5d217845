package wording

import (
	"maps"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// CallLine sums up the call of a gate on one line, for a list of gates. It shows its
// command, the files that it changes, or its arguments.
func CallLine(g event.GateRequested) string {
	if words := CallWords(g); words != "" {
		return untrusted.Line(strings.ReplaceAll(strings.TrimSpace(words), "\n", "  "))
	}
	if g.Diff != "" && len(g.Hashes) > 0 {
		return fileNames(slices.Collect(maps.Keys(g.Hashes)))
	}
	return ArgsLine(g.Args, g.Trusted)
}

// ArgsLine formats the arguments of a call on one line, short ones first. It counts
// the lines of longer texts. The call is trusted if its tool is the workspace's own.
func ArgsLine(args map[string]any, trusted bool) string {
	const long = 200 // bytes
	args = NamedFiles(args, trusted)
	names := slices.Sorted(maps.Keys(args))
	texts := make(map[string]string, len(args))
	for _, name := range names {
		words, _ := ValueText(args[name])
		if text, _ := args[name].(string); strings.Contains(strings.TrimSpace(text), "\n") {
			words = "(" + english.Count(strings.Count(strings.TrimSpace(text), "\n")+1, "line") + ")"
		} else if len(words) > long {
			words = strings.ToValidUTF8(words[:long], "")
		}
		texts[name] = untrusted.Line(name) + " " + untrusted.Line(words)
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(texts[a]) - len(texts[b]) })
	return strings.Join(mapped(names, func(name string) string { return texts[name] }), "  ")
}

// placeholder is a description shown in place of a value of the call.
type placeholder string

func (d placeholder) String() string { return string(d) }

// NamedFiles returns the arguments of a call as a person can judge them: the names
// of files stand for the hashes of their contents. Only the workspace's own tools
// are known to mean that; of other tools every value is shown.
func NamedFiles(args map[string]any, trusted bool) map[string]any {
	hashes, _ := args["hashes"].(map[string]any)
	if !trusted || len(hashes) == 0 {
		return args
	}
	out := maps.Clone(args)
	out["hashes"] = placeholder("of " + fileNames(slices.Collect(maps.Keys(hashes))))
	return out
}

// fileNames lists the names of files, and counts them if there are many.
func fileNames(names []string) string {
	const many = 4
	slices.Sort(names)
	list := strings.Join(mapped(names, untrusted.Line), ", ")
	if len(names) >= many {
		list = english.Count(len(names), "file") + ": " + list
	}
	return list
}
