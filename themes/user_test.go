package themes

import (
	"image/color"
	"slices"
	"strings"
	"testing"

	"charm.land/glamour/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestUserTheme(t *testing.T) {
	const file = `about = "like the sea"
base = "harbour"

[colours]
accent = "#FF8800"
focus = "accent"
code = "muted"
faint = 8
border = 240
text = "default"

[basic]
accent = 3
`
	s := &Set{}
	if err := s.Add("Sea", []byte(file)); err != nil {
		t.Fatal(err)
	}
	if name, err := s.Parse("SEA"); err != nil || name != "sea" {
		t.Fatalf("got %q, %v; want sea", name, err)
	}
	theme := s.New("sea", false, Mode{})
	p, base := theme.Palette, harbor()
	for name, c := range map[string][2]color.Color{
		"RGB color":                       {p.Accent, hex(0xFF8800)},
		"other color of the theme":        {p.Focus, hex(0xFF8800)},
		"color of the base":               {p.Code, base.Muted},
		"terminal's 16 colors":            {p.Faint, ansi.BasicColor(8)},
		"terminal's 256 colors":           {p.Border, ansi.IndexedColor(240)},
		"terminal's default":              {p.Text, nil},
		"unset color":                     {p.Success, base.Success},
		"basic color":                     {s.New("sea", false, Mode{Depth: Colors16}).Palette.Accent, ansi.BasicColor(3)},
		"terminal's color with 16 colors": {s.New("sea", false, Mode{Depth: Colors16}).Palette.Faint, ansi.BasicColor(8)},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %v, want %v", name, c[0], c[1])
		}
	}
	if !theme.Dark || theme.Name != "sea" {
		t.Errorf("got name %s, dark %v", theme.Name, theme.Dark)
	}
	r, err := glamour.NewTermRenderer(glamour.WithStyles(theme.Markdown()), glamour.WithChromaFormatter(CodeFormatter))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Render("```go\nreturn x()\n```\n"); err != nil || !strings.Contains(out, ansi.Style{}.ForegroundColor(hex(0xFF8800)).String()+"x") {
		t.Errorf("got a code block without the theme's colors: %q, %v", out, err)
	}
}

func TestThemeErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"unknown key", "base = \"dark\"\ncolour = 1\n", "line 2: colour is no key"},
		{"unknown color", "\n[colours]\naccent = 1\nbackgruond = 2\n", "line 4: colours.backgruond is no color of a theme"},
		{"invalid color", "[colours]\ntext = 1\naccent = \"#12345\"\n", `line 3: colours.accent is "#12345"; it takes "#rrggbb"`},
		{"color name", "[colors]\naccent = \"pink\"\n", `line 2: colors.accent is "pink"`},
		{"number too high", "[colours]\naccent = 256\n", "line 2: colours.accent is the color 256"},
		{"number too high for 16 colors", "[basic]\naccent = 16\n", "line 2: basic.accent is the color 16: a terminal's own are 0 to 15"},
		{"RGB color for 16 colors", "[basic]\naccent = \"#ffffff\"\n", "line 2: basic.accent is"},
		{"circular reference", "[colours]\naccent = \"focus\"\nfocus = \"accent\"\n", "line 2: colours.accent leads in a circle: accent, focus, accent"},
		{"unknown base", "about = \"x\"\nbase = \"pink\"\n", `line 2: base: there is no theme "pink": choose auto, dark`},
		{"text as dark", "dark = \"yes\"\n", "line 1: dark takes true or false"},
		{"not TOML", "base = \"dark\n", "line 1:"},
		{"colors under both spellings", "[colours]\naccent = 1\n[colors]\naccent = 2\n", "line 3: put the colors into"},
		{"colors based on mono", "base = \"mono\"\n[colours]\naccent = 1\n", "line 2: a theme based on mono has no colors"},
		{"dotted key", "base = \"dark\"\ncolours.accent = \"no\"\n", "line 2: colours.accent"},
		{"list", "[colours]\naccent = [1]\n", "line 2:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Set{}
			err := s.Add("mine", []byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %s", err, c.want)
			}
			if slices.Contains(s.Names(), "mine") {
				t.Error("the invalid theme was added")
			}
		})
	}
	for _, name := range []string{"dark", "auto", "Mono", "a b", "", "../x", strings.Repeat("x", 99)} {
		if err := (&Set{}).Add(name, nil); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
}

func TestThemeFollowsItsBase(t *testing.T) {
	s := &Set{}
	for name, file := range map[string]string{"a": "", "b": "dark = false", "c": "base = \"mono\"", "d": "base = \"dark\"\n[colours]\nground = \"#001122\""} {
		if err := s.Add(name, []byte(file)); err != nil {
			t.Fatal(err)
		}
	}
	if s.New("a", false, Mode{}).Palette != darkPalette() || s.New("b", true, Mode{}).Palette != lightPalette() {
		t.Error("an empty theme must be dark unless dark is false")
	}
	if c := s.New("c", true, Mode{}); c.Palette != (Palette{}) {
		t.Errorf("got colors in a theme based on mono: %+v", c.Palette)
	}
	if s.New("a", true, Mode{Known: true}).Background != nil || s.New("d", true, Mode{Known: true}).Background != hex(0x001122) {
		t.Error("only a theme with a ground may set the background")
	}
}

func TestBrokenThemeGivesTheReason(t *testing.T) {
	s := &Set{}
	err := s.Add("mine", []byte("x = 1"))
	if err == nil {
		t.Fatal("got no error")
	}
	s.Miss("Mine", err)
	if _, got := s.Parse("mine"); got == nil || got.Error() != err.Error() {
		t.Errorf("got error %v, want %v", got, err)
	}
	if len(s.Broken()) != 1 || s.Broken()[0].Name != "mine" {
		t.Errorf("got broken themes %+v", s.Broken())
	}
}
