package intent

import (
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/testfile"
)

// composed are the answers that are more than the results of one operator; none where the
// results speak for themselves.
func (a answerer) composed() []string {
	switch {
	case a.in.Action == dependencies:
		return a.needs()
	case a.in.Action == countLines:
		return a.counted()
	case a.in.Action == build && a.in.Params["how"] != "" && len(a.of("fs.read")) > 0:
		return []string{"Build it with " + code(a.in.Params["command"]) + ", as " + code(a.in.Target) + " says. To run it, type `build`."}
	case a.in.Action == explain:
		return a.misspelled()
	case a.in.Action == debug:
		return a.notFailing()
	default:
		return nil
	}
}

// misspelled adds the names that are similar to one that nothing declares.
func (a answerer) misspelled() []string {
	defined := a.of("code.definition")
	if len(defined) == 0 || len(a.of("code.summarize")) == 0 {
		return nil
	}
	r := resultOf(defined[0].Result)
	if len(r.Definitions) > 0 || r.Note == "" {
		return nil
	}
	return append(a.summary(a.result("code.summarize")), r.note())
}

// notFailing says of tests that pass that they do not fail; none if there is more to say.
func (a answerer) notFailing() []string {
	r := a.result(runTests)
	uses := a.of("code.references")
	switch {
	case len(uses) > 0 && len(a.of(runTests)) == 0:
		return append(a.references(resultOf(uses[0].Result)), "No test has its name.")
	case !r.Passed || r.untested():
		return nil
	case reportedByTests(a.in.Target) || a.in.Target == "":
		return []string{"No test fails" + passing(r.OK) + "."}
	case len(uses) > 0:
		return append([]string{a.testsPass(r.OK)}, a.references(resultOf(uses[0].Result))...)
	case shapeOf(a.in.Target) == aTest:
		return []string{a.about() + " does not fail" + passing(r.OK) + "."}
	default:
		return []string{"No test of " + a.about() + " fails" + passing(r.OK) + "."}
	}
}

// testsPass says that the tests of the target pass; n is their number, 0 if it is not known.
func (a answerer) testsPass(n int) string {
	if n == 0 {
		return "The tests of " + a.about() + " pass."
	}
	return english.Count(n, "test") + " of " + a.about() + english.Agree(n, " passes", " pass") + "."
}

// passing counts the tests that pass, in a clause.
func passing(n int) string {
	if n == 0 {
		return ""
	}
	return ": " + english.Count(n, "test") + english.Agree(n, " passes", " pass")
}

// counted adds up the lines of code of all languages.
func (a answerer) counted() []string {
	type language struct {
		name         string
		lines, files int
	}
	var all []language
	total := language{}
	for _, item := range a.of("fs.search") {
		r := resultOf(item.Result)
		glob, _ := item.Args["glob"].(string)
		l := language{strings.TrimPrefix(glob, "*"), r.Total, max(r.Files.count, len(r.Files.list))}
		total.lines, total.files = total.lines+l.lines, total.files+l.files
		if l.lines > 0 {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(x, y language) int { return y.lines - x.lines })
	text := english.Count(total.lines, "line") + prefixed(" in ", code(a.in.Params["in"]))
	if a.in.Params["in"] == "" || path.Ext(a.in.Params["in"]) == "" {
		text = english.Count(total.lines, "line") + " of code in " + english.Count(total.files, "file") + prefixed(" of ", code(a.in.Params["in"]))
	}
	parts := []string{text + ", not counting blank ones."}
	if len(all) > 1 {
		parts = append(parts, rows(all, 0, "language", func(l language) string {
			return code(l.name) + ": " + english.Count(l.lines, "line") + " in " + english.Count(l.files, "file")
		}))
	}
	return parts
}

// covering lists the tests that mention a name.
func (a answerer) covering(r result, name string) []string {
	var tests []item
	for _, use := range r.References {
		inTest := testfile.Is(path.Base(use.Path)) || slices.Contains([]string{"test", "tests", "__tests__", "spec"}, strings.SplitN(use.Path, "/", 2)[0]) || strings.Contains(use.Path, "/test/") || strings.Contains(use.Path, "/tests/") ||
			strings.Contains(strings.ToLower(use.In), "test")
		same := slices.ContainsFunc(tests, func(t item) bool { return t.Path == use.Path && t.In == use.In && use.In != "" })
		if inTest && !use.Definition && !same {
			tests = append(tests, use)
		}
	}
	if len(tests) == 0 {
		return []string{r.searched("No test mentions "+name, "No test that mentions "+name), r.note()}
	}
	head := english.Count(len(tests), "test") + english.Agree(len(tests), " mentions ", " mention ") + name + in(tests) + matchedBy[r.By] + ":"
	list := placed(tests, len(tests), "test", func(i item) string {
		if i.In != "" {
			return code(i.In)
		}
		return code(i.Text)
	})
	return append([]string{head, list}, r.ended()...)
}

// withMethods says that a list of functions holds methods, too; "" if it does not.
func withMethods(kinds []string, symbols []item) string {
	if slices.Contains(kinds, "function") && slices.ContainsFunc(symbols, func(s item) bool { return s.Kind == "method" || s.Kind == "constructor" }) {
		return " (methods included)"
	}
	return ""
}

// ran shows the last lines that a program wrote.
func (answerer) ran(r result) []string {
	output := strings.TrimRight(r.Output, "\n")
	head := code(r.Command) + " ended"
	if strings.TrimSpace(output) == "" {
		return []string{head + " and wrote nothing."}
	}
	lines := strings.Split(output, "\n")
	if left := len(lines) - maxTail; left > 0 {
		return []string{head + ". Its last lines, after " + english.Count(left, "other") + ":", fence("text", strings.Join(lines[left:], "\n"))}
	}
	return []string{head + ":", fence("text", strings.Join(lines, "\n"))}
}
