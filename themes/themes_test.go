package themes

import (
	"reflect"
	"strings"
	"testing"

	"charm.land/glamour/v2"
	"charm.land/lipgloss/v2"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Name{"": Auto, "auto": Auto, " Dark ": Dark, "LIGHT": Light} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("%q is %q, %v", in, got, err)
		}
	}
	if n, err := Parse("color-blind-dark"); err != nil || n != ColourBlindDark {
		t.Errorf("spelt without u it is %q, %v", n, err)
	}
	_, err := Parse("pink")
	if err == nil {
		t.Fatal("there is no pink theme")
	}
	for _, n := range (*Set)(nil).Names() {
		if !strings.Contains(err.Error(), string(n)) {
			t.Errorf("the error does not name %s: %v", n, err)
		}
	}
}

func TestAutoFollowsTheBackgroundAndTheOthersDoNot(t *testing.T) {
	for _, c := range []struct {
		name       Name
		background bool
		want       bool
	}{{Auto, true, true}, {Auto, false, false}, {Dark, false, true}, {Light, true, false}} {
		if got := New(c.name, c.background, Mode{}).Dark; got != c.want {
			t.Errorf("%s on a dark background (%v) is dark: %v", c.name, c.background, got)
		}
	}
}

func TestNoStateIsToldByColourAlone(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": UnicodeGlyphs(), "ascii": ASCIIGlyphs()} {
		seen := map[string]string{}
		for what, glyph := range map[string]string{
			"done": g.Done, "failed": g.Failed, "pending": g.Pending, "gate": g.Gate, "skipped": g.Skipped, "doubt": g.Doubt, "stopped": g.Stopped, "drafting": g.Draft, "ready": g.Ready, "retry": g.Retry, "running": g.Spinner[0], "running where nothing moves": g.Still,
		} {
			if other, ok := seen[glyph]; ok {
				t.Errorf("%s: %s and %s are both %q", name, what, other, glyph)
			}
			seen[glyph] = what
		}
		if g.Added == g.Removed || g.Added == g.Revised || g.Removed == g.Revised {
			t.Errorf("%s: marks of a revision are alike", name)
		}
	}
}

func TestASCIIGlyphsAreASCII(t *testing.T) {
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			for _, r := range v.String() {
				if r > 0x7E || r < 0x20 {
					t.Errorf("%q is not ASCII", v.String())
				}
			}
		case reflect.Struct:
			for i := range v.NumField() {
				look(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		}
	}
	look(reflect.ValueOf(ASCIIGlyphs()))
}

func TestEveryThemeRendersMarkdown(t *testing.T) {
	for _, name := range (*Set)(nil).Names() {
		for _, mode := range []Mode{{}, {ASCII: true}, {NoColor: true}, {Depth: Colours256}, {Depth: Colours16}} {
			r, err := glamour.NewTermRenderer(glamour.WithStyles(New(name, true, mode).Markdown()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Render("# a\n\n- b `c`\n\n```go\nx := 1\n```\n"); err != nil {
				t.Errorf("%s %+v: %v", name, mode, err)
			}
		}
	}
}

func TestTheSelectionCanBeSeen(t *testing.T) {
	for _, c := range []struct {
		name     string
		theme    Name
		mode     Mode
		reversed bool
	}{
		{"as a background where there are colours", Dark, Mode{}, false},
		{"in reverse where there are none", Dark, Mode{NoColor: true}, true},
		{"in reverse where there are 16", Dark, Mode{Depth: Colours16}, true},
		{"in reverse in mono", Mono, Mode{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(c.theme, true, c.mode).Styles
			for what, style := range map[string]lipgloss.Style{"selected": s.Selected(s.Danger), "found": s.Matched(s.Faint)} {
				if style.GetReverse() != c.reversed || style.GetFaint() {
					t.Errorf("what is %s is reversed: %v, faint: %v", what, style.GetReverse(), style.GetFaint())
				}
				if _, none := style.GetForeground().(lipgloss.NoColor); c.reversed && !none {
					t.Errorf("what is %s has patches of colour", what)
				}
			}
		})
	}
}

func TestTheBackgroundIsTheThemesOwn(t *testing.T) {
	for _, c := range []struct {
		name  string
		theme Name
		dark  bool
		mode  Mode
		set   bool
	}{
		{"in a theme made for it", Harbour, true, Mode{Known: true}, true},
		{"not where the terminal has not told its own", Harbour, true, Mode{}, false},
		{"not in the plain dark one", Dark, true, Mode{Known: true}, false},
		{"in that where the terminal is light", Dark, false, Mode{Known: true}, true},
		{"in the plain light one where it is dark", Light, true, Mode{Known: true}, true},
		{"never where the terminal is followed", Auto, false, Mode{Known: true}, false},
		{"not without colours", Harbour, true, Mode{NoColor: true, Known: true}, false},
		{"not with 16 colours", Harbour, true, Mode{Depth: Colours16, Known: true}, false},
		{"not in mono", Mono, false, Mode{Known: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			theme := New(c.theme, c.dark, c.mode)
			if (theme.Ground != nil) != c.set || (theme.Text != nil) != c.set {
				t.Errorf("background %v, text %v", theme.Ground, theme.Text)
			}
		})
	}
}

func TestWhereNothingMovesWhatRunsHasOneSign(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		if g := New(Dark, true, Mode{Still: true, ASCII: ascii}).Glyphs; len(g.Spinner) != 1 || g.Spinner[0] != g.Still {
			t.Errorf("%q", g.Spinner)
		}
	}
}
