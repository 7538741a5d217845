package themes

import (
	"image/color"
	"slices"
	"strings"
	"testing"

	"charm.land/glamour/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestAThemeOfTheUsersOwn(t *testing.T) {
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
		t.Fatalf("%q, %v", name, err)
	}
	theme := s.New("sea", false, Mode{})
	p, base := theme.Palette, harbour()
	for what, c := range map[string][2]color.Color{
		"a colour of its own":                    {p.Accent, hex(0xFF8800)},
		"another colour of the theme":            {p.Focus, hex(0xFF8800)},
		"a colour of the theme below":            {p.Code, base.Muted},
		"one of the terminal's 16":               {p.Faint, ansi.BasicColor(8)},
		"one of the terminal's 256":              {p.Border, ansi.IndexedColor(240)},
		"the terminal's own":                     {p.Text, nil},
		"one that it says nothing of":            {p.Success, base.Success},
		"its own with 16 colours":                {s.New("sea", false, Mode{Depth: Colours16}).Palette.Accent, ansi.BasicColor(3)},
		"the terminal's own holds in 16 colours": {s.New("sea", false, Mode{Depth: Colours16}).Palette.Faint, ansi.BasicColor(8)},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is %v, want %v", what, c[0], c[1])
		}
	}
	if !theme.Dark || theme.Name != "sea" {
		t.Errorf("the theme is called %s, dark %v", theme.Name, theme.Dark)
	}
	r, err := glamour.NewTermRenderer(glamour.WithStyles(theme.Markdown()), glamour.WithChromaFormatter(CodeFormatter))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Render("```go\nreturn x()\n```\n"); err != nil || !strings.Contains(out, ansi.Style{}.ForegroundColor(hex(0xFF8800)).String()+"x") {
		t.Errorf("code blocks are not in the theme's colours: %q, %v", out, err)
	}
}

func TestAThemeThatCannotBeUsedSaysWhere(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a key that there is not", "base = \"dark\"\ncolour = 1\n", "line 2: colour is no key"},
		{"a colour that there is not", "\n[colours]\naccent = 1\nbackgruond = 2\n", "line 4: colours.backgruond is no colour of a theme"},
		{"a bad colour", "[colours]\ntext = 1\naccent = \"#12345\"\n", `line 3: colours.accent is "#12345"; it takes "#rrggbb"`},
		{"a word that is no colour", "[colors]\naccent = \"pink\"\n", `line 2: colors.accent is "pink"`},
		{"a number too high", "[colours]\naccent = 256\n", "line 2: colours.accent is the colour 256"},
		{"more than 16", "[basic]\naccent = 16\n", "line 2: basic.accent is the colour 16: a terminal's own are 0 to 15"},
		{"a shade where there are 16 colours", "[basic]\naccent = \"#ffffff\"\n", "line 2: basic.accent is"},
		{"a circle", "[colours]\naccent = \"focus\"\nfocus = \"accent\"\n", "line 2: colours.accent leads in a circle: accent, focus, accent"},
		{"no such base", "about = \"x\"\nbase = \"pink\"\n", `line 2: base: there is no theme "pink": choose auto, dark`},
		{"dark as text", "dark = \"yes\"\n", "line 1: dark takes true or false"},
		{"no TOML", "base = \"dark\n", "line 1:"},
		{"colours written twice", "[colours]\naccent = 1\n[colors]\naccent = 2\n", "line 3: the colours stand in"},
		{"colours without colours", "base = \"mono\"\n[colours]\naccent = 1\n", "line 2: a theme based on mono has no colours"},
		{"a colour on one line", "base = \"dark\"\ncolours.accent = \"no\"\n", "line 2: colours.accent"},
		{"a list", "[colours]\naccent = [1]\n", "line 2:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Set{}
			err := s.Add("mine", []byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if slices.Contains(s.Names(), "mine") {
				t.Error("it is there all the same")
			}
		})
	}
	for _, name := range []string{"dark", "auto", "Mono", "a b", "", "../x", strings.Repeat("x", 99)} {
		if err := (&Set{}).Add(name, nil); err == nil {
			t.Errorf("a theme can be called %q", name)
		}
	}
}

func TestAThemeFollowsItsBase(t *testing.T) {
	s := &Set{}
	for name, file := range map[string]string{"a": "", "b": "dark = false", "c": "base = \"mono\"", "d": "base = \"dark\"\n[colours]\nground = \"#001122\""} {
		if err := s.Add(name, []byte(file)); err != nil {
			t.Fatal(err)
		}
	}
	if s.New("a", false, Mode{}).Palette != darkPalette() || s.New("b", true, Mode{}).Palette != lightPalette() {
		t.Error("an empty theme is dark, and light where it says so")
	}
	if c := s.New("c", true, Mode{}); c.Palette != (Palette{}) {
		t.Errorf("one based on mono has colours: %+v", c.Palette)
	}
	if s.New("a", true, Mode{Known: true}).Ground != nil || s.New("d", true, Mode{Known: true}).Ground != hex(0x001122) {
		t.Error("the background is the terminal's own unless the theme names one")
	}
}

func TestABrokenThemeSaysWhyWhereItIsAskedFor(t *testing.T) {
	s := &Set{}
	err := s.Add("mine", []byte("x = 1"))
	if err == nil {
		t.Fatal("it is not broken")
	}
	s.Miss("Mine", err)
	if _, got := s.Parse("mine"); got == nil || got.Error() != err.Error() {
		t.Errorf("got %v, want %v", got, err)
	}
	if len(s.Broken()) != 1 || s.Broken()[0].Name != "mine" {
		t.Errorf("%+v", s.Broken())
	}
}
