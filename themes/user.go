package themes

import (
	"errors"
	"fmt"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/pelletier/go-toml/v2"
)

// userTheme is the content of a user theme file.
type userTheme struct {
	About         string               `toml:"about"`
	Base          string               `toml:"base"`
	Dark          *bool                `toml:"dark"`
	Colors        map[string]colorText `toml:"colors"`
	BritishColors map[string]colorText `toml:"colours"`
	Basic         map[string]colorText `toml:"basic"`
}

// colorText is a color as written in the file. It is "#rrggbb", the number of a terminal
// color, the name of another color of the theme, or "default".
type colorText string

// UnmarshalText stores a color as written, including a number.
func (c *colorText) UnmarshalText(text []byte) error {
	*c = colorText(text)
	return nil
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// Add adds a user theme to the set, from the content of its file. The file's
// colors override those of its base theme. Errors name the line.
//
// Do not call it while anything is being drawn.
func (s *Set) Add(name string, file []byte) error {
	n := normal(name)
	switch {
	case !validName.MatchString(string(n)):
		return fmt.Errorf("%q is no name for a theme: it takes small letters, digits, - and _", name)
	case slices.Contains((*Set)(nil).Names(), n):
		return fmt.Errorf("a theme called %s comes with the program: take another name", n)
	}
	d, err := define(n, file)
	if err != nil {
		return err
	}
	s.own = slices.DeleteFunc(s.own, func(d Definition) bool { return d.Name == n })
	s.own = append(s.own, d)
	declareTheme(n)
	return nil
}

// define parses a theme file.
func define(name Name, file []byte) (Definition, error) {
	var u userTheme
	if err := toml.NewDecoder(strings.NewReader(string(file))).DisallowUnknownFields().Decode(&u); err != nil {
		return Definition{}, misread(err)
	}
	base := normal(u.Base)
	if base == Auto {
		base = Dark
		if u.Dark != nil && !*u.Dark {
			base = Light
		}
	}
	program := builtin()
	i := slices.IndexFunc(program, func(d Definition) bool { return d.Name == base })
	if i < 0 {
		_, err := Parse(u.Base)
		return Definition{}, fmt.Errorf("line %d: base: %w", lineOf(file, "", "base"), err)
	}
	d := program[i]
	d.Name, d.About = name, u.About
	if d.About == "" {
		d.About = "your own, based on " + string(base)
	}
	if u.Dark != nil {
		d.Dark = *u.Dark
	}
	section, colors := "colors", u.Colors
	if len(u.BritishColors) > 0 {
		if len(u.Colors) > 0 {
			return Definition{}, fmt.Errorf("line %d: put the colors into [colors] or [colours], not into both", max(lineOf(file, "", "[colors]"), lineOf(file, "", "[colours]")))
		}
		section, colors = "colours", u.BritishColors
	}
	if d.Plain && len(colors) > 0 {
		return Definition{}, fmt.Errorf("line %d: a theme based on %s has no colors", lineOf(file, "", "["+section+"]"), base)
	}
	if len(colors) > 0 {
		// If the theme names a background, its colors are made for it.
		_, ground := colors["ground"]
		d.Keeps = d.Keeps && !ground
	}
	if err := take(&d.Palette, colors, false); err != nil {
		return Definition{}, err.in(file, section)
	}
	// The terminal's own colors also work in terminals with 16 colors.
	for _, slot := range slots {
		if c, ok := (*slot.of(&d.Palette)).(ansi.BasicColor); ok {
			*slot.of(&d.Basic) = c
		}
	}
	if err := take(&d.Basic, u.Basic, true); err != nil {
		return Definition{}, err.in(file, "basic")
	}
	return d, nil
}

// miscolor is an invalid color.
type miscolor struct {
	key, why string
}

// in returns the error for a color with its position in the file.
func (m *miscolor) in(file []byte, section string) error {
	return fmt.Errorf("line %d: %s.%s %s", lineOf(file, section, m.key), section, m.key, m.why)
}

// take puts colors into a palette. With basic set, it accepts only the terminal's
// 16 colors.
func take(p *Palette, colors map[string]colorText, basic bool) *miscolor {
	keys := make([]string, 0, len(colors))
	for key := range colors {
		keys = append(keys, key)
	}
	slices.Sort(keys) // reports the same error first each time
	before := *p
	for _, key := range keys {
		i := slices.IndexFunc(slots, func(s slot) bool { return s.name == key })
		if i < 0 {
			return &miscolor{key, "is no color of a theme; there are " + strings.Join(ColorNames(), ", ")}
		}
		c, wrong := resolve(key, colors, &before, basic, nil)
		if wrong != nil {
			return wrong
		}
		*slots[i].of(p) = c
	}
	return nil
}

// resolve returns the color for a key. A missing key takes its color from the
// theme below. seen holds the keys that led here.
func resolve(key string, colors map[string]colorText, below *Palette, basic bool, seen []string) (color.Color, *miscolor) {
	text, given := colors[key]
	if !given {
		i := slices.IndexFunc(slots, func(s slot) bool { return s.name == key })
		return *slots[i].of(below), nil
	}
	if slices.Contains(seen, key) {
		return nil, &miscolor{seen[0], "leads in a circle: " + strings.Join(append(seen, key), ", ")}
	}
	value := strings.ToLower(strings.TrimSpace(string(text)))
	if slices.ContainsFunc(slots, func(s slot) bool { return s.name == value }) {
		return resolve(value, colors, below, basic, append(seen, key))
	}
	if value == "default" {
		return nil, nil
	}
	if n, err := strconv.Atoi(value); err == nil {
		most := 255
		if basic {
			most = 15
		}
		if n < 0 || n > most {
			return nil, &miscolor{key, fmt.Sprintf("is the color %d: a terminal's own are 0 to %d here", n, most)}
		}
		return ansiColor(uint8(n)), nil // #nosec G115 -- 0 to 255
	}
	if rgb, err := strconv.ParseUint(strings.TrimPrefix(value, "#"), 16, 32); err == nil && !basic && len(value) == len("#rrggbb") && value[0] == '#' {
		return hex(uint32(rgb)), nil // #nosec G115 -- 32 bits
	}
	takes := `"#rrggbb", a number from 0 to 255 (the terminal's own colors), "default" or the name of another color of the theme`
	if basic {
		takes = `a number from 0 to 15, "default" or the name of another color`
	}
	return nil, &miscolor{key, fmt.Sprintf("is %q; it takes %s", string(text), takes)}
}

// misread explains an error of go-toml to the user.
func misread(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: %s is no key of a theme; there are about, base, dark, [colors] and [basic]", line, strings.Join(strict.Errors[0].Key(), "."))
	}
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return err
	}
	line, _ := wrong.Position()
	what := strings.TrimPrefix(wrong.Error(), "toml: ")
	switch key := strings.Join(wrong.Key(), "."); {
	case key == "about" || key == "base":
		what = key + " takes text in quotes"
	case key == "dark":
		what = "dark takes true or false"
	case key != "":
		what = key + ": " + what
	}
	return fmt.Errorf("line %d: %s", line, what)
}

// lineOf returns the line of a key in a section, or the section's line if the key
// is missing. Keys before all sections have section "".
func lineOf(file []byte, section, key string) int {
	in, at := "", 1
	for i, line := range strings.Split(string(file), "\n") {
		line = strings.TrimSpace(line)
		name, _, isKey := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			in, _, _ = strings.Cut(strings.TrimLeft(line, "["), "]")
			in = strings.TrimSpace(in)
			if in == section || "["+in+"]" == key {
				at = i + 1
			}
		case isKey && in == section && strings.Trim(strings.TrimSpace(name), `"'`) == key,
			isKey && in == "" && strings.TrimSpace(name) == section+"."+key:
			return i + 1
		case isKey && in == "" && strings.TrimSpace(name) == section:
			at = i + 1 // written as a table on one line
		}
	}
	return at
}
