package wording

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"replan/agent"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Shown is a result as people want to see it: the thing itself, and what else is known
// about it. At most one of Words, Output, Diff, Table and Lines is there.
type Shown struct {
	Words  string       // Markdown
	Tests  *TestOutcome // of a test run, above its output
	Output string       // of a program; its end says most
	Silent bool         // it is of a program that wrote nothing
	Diff   string       // unified
	Table  Table
	Lines  []string // places in files, or values
	Facts  []string // short members: "exit 0", "0.2s", "truncated"
	Denied []string // what does not hold: "not timed out"

	rest map[string]any
}

// TestOutcome is how a test run ended.
type TestOutcome struct {
	Passed   bool
	Summary  string
	Failures []string // lines
}

// Known reports whether it is known what the result is about.
func (s Shown) Known() bool {
	return s.Tests != nil || s.Words != "" || s.Output != "" || s.Silent || s.Diff != "" || len(s.Table.Rows) > 0 || len(s.Lines) > 0
}

// OutputLines returns the lines of the output, without blank ones at its ends.
func (s Shown) OutputLines() []string { return OutputLines(s.Output) }

// Rest returns the members of the result that are long and shown nowhere else.
func (s Shown) Rest() map[string]any { return s.rest }

// OutputLines splits the output of a program into lines, without blank ones at its ends.
func OutputLines(output string) []string {
	if strings.TrimSpace(output) == "" {
		return nil
	}
	output = strings.ReplaceAll(strings.TrimLeft(strings.TrimRight(output, " \r\n"), "\r\n"), "\r\n", "\n")
	return strings.Split(output, "\n")
}

// LastLines returns the last lines of an output, and how many are before them, in words. A single
// earlier line takes the place of these words.
func LastLines(lines []string, most int) (earlier string, last []string) {
	if more := len(lines) - most; more > 1 {
		return english.Count(more, "earlier line"), lines[more:]
	}
	return "", lines
}

// ShownOf says what the result of a completed step is about.
func ShownOf(s *agent.StepState) Shown {
	result := s.Result
	if text, ok := result.(string); ok {
		if table := tableOfText(s, text); len(table.Rows) > 0 {
			return Shown{Table: table}
		}
		if result = jsonList(text); result == nil {
			return Shown{}
		}
	}
	switch r := result.(type) {
	case []any:
		if table := TableOf(r); len(table.Rows) > 0 {
			return Shown{Table: table}
		}
		return Shown{Lines: scalarLines(r)}
	case map[string]any:
		if _, _, files := plan.FilesOf(r); files {
			return Shown{}
		}
		return shownMembers(s, r)
	default:
		return Shown{}
	}
}

// shownMembers says what a result with members is about.
func shownMembers(s *agent.StepState, r map[string]any) Shown {
	var shown Shown
	rest := maps.Clone(r)
	text := func(name string) string {
		written, _ := r[name].(string)
		return written
	}
	diff := cmp.Or(text("diff"), text("patch"), s.Diff)
	listed, lines, table := firstList(r)
	switch {
	case isTestRun(r):
		shown.Tests = &TestOutcome{Passed: r["passed"] == true, Summary: strings.TrimSpace(text("summary")), Failures: failureLines(r["failures"])}
		if failed, _ := r["failed"].([]any); len(shown.Tests.Failures) == 0 {
			shown.Tests.Failures = scalarLines(failed)
		}
		shown.Output = text("output")
		drop(rest, "summary", "passed", "failed", "failures", "output")
	case strings.Contains(strings.TrimSpace(text("summary")), "\n"):
		shown.Words = text("summary")
		delete(rest, "summary")
	case strings.TrimSpace(diff) != "":
		shown.Diff = diff
		drop(rest, "diff", "patch")
	case r["output"] != nil || r["stdout"] != nil:
		var parts []string
		for _, name := range []string{"output", "stdout", "stderr"} {
			if part, ok := r[name].(string); ok {
				parts = append(parts, strings.TrimRight(part, "\n"))
				delete(rest, name)
			}
		}
		shown.Output = strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
		shown.Silent = strings.TrimSpace(shown.Output) == ""
	case listed != "":
		shown.Lines, shown.Table = lines, table
		delete(rest, listed)
	}
	if !shown.Known() {
		return Shown{}
	}
	shown.addFacts(rest)
	return shown
}

func drop(members map[string]any, names ...string) {
	for _, name := range names {
		delete(members, name)
	}
}

// firstList returns the name of the first member, by name, that is a list of places or of
// objects with the same members. Those with a noun of their own come first.
func firstList(r map[string]any) (name string, lines []string, table Table) {
	names := slices.Sorted(maps.Keys(r))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(nounless(a), nounless(b)) })
	for _, name := range names {
		list, _ := r[name].([]any)
		if lines := placeLines(list); len(lines) > 0 {
			return name, lines, Table{}
		}
		if table := TableOf(list); len(table.Rows) > 0 {
			return name, nil, table
		}
		if lines := placesOf(list); len(lines) > 0 {
			return name, lines, Table{}
		}
	}
	return "", nil, Table{}
}

// nounless returns 1 for a member whose items have no noun, else 0.
func nounless(name string) int {
	for _, c := range counted {
		if c.member == name {
			return 0
		}
	}
	return 1
}

// placeLines formats a list of lines in files. It returns nothing if any item is something else.
func placeLines(list []any) []string {
	for _, v := range list {
		item, _ := v.(map[string]any)
		if _, isText := item["text"].(string); !isText {
			return nil
		}
	}
	return placesOf(list)
}

// scalarLines formats a list of values, one per line. It returns nothing if any is an object or a list.
func scalarLines(list []any) (lines []string) {
	for _, v := range list {
		switch v.(type) {
		case map[string]any, []any:
			return nil
		}
		lines = append(lines, cellText(v))
	}
	return lines
}

// addFacts says the short ones of the members in words, and keeps the others as the rest. Those without a value are left out.
func (s *Shown) addFacts(members map[string]any) {
	const long = 48 // of a text, in bytes
	s.rest = map[string]any{}
	names := slices.Sorted(maps.Keys(members))
	slices.SortStableFunc(names, func(a, b string) int { return factRank(a, members[a]) - factRank(b, members[b]) })
	for _, name := range names {
		said := untrusted.Line(strings.ReplaceAll(name, "_", " "))
		switch v := members[name].(type) {
		case nil:
		case bool:
			if v {
				s.Facts = append(s.Facts, said)
			} else {
				s.Denied = append(s.Denied, "not "+said)
			}
		case string:
			switch {
			case v == "":
			case len(v) > long || strings.Contains(v, "\n"):
				s.rest[name] = v
			default:
				s.Facts = append(s.Facts, said+" "+untrusted.Line(v))
			}
		case []any:
			if len(v) > 0 {
				s.rest[name] = v
			}
		case map[string]any:
			if len(v) > 0 {
				s.rest[name] = v
			}
		default:
			if ms, ok := whole(v); ok && strings.HasSuffix(name, "_ms") {
				s.Facts = append(s.Facts, Milliseconds(ms))
			} else {
				s.Facts = append(s.Facts, said+" "+cellText(v))
			}
		}
	}
}

// factRank orders facts: numbers, then texts, then what holds or does not.
func factRank(name string, value any) int {
	switch value.(type) {
	case string:
		return 2
	case bool:
		return 3
	}
	if strings.HasPrefix(name, "exit") {
		return 0
	}
	return 1
}

// whole returns a number of a result as an integer.
func whole(value any) (int64, bool) {
	switch n := value.(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case float64:
		return int64(n), n == float64(int64(n))
	case int:
		return int64(n), true
	case int64:
		return n, true
	default:
		return 0, false
	}
}

// cellText formats a value on one line: text as it is, else JSON.
func cellText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return untrusted.Line(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return untrusted.Line(JSONText(v, ""))
	}
}

// tableOfText returns the table that a file of comma- or tab-separated values holds, if the step read one.
func tableOfText(s *agent.StepState, text string) Table {
	file, _ := CallArgs(s)["path"].(string)
	switch strings.ToLower(path.Ext(file)) {
	case ".csv":
		return separatedTable(text, ',')
	case ".tsv":
		return separatedTable(text, '\t')
	default:
		return Table{}
	}
}
