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
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	for _, spelling := range []string{"color-blind-dark", "colour-blind-dark"} {
		if n, err := Parse(spelling); err != nil || n != "color-blind-dark" {
			t.Errorf("%s: got %q, %v", spelling, n, err)
		}
	}
	_, err := Parse("pink")
	if err == nil {
		t.Fatal("got no error for an unknown theme")
	}
	for _, n := range (*Set)(nil).Names() {
		if !strings.Contains(err.Error(), string(n)) {
			t.Errorf("the error does not name %s: %v", n, err)
		}
	}
}

func TestOnlyAutoFollowsTheBackground(t *testing.T) {
	for _, c := range []struct {
		name       Name
		background bool
		want       bool
	}{{Auto, true, true}, {Auto, false, false}, {Dark, false, true}, {Light, true, false}} {
		if got := new(Set).New(c.name, c.background, Mode{}).Dark; got != c.want {
			t.Errorf("%s, dark background %v: got dark %v", c.name, c.background, got)
		}
	}
}

func TestStatesDifferInGlyphs(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": UnicodeGlyphs(), "ascii": ASCIIGlyphs()} {
		seen := map[string]string{}
		for state, glyph := range map[string]string{
			"done": g.Done, "failed": g.Failed, "pending": g.Pending, "gate": g.Gate, "skipped": g.Skipped, "doubt": g.Doubt, "stopped": g.Stopped, "claimed": g.Claimed, "unchecked": g.Unchecked, "drafting": g.Draft, "ready": g.Ready, "retry": g.Retry, "running": g.Spinner[0], "running without motion": g.Still,
		} {
			if other, ok := seen[glyph]; ok {
				t.Errorf("%s: %s and %s are both %q", name, state, other, glyph)
			}
			seen[glyph] = state
		}
		for fold, glyph := range map[string]string{"collapsed": g.Folded, "expanded": g.Unfolded} {
			if state, ok := seen[glyph]; ok {
				t.Errorf("%s: %s and %s are both %q", name, state, fold, glyph)
			}
		}
		if g.Guide == g.Border.Left && name == "ascii" {
			t.Errorf("%s: the border of a pane and a guide beside it are both %q", name, g.Guide)
		}
		if g.Added == g.Removed || g.Added == g.Revised || g.Removed == g.Revised {
			t.Errorf("%s: got equal marks of a revision", name)
		}
	}
}

func TestASCIIGlyphsAreASCII(t *testing.T) {
	var check func(v reflect.Value)
	check = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			for _, r := range v.String() {
				if r > 0x7E || r < 0x20 {
					t.Errorf("%q is not ASCII", v.String())
				}
			}
		case reflect.Struct:
			for i := range v.NumField() {
				check(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				check(v.Index(i))
			}
		}
	}
	check(reflect.ValueOf(ASCIIGlyphs()))
}

func TestThemesRenderMarkdown(t *testing.T) {
	for _, name := range (*Set)(nil).Names() {
		for _, mode := range []Mode{{}, {ASCII: true}, {NoColor: true}, {Depth: Colors256}, {Depth: Colors16}} {
			r, err := glamour.NewTermRenderer(glamour.WithStyles(new(Set).New(name, true, mode).Markdown()))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Render("# a\n\n- b `c`\n\n```go\nx := 1\n```\n"); err != nil {
				t.Errorf("%s %+v: %v", name, mode, err)
			}
		}
	}
}

func TestSelectionIsVisible(t *testing.T) {
	for _, c := range []struct {
		name     string
		theme    Name
		mode     Mode
		reversed bool
	}{
		{"colors", Dark, Mode{}, false},
		{"no colors", Dark, Mode{NoColor: true}, true},
		{"16 colors", Dark, Mode{Depth: Colors16}, true},
		{"mono", Mono, Mode{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := new(Set).New(c.theme, true, c.mode).Styles
			for kind, style := range map[string]lipgloss.Style{"selected": s.Selected(s.Danger), "found": s.Matched(s.Faint)} {
				if style.GetReverse() != c.reversed || style.GetFaint() {
					t.Errorf("%s: got reversed %v, faint %v", kind, style.GetReverse(), style.GetFaint())
				}
				if _, none := style.GetForeground().(lipgloss.NoColor); c.reversed && !none {
					t.Errorf("%s: got a foreground color", kind)
				}
			}
		})
	}
}

func TestThemeSetsBackground(t *testing.T) {
	for _, c := range []struct {
		name  string
		theme Name
		dark  bool
		mode  Mode
		set   bool
	}{
		{"theme with a background", Harbor, true, Mode{Known: true}, true},
		{"unknown background of the terminal", Harbor, true, Mode{}, false},
		{"dark theme on dark", Dark, true, Mode{Known: true}, false},
		{"dark theme on light", Dark, false, Mode{Known: true}, true},
		{"light theme on dark", Light, true, Mode{Known: true}, true},
		{"auto", Auto, false, Mode{Known: true}, false},
		{"no colors", Harbor, true, Mode{NoColor: true, Known: true}, false},
		{"16 colors", Harbor, true, Mode{Depth: Colors16, Known: true}, false},
		{"mono", Mono, false, Mode{Known: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			theme := new(Set).New(c.theme, c.dark, c.mode)
			if (theme.Background != nil) != c.set || (theme.Text != nil) != c.set {
				t.Errorf("got background %v and text %v, want set %v", theme.Background, theme.Text, c.set)
			}
		})
	}
}

func TestReducedMotionHasStillSpinner(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		if g := new(Set).New(Dark, true, Mode{Still: true, ASCII: ascii}).Glyphs; len(g.Spinner) != 1 || g.Spinner[0] != g.Still {
			t.Errorf("got spinner %q, want %q", g.Spinner, g.Still)
		}
	}
}
