package themes

import (
	"image/color"
	"math"
	"reflect"
	"testing"

	"charm.land/glamour/v2"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Name{"": Auto, "auto": Auto, " Dark ": Dark, "LIGHT": Light} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("%q is %q, %v", in, got, err)
		}
	}
	if _, err := Parse("pink"); err == nil {
		t.Error("there is no pink theme")
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

// luminance is the relative luminance of WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	part := func(v uint32) float64 {
		f := float64(v) / 0xFFFF
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func TestEveryColourCanBeRead(t *testing.T) {
	grounds := map[string][]color.Color{
		"dark":  {color.RGBA{A: 255}, color.RGBA{R: 0x1E, G: 0x1E, B: 0x1E, A: 255}},
		"light": {color.RGBA{R: 255, G: 255, B: 255, A: 255}, color.RGBA{R: 0xFA, G: 0xFA, B: 0xF5, A: 255}},
	}
	for name, p := range map[string]Palette{"dark": DarkPalette(), "light": LightPalette()} {
		v := reflect.ValueOf(p)
		for i := range v.NumField() {
			field := v.Type().Field(i).Name
			c, ok := v.Field(i).Interface().(color.Color)
			if !ok {
				continue // the terminal's own
			}
			least := 4.5
			switch field {
			case "Faint":
				least = 4 // nothing that must be read
			case "Border", "Selection":
				least = 1.05
			case "Focus":
				least = 3
			}
			for _, ground := range grounds[name] {
				if got := contrast(c, ground); got < least {
					t.Errorf("%s %s has a contrast of %.2f, at least %.2f are wanted", name, field, got, least)
				}
			}
			if field != "Selection" && field != "Border" && field != "Faint" {
				if got := contrast(c, p.Selection); got < 3 {
					t.Errorf("%s %s on the selection has a contrast of %.2f", name, field, got)
				}
			}
		}
	}
}

func TestNoStateIsToldByColourAlone(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": UnicodeGlyphs(), "ascii": ASCIIGlyphs()} {
		seen := map[string]string{}
		for what, glyph := range map[string]string{
			"done": g.Done, "failed": g.Failed, "pending": g.Pending, "gate": g.Gate, "skipped": g.Skipped, "doubt": g.Doubt, "stopped": g.Stopped, "running": g.Spinner[0],
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
	for _, name := range []Name{Dark, Light} {
		for _, mode := range []Mode{{}, {ASCII: true}, {NoColor: true}} {
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

func TestWithoutColoursTheSelectionIsReversed(t *testing.T) {
	plain := New(Dark, true, Mode{NoColor: true}).Styles
	if !plain.Selected(plain.Text).GetReverse() {
		t.Error("the selection cannot be seen")
	}
	coloured := New(Dark, true, Mode{}).Styles
	if coloured.Selected(coloured.Text).GetReverse() {
		t.Error("the selection shouts")
	}
}
