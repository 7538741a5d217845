package ask

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/patch"
)

// renamed are names of the package that reads diffs: functions, types, fields,
// variables, constants and methods. More of them reach no more code.
var renamed = []string{
	"Parse", "Patch", "Line.Kind", "Line.Old", "Span.From", "hunkHead", "number", "nowhere", "likeness", "alignMost", "Patch.align", "Patch.count",
}

// diffReader returns the files of the package that reads diffs, as a module.
func diffReader(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{"go.mod": "module example.com/reader\n\ngo 1.24\n"}
	for _, name := range []string{"doc.go", "patch.go", "words.go"} {
		text, err := os.ReadFile(filepath.Join("..", "patch", name))
		if err != nil {
			t.Fatal(err)
		}
		files["patch/"+name] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	return files
}

// numberedRow matches a row of a unified diff, with numbers of so many digits.
func numberedRow(digits int) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`^│ ([ \d]{%d}) ([ \d]{%d}) ([ +-])(.*?) *│$`, digits, digits))
}

// TestRenamesOpenAtChangeWithRightNumbers renames names of a real package and looks at
// the gate of each on a terminal of 80x24.
func TestRenamesOpenAtChangeWithRightNumbers(t *testing.T) {
	files := diffReader(t)
	bench := workspacetest.New(t, workspace.Config{})
	bench.Write(t, files)
	for _, name := range renamed {
		change := workspacetest.Into[workspacetest.ChangeResult](t, bench.Must(t, "code.transform", workspacetest.Args{
			"kind": "rename", "symbol": name, "new_name": "renamedInTest",
		}).Data)
		preview := bench.Ask(t, "fs.patch", workspacetest.Args{"diff": change.Diff}, workspacetest.Preview)
		diff, _ := preview.Data["diff"].(string)
		if diff == "" {
			t.Fatalf("%s: no diff: %s", name, preview.Text)
		}
		g := New(panetest.DarkLook(), panetest.Keys(), draw.Pauses{})
		g.Set([]Request{OpenGate{Run: "r", Ask: event.GateRequested{
			Gate: name, Step: "1", Title: "Rename it", Tool: "fs.patch", Server: "workspace", Trusted: true, Diff: diff,
			Args: map[string]any{"diff": change.Diff}, Rule: rule.Rule{Tool: "*", When: rule.WhenDestructive, Source: rule.SourceBuiltIn},
		}}})
		g.Guard().Stop()
		body := draw.Rect{W: 80, H: 22} // a terminal of 24 lines without header and footer
		lines := patch.Parse(diff)
		first := slices.IndexFunc(lines.Lines, func(l patch.Line) bool { return l.Kind == patch.Removed || l.Kind == patch.Added })
		want := regexp.MustCompile(fmt.Sprintf(`(?m)^│ *%d +-\s*%s`, lines.Lines[first].Old, regexp.QuoteMeta(strings.Fields(lines.Lines[first].Text)[0])))
		if got := panetest.Stripped(show(g, body)); lines.Lines[first].Kind != patch.Removed || !want.MatchString(got) {
			t.Errorf("%s: the first changed line is not in view:\n%s", name, got)
		}
		row := numberedRow(len(strconv.Itoa(lines.Longest)))
		checkNumbers(t, name, files, row, show(g, draw.Rect{W: 80, H: 4000}))
	}
}

// checkNumbers compares the numbers of a drawn rename with the lines of its files: a
// rename neither adds nor removes lines.
func checkNumbers(t *testing.T, name string, files map[string]string, numbered *regexp.Regexp, drawn []string) {
	t.Helper()
	var lines []string
	checked := 0
	for row := range strings.SplitSeq(panetest.Stripped(drawn), "\n") {
		for path, text := range files {
			if strings.HasPrefix(row, "│ "+path+"  +") {
				lines = strings.Split(text, "\n")
			}
		}
		m := numbered.FindStringSubmatch(row)
		if m == nil || lines == nil {
			continue
		}
		before, _ := strconv.Atoi(strings.TrimSpace(m[1]))
		after, _ := strconv.Atoi(strings.TrimSpace(m[2]))
		number := max(before, after)
		if number == 0 {
			continue // it continues a long line
		}
		if m[3] == " " && before != after || m[3] == "+" && before != 0 || m[3] == "-" && after != 0 {
			t.Errorf("%s: the numbers %d and %d are wrong: %s", name, before, after, row)
		}
		if want := strings.Join(strings.Fields(lines[number-1]), " "); m[3] != "+" && !strings.HasPrefix(want, strings.Join(strings.Fields(m[4]), " ")) {
			t.Errorf("%s: line %d is %q, drawn %q", name, number, want, m[4])
		}
		checked++
	}
	if checked == 0 {
		t.Errorf("%s: no numbered line was drawn:\n%s", name, panetest.Stripped(drawn))
	}
}
