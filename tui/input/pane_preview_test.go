package input

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// mentioning returns an input in which the first of these names is selected, and the number of
// files that it asked for.
func mentioning(names ...session.Completion) (p *Pane, asked int) {
	now := time.Unix(1000, 0)
	p = newPane(&now)
	types(p, "see @")
	w := p.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: session.CompleteMentions, Items: names}})
	return p, len(keymap.Of[keymap.Query](w))
}

func drawnList(p *Pane, height, width, most int) string {
	return ansi.Strip(strings.Join(p.ListLines(height, width, most), "\n"))
}

func TestSelectedFileIsPreviewedWhereThereIsRoom(t *testing.T) {
	p, asked := mentioning(session.Completion{Text: "a.go"}, session.Completion{Text: "b.go"}, session.Completion{Text: "sub/", Folder: true})
	if asked != 1 {
		t.Errorf("%d files are asked for", asked)
	}
	if got := drawnList(p, 20, 80, 118); strings.Contains(got, "╭─ a.go") {
		t.Errorf("an unread file is shown:\n%s", got)
	}
	p.Update(keymap.FileMsg{Name: "a.go", Head: session.FileHead{Whole: true, Text: untrusted.Text("package a\n\nfunc A() {\n\treturn\x1b[31m\n}\n" + strings.Repeat("more\n", 40))}})
	beside := drawnList(p, 20, 80, 118)
	for _, want := range []string{"╮╭─ a.go ─", "│ package a", "│     return", "a.go"} {
		if !strings.Contains(beside, want) {
			t.Errorf("%q is not in\n%s", want, beside)
		}
	}
	for _, line := range strings.Split(beside, "\n") {
		if w := draw.VisibleWidth(line); w > 118 || w != draw.VisibleWidth(strings.Split(beside, "\n")[0]) {
			t.Errorf("a line has %d cells: %s", w, line)
		}
	}
	if lines := strings.Count(beside, "\n") + 1; lines != previewLines+2 || p.ListWidth() != narrowest {
		t.Errorf("%d lines, a list of %d cells:\n%s", lines, p.ListWidth(), beside)
	}
	below := drawnList(p, 18, 80, 80)
	if !strings.Contains(below, "├─ a.go ─") || !strings.Contains(below, "│ package a") || p.ListWidth() != 80 {
		t.Errorf("below:\n%s", below)
	}
	if got := drawnList(p, 9, 80, 80); strings.Contains(got, "package a") {
		t.Errorf("on a low screen:\n%s", got)
	}
	if _, taken := p.ClickList(p.completer.FirstLine() + 5); taken {
		t.Error("a click beside the rows takes one")
	}

	down := func() keymap.Requests { return p.Mode().Actions["list.down"].Do() }
	if n := len(keymap.Of[keymap.Query](down())); n != 1 {
		t.Errorf("the next file is asked for %d times", n)
	}
	if n := len(keymap.Of[keymap.Query](down())); n != 0 {
		t.Errorf("a folder is asked for %d times", n)
	}
	if n := len(keymap.Of[keymap.Query](p.Mode().Actions["list.up"].Do())); n != 0 {
		t.Errorf("a file is asked for again, %d times", n)
	}
}

func TestFileThatIsNoTextHasNoPreview(t *testing.T) {
	for name, f := range map[string]keymap.FileMsg{
		"binary": {Name: "a", Err: session.ErrClosed},
		"large":  {Name: "a", Head: session.FileHead{Text: "the beginning"}},
		"empty":  {Name: "a", Head: session.FileHead{Text: " \n", Whole: true}},
	} {
		p, _ := mentioning(session.Completion{Text: "a"})
		p.Update(f)
		if got := drawnList(p, 20, 80, 118); strings.Count(got, "╭") != 1 {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	p, asked := mentioning(session.Completion{Text: "docs:note://1"})
	if asked != 0 {
		t.Error("a resource of a server is read")
	}
	if p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"}); p.Listing() {
		t.Error("nothing matches, and it is listed")
	}
}
