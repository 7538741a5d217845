package themes

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Definition is a theme independent of the terminal's abilities.
type Definition struct {
	Name    Name
	About   string // short description for the user
	Dark    bool   // for dark backgrounds
	Plain   bool   // no colors, only bold, faint and reverse
	Keeps   bool   // keeps the terminal's own background where it is known to fit
	Palette Palette
	Basic   Palette // for terminals with 16 colors
}

// The themes besides auto, dark and light.
const (
	HighContrastDark  Name = "high-contrast-dark"
	HighContrastLight Name = "high-contrast-light"
	ColorBlindDark    Name = "color-blind-dark"
	ColorBlindLight   Name = "color-blind-light"
	Mono              Name = "mono"
	Harbor            Name = "harbour"
	Ember             Name = "ember"
	Fern              Name = "fern"
	Paper             Name = "paper"
	Frost             Name = "frost"
)

// builtin returns the themes of the program in display order.
func builtin() []Definition {
	return []Definition{
		{Dark, "on the terminal's own background", true, false, true, darkPalette(), basicDark(false)},
		{Light, "on the terminal's own background", false, false, true, lightPalette(), basicLight()},
		{HighContrastDark, "bright on black", true, false, false, highContrastDark(), basicDark(false)},
		{HighContrastLight, "dark on white", false, false, false, highContrastLight(), basicLight()},
		{ColorBlindDark, "blue and orange, no green and red", true, false, false, colorBlindDark(), basicDark(true)},
		{ColorBlindLight, "blue and orange, no green and red", false, false, false, colorBlindLight(), basicLight()},
		{Mono, "bold, faint and reverse alone", true, true, true, Palette{}, Palette{}},
		{Harbor, "a quiet sea at night", true, false, false, harbor(), basicDark(false)},
		{Ember, "warm and dark, as by a fire", true, false, false, ember(), basicDark(false)},
		{Fern, "a forest in the evening", true, false, false, fern(), basicDark(false)},
		{Paper, "ink on warm paper", false, false, false, paper(), basicLight()},
		{Frost, "a clear winter morning", false, false, false, frost(), basicLight()},
	}
}

// darkPalette leaves the text in the terminal's own color, so that it stays
// legible if the background was guessed wrong.
func darkPalette() Palette {
	return Palette{
		Background: hex(0x16181D), Muted: hex(0xA3A9B5), Faint: hex(0x7C8493), Accent: hex(0x9DB2F5),
		Success: hex(0x64C4A5), Warning: hex(0xF1C05F), Danger: hex(0xEB8A72), Running: hex(0x6DB8EE),
		Added: hex(0x64C4A5), Removed: hex(0xEB8A72),
		Border: hex(0x474D5B), Focus: hex(0x8399DC), Selection: hex(0x2B3245), Code: hex(0xC9B8F0),
		AddedBackground: hex(0x17352C), RemovedBackground: hex(0x432116), Match: hex(0x5A4716),
	}
}

func lightPalette() Palette {
	return Palette{
		Background: hex(0xFFFFFF), Muted: hex(0x555C69), Faint: hex(0x747B88), Accent: hex(0x3350B4),
		Success: hex(0x00755A), Warning: hex(0x966300), Danger: hex(0x8F2412), Running: hex(0x1A68A8),
		Added: hex(0x00755A), Removed: hex(0x8F2412),
		Border: hex(0xC3C8D2), Focus: hex(0x4C66C0), Selection: hex(0xE1E7F6), Code: hex(0x6B3FA0),
		AddedBackground: hex(0xD2EAEA), RemovedBackground: hex(0xFBE6DE), Match: hex(0xFFE9A8),
	}
}

// either is for terminals whose background is unknown. Its colors are of medium
// lightness. With 16 colors it uses only those that are legible on black and white.
func either() Definition {
	return Definition{
		Name: Auto, Dark: true, Keeps: true,
		Palette: Palette{
			Accent: hex(0x5B72D8), Success: hex(0x14845F), Warning: hex(0x9A6D00), Danger: hex(0xD0472E),
			Running: hex(0x1F7CC0), Added: hex(0x14845F), Removed: hex(0xD0472E), Focus: hex(0x5B72D8), Code: hex(0x9A5FC8),
		},
		Basic: Palette{
			Accent: ansiColor(5), Code: ansiColor(5), Focus: ansiColor(5), Danger: ansiColor(1), Removed: ansiColor(1),
		},
	}
}

func highContrastDark() Palette {
	return Palette{
		Background: hex(0x000000), Text: hex(0xFFFFFF), Muted: hex(0xE4E4E4), Faint: hex(0xC0C0C0), Accent: hex(0xA6C8FF),
		Success: hex(0x5CF2B8), Warning: hex(0xFFD75F), Danger: hex(0xFF9A80), Running: hex(0x5FC8FF),
		Added: hex(0x5CF2B8), Removed: hex(0xFF9A80),
		Border: hex(0x9A9A9A), Focus: hex(0xFFFFFF), Selection: hex(0x1F3A78), Code: hex(0xE2C6FF),
		AddedBackground: hex(0x003D2B), RemovedBackground: hex(0x571300), Match: hex(0x5C4300),
	}
}

func highContrastLight() Palette {
	return Palette{
		Background: hex(0xFFFFFF), Text: hex(0x000000), Muted: hex(0x2B2B2B), Faint: hex(0x4A4A4A), Accent: hex(0x0A2A8C),
		Success: hex(0x004D37), Warning: hex(0x714C02), Danger: hex(0x72001D), Running: hex(0x00487F),
		Added: hex(0x004D37), Removed: hex(0x72001D),
		Border: hex(0x6A6A6A), Focus: hex(0x000000), Selection: hex(0xC9DAFF), Code: hex(0x4B1186),
		AddedBackground: hex(0xC3F3EA), RemovedBackground: hex(0xFDD9CD), Match: hex(0xFFE07A),
	}
}

// colorBlindDark follows Okabe and Ito: it distinguishes by blue against yellow,
// and by lightness.
func colorBlindDark() Palette {
	return Palette{
		Background: hex(0x12151C), Text: hex(0xE8EAF0), Muted: hex(0xABB1BF), Faint: hex(0x828A9A), Accent: hex(0xC6CCF2),
		Success: hex(0x60A6FE), Warning: hex(0xFFF497), Danger: hex(0xF28A1F), Running: hex(0xBEE6FF),
		Added: hex(0x60A6FE), Removed: hex(0xF28A1F),
		Border: hex(0x454C5C), Focus: hex(0x9AA8E8), Selection: hex(0x283046), Code: hex(0xDCC8F2),
		AddedBackground: hex(0x10305C), RemovedBackground: hex(0x4A2A06), Match: hex(0x574E12),
	}
}

func colorBlindLight() Palette {
	return Palette{
		Background: hex(0xFFFFFF), Text: hex(0x1B1E26), Muted: hex(0x525A6A), Faint: hex(0x6F7787), Accent: hex(0x3A3F8F),
		Success: hex(0x003F9E), Warning: hex(0x877000), Danger: hex(0x7A2C00), Running: hex(0x1B7ABE),
		Added: hex(0x003F9E), Removed: hex(0x7A2C00),
		Border: hex(0xC2C7D2), Focus: hex(0x3F55B0), Selection: hex(0xE0E6F8), Code: hex(0x5B3A8C),
		AddedBackground: hex(0xDCE9FF), RemovedBackground: hex(0xFFE8D2), Match: hex(0xFFE98A),
	}
}

func harbor() Palette {
	return Palette{
		Background: hex(0x0E1A25), Text: hex(0xD7E3EC), Muted: hex(0x9DB2C2), Faint: hex(0x71899B), Accent: hex(0x8FC7F2),
		Success: hex(0x63CDB0), Warning: hex(0xF0C36A), Danger: hex(0xEB8B77), Running: hex(0x5FB2F0),
		Added: hex(0x63CDB0), Removed: hex(0xEB8B77),
		Border: hex(0x2E4558), Focus: hex(0x5FA3D6), Selection: hex(0x1B3448), Code: hex(0xB7C5F5),
		AddedBackground: hex(0x0F3A35), RemovedBackground: hex(0x45261F), Match: hex(0x544418),
	}
}

func ember() Palette {
	return Palette{
		Background: hex(0x1D1613), Text: hex(0xEDE1D6), Muted: hex(0xBDAA9A), Faint: hex(0x948070), Accent: hex(0xF2B077),
		Success: hex(0x7FC8A9), Warning: hex(0xF2D06B), Danger: hex(0xF2765C), Running: hex(0x86B9E0),
		Added: hex(0x7FC8A9), Removed: hex(0xF2765C),
		Border: hex(0x4A3B33), Focus: hex(0xD98E54), Selection: hex(0x3A2A22), Code: hex(0xE3B8D0),
		AddedBackground: hex(0x223B32), RemovedBackground: hex(0x4B201A), Match: hex(0x574714),
	}
}

func fern() Palette {
	return Palette{
		Background: hex(0x121A16), Text: hex(0xDDE7DF), Muted: hex(0xA5B6AA), Faint: hex(0x7A8D81), Accent: hex(0xA8D08D),
		Success: hex(0x5CCBA5), Warning: hex(0xEFCC64), Danger: hex(0xF08A6C), Running: hex(0x7FB8EC),
		Added: hex(0x5CCBA5), Removed: hex(0xF08A6C),
		Border: hex(0x34463C), Focus: hex(0x86B36B), Selection: hex(0x22352A), Code: hex(0xCDBDEB),
		AddedBackground: hex(0x173F34), RemovedBackground: hex(0x43261C), Match: hex(0x514615),
	}
}

func paper() Palette {
	return Palette{
		Background: hex(0xFBF6EA), Text: hex(0x2E2A24), Muted: hex(0x5F574A), Faint: hex(0x7A715F), Accent: hex(0x7A3E12),
		Success: hex(0x0B6B50), Warning: hex(0x8F5C0A), Danger: hex(0x851D05), Running: hex(0x1E5F99),
		Added: hex(0x0B6B50), Removed: hex(0x851D05),
		Border: hex(0xD3C8B0), Focus: hex(0xA5622E), Selection: hex(0xEFE4CC), Code: hex(0x683A8A),
		AddedBackground: hex(0xD4EAE5), RemovedBackground: hex(0xF8DED0), Match: hex(0xFBE08C),
	}
}

func frost() Palette {
	return Palette{
		Background: hex(0xF4F8FB), Text: hex(0x1D2A35), Muted: hex(0x4A5B69), Faint: hex(0x697B8A), Accent: hex(0x0F5C8C),
		Success: hex(0x00705C), Warning: hex(0x915E00), Danger: hex(0x87210E), Running: hex(0x2C62B8),
		Added: hex(0x00705C), Removed: hex(0x87210E),
		Border: hex(0xC2D0DB), Focus: hex(0x2F7FB0), Selection: hex(0xDCE9F3), Code: hex(0x5A45A8),
		AddedBackground: hex(0xD2EAE9), RemovedBackground: hex(0xFADFD6), Match: hex(0xFCE7A2),
	}
}

// basicDark is for terminals with 16 colors, whose shades users configure.
// Important text uses a shade that is legible in all of them. Unimportant text uses
// the text's own color, faint.
func basicDark(blueAndYellow bool) Palette {
	p := Palette{
		Muted: ansiColor(7), Accent: ansiColor(14), Code: ansiColor(13), Focus: ansiColor(14),
		Success: ansiColor(10), Warning: ansiColor(11), Danger: ansiColor(9), Running: ansiColor(6),
		Added: ansiColor(10), Removed: ansiColor(9),
	}
	if blueAndYellow {
		p.Success, p.Added, p.Running = ansiColor(14), ansiColor(14), ansiColor(15)
		p.Danger, p.Removed, p.Warning = ansiColor(3), ansiColor(3), ansiColor(11)
		p.Accent, p.Focus, p.Code = ansiColor(12), ansiColor(12), ansiColor(7)
	}
	return p
}

// basicLight has no green and no yellow, because the usual 16-color shades of both
// are illegible on white.
func basicLight() Palette {
	return Palette{
		Accent: ansiColor(4), Code: ansiColor(5), Focus: ansiColor(4),
		Warning: ansiColor(5), Danger: ansiColor(1), Running: ansiColor(4), Added: ansiColor(4), Removed: ansiColor(1),
	}
}

// ansiColor returns one of the terminal's own 16 or 256 colors.
func ansiColor(n uint8) color.Color {
	if n < 16 {
		return ansi.BasicColor(n)
	}
	return ansi.IndexedColor(n)
}
