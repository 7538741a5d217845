package themes

import (
	"image/color"
	"math"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/lucasb-eyer/go-colorful"
)

// luminance returns the relative luminance of WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b := linear(c)
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// linear returns the linear components of a color.
func linear(c color.Color) (r, g, b float64) {
	r16, g16, b16, _ := c.RGBA()
	part := func(v uint32) float64 {
		f := float64(v) / 0xFFFF
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return part(r16), part(g16), part(b16)
}

func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// grounds returns the backgrounds that a theme must be legible on.
func (d Definition) grounds() []color.Color {
	switch {
	case !d.Keeps:
		return []color.Color{d.Palette.Background}
	case d.Dark:
		return []color.Color{d.Palette.Background, hex(0x000000), hex(0x1E1E1E)}
	default:
		return []color.Color{d.Palette.Background, hex(0xFFFFFF), hex(0xFAFAF5)}
	}
}

// minContrast returns the contrast that a color of a theme needs, by its name.
func minContrast(d Definition, name string) float64 {
	high := d.Name == HighContrastDark || d.Name == HighContrastLight
	switch name {
	case "border":
		if high {
			return 3
		}
		return 1.3
	case "selection", "match", "added_ground", "removed_ground":
		return 1.05
	case "focus":
		return 3
	case "faint":
		if !high {
			return 4 // not for important text
		}
	}
	if high {
		return 7
	}
	return 4.5
}

func TestColorsAreLegible(t *testing.T) {
	for _, depth := range []struct {
		name    string
		profile colorprofile.Profile
		depth   Depth
		share   float64 // required share of the contrast
	}{{"true color", colorprofile.TrueColor, TrueColor, 1}, {"256 colors", colorprofile.ANSI256, Colors256, 0.85}} {
		for _, d := range builtin() {
			if d.Plain {
				continue
			}
			t.Run(string(d.Name)+" in "+depth.name, func(t *testing.T) {
				p := d.Palette
				at := func(name string) color.Color {
					for _, s := range slots {
						if s.name == name && *s.of(&p) != nil {
							return depth.profile.Convert(*s.of(&p))
						}
					}
					return nil
				}
				for _, s := range slots {
					if s.name == "ground" || *s.of(&p) == nil {
						continue // the terminal's own
					}
					c := at(s.name)
					for _, ground := range d.grounds() {
						if got, want := contrast(c, ground), minContrast(d, s.name)*depth.share; got < want && want > 1.05 || got < 1.05 {
							t.Errorf("%s: got contrast %.2f, want at least %.2f", s.name, got, want)
						}
					}
				}
				added, removed := d.theme(d.Dark, Mode{Depth: depth.depth}).DiffBackgrounds()
				words := map[string]color.Color{"added words": added.Words, "removed words": removed.Words}
				inks := []string{"text", "muted", "accent", "success", "warning", "danger", "running", "added", "removed", "code"}
				for _, under := range []string{"selection", "match", "added_ground", "removed_ground", "added words", "removed words"} {
					for _, ink := range inks {
						ground := at(under)
						if c := words[under]; c != nil {
							ground = depth.profile.Convert(c)
						}
						c := at(ink)
						if c == nil {
							c = d.text()
						}
						if got := contrast(c, ground); got < 3*depth.share {
							t.Errorf("%s on %s: got contrast %.2f", ink, under, got)
						}
					}
				}
			})
		}
	}
}

// terminals are the default 16 colors of some terminals.
var terminals = map[string][16]uint32{
	"xterm": {
		0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
		0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
	},
	"Linux console": {
		0x000000, 0xAA0000, 0x00AA00, 0xAA5500, 0x0000AA, 0xAA00AA, 0x00AAAA, 0xAAAAAA,
		0x555555, 0xFF5555, 0x55FF55, 0xFFFF55, 0x5555FF, 0xFF55FF, 0x55FFFF, 0xFFFFFF,
	},
	"Visual Studio Code": {
		0x000000, 0xCD3131, 0x0DBC79, 0xE5E510, 0x2472C8, 0xBC3FBC, 0x11A8CD, 0xE5E5E5,
		0x666666, 0xF14C4C, 0x23D18B, 0xF5F543, 0x3B8EEA, 0xD670D6, 0x29B8DB, 0xE5E5E5,
	},
}

func TestThemesAreLegibleInSixteenColors(t *testing.T) {
	for _, d := range builtin() {
		for terminal, shades := range terminals {
			ground := hex(0xFFFFFF)
			if d.Dark {
				ground = hex(0x000000)
			}
			for _, s := range slots {
				c := *s.of(&d.Basic)
				if c == nil {
					continue // the terminal's own
				}
				own, ok := c.(ansi.BasicColor)
				if !ok {
					t.Errorf("%s: %s is not one of the 16 colors", d.Name, s.name)
					continue
				}
				if got := contrast(hex(shades[own]), ground); got < 3 {
					t.Errorf("%s in %s: got contrast %.2f of %s", d.Name, terminal, got, s.name)
				}
			}
		}
	}
}

func TestColorsForAnUnknownBackgroundAreLegibleOnBoth(t *testing.T) {
	d := either()
	for _, ground := range []color.Color{hex(0x000000), hex(0x1E1E1E), hex(0xFFFFFF)} {
		for _, s := range slots {
			if c := *s.of(&d.Palette); c != nil {
				if got := contrast(c, ground); got < 3.4 {
					t.Errorf("got contrast %.2f of %s on %v", got, s.name, ground)
				}
			}
			own, ok := (*s.of(&d.Basic)).(ansi.BasicColor)
			for terminal, shades := range terminals {
				if got := contrast(hex(shades[own]), ground); ok && ground != hex(0x1E1E1E) && got < 2.5 {
					t.Errorf("in %s: got contrast %.2f of %s on %v", terminal, got, s.name, ground)
				}
			}
		}
	}
}

// sight models a kind of color vision as a matrix over linear light, by Viénot,
// Brettel and Mollon (1999).
type sight [3][3]float64

var sights = map[string]sight{
	"normal sight": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
	"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
}

func (s sight) sees(c color.Color) colorful.Color {
	r, g, b := linear(c)
	row := func(m [3]float64) float64 { return min(max(m[0]*r+m[1]*g+m[2]*b, 0), 1) }
	return colorful.LinearRgb(row(s[0]), row(s[1]), row(s[2]))
}

// The distances are CIEDE2000, where 1 is just noticeable side by side, also for
// people who see no red or no green.
func TestStateColorsAreDistinguishable(t *testing.T) {
	states := []string{"success", "warning", "danger", "running"}
	for _, d := range builtin() {
		if d.Plain {
			continue
		}
		least, leastGround := 11.0, 6.0
		if d.Name == ColorBlindDark || d.Name == ColorBlindLight {
			least, leastGround = 15, 11
		}
		for name, sight := range sights {
			check := func(a, b string, least float64) {
				var c [2]colorful.Color
				for i, want := range []string{a, b} {
					for _, s := range slots {
						if s.name == want {
							c[i] = sight.sees(*s.of(&d.Palette))
						}
					}
				}
				if got := c[0].DistanceCIEDE2000(c[1]) * 100; got < least {
					t.Errorf("%s with %s: got distance %.1f of %s and %s, want at least %.0f", d.Name, name, got, a, b, least)
				}
			}
			for i, a := range states {
				for _, b := range states[:i] {
					check(a, b, least)
				}
			}
			check("added", "removed", least)
			check("added_ground", "removed_ground", leastGround)
		}
	}
}
