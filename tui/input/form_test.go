package input

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"replan/agent/session"
	"replan/tui/draw"
	"replan/tui/keymap"
)

func TestFormOfACommandIsShownWhileItsArgumentIsTyped(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	types(p, "/")
	p.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: session.CompleteCommands, Items: []session.Completion{
		{Text: "/steer", Usage: "TEXT", Detail: "Send a text to the current run"},
		{Text: "/help", Detail: "List the commands"},
		{Text: "/think", Usage: "LEVEL", Detail: "Set how hard the model thinks"},
		{Text: "/think low"},
		{Text: "/think high"},
	}}})
	shown := func() string { return strings.TrimSpace(ansi.Strip(strings.Join(p.ListLines(10, 70, 70), "\n"))) }
	p.Clear()
	types(p, "/steer look at")
	if got := shown(); got != "/steer TEXT  Send a text to the current run" || p.Listing() {
		t.Errorf("free text shows %q, listing %v", got, p.Listing())
	}
	p.Clear()
	types(p, "/help ")
	if got := shown(); got != "" {
		t.Errorf("a command without arguments shows %q", got)
	}
	p.Clear()
	types(p, "/think ")
	if got := shown(); !strings.Contains(got, "╭─ /think LEVEL ─") || !strings.Contains(got, "/think high") {
		t.Errorf("values are shown as\n%s", got)
	}
	p.Clear()
	types(p, "steer look at")
	if got := shown(); got != "" {
		t.Errorf("a goal shows %q", got)
	}
}

func TestListIsAsWideAsItsRowsNeed(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPane(&now)
	types(p, "/")
	detail := strings.Repeat("word ", 20)
	p.Update(keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: session.CompleteCommands, Items: []session.Completion{{Text: "/long", Detail: "A"}, {Text: "/wide", Detail: "B"}}}})
	p.Clear()
	types(p, "/")
	if got := draw.VisibleWidth(p.ListLines(10, 40, 100)[0]); got != 40 || p.ListWidth() != 40 {
		t.Errorf("short rows take %d cells, %d", got, p.ListWidth())
	}
	p.completer.rows[0].Detail = detail
	for most, want := range map[int]int{200: len("/long") + len(detail) + 7, 100: 100, 60: 60} {
		lines := p.ListLines(10, 40, most)
		if got := draw.VisibleWidth(lines[1]); got != want || p.ListWidth() != want {
			t.Errorf("at most %d: %d cells, %d", most, got, p.ListWidth())
		}
		if whole := strings.Contains(ansi.Strip(lines[1]), strings.TrimSpace(detail)); whole != (most == 200) {
			t.Errorf("at most %d: %s", most, ansi.Strip(lines[1]))
		}
	}
}
