package themes

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"charm.land/glamour/v2/ansi"
	xansi "github.com/charmbracelet/x/ansi"
)

// Markdown returns the theme as a Glamour style without indentation or padding
// around the document. The pane that shows it has its own margins.
func (t Theme) Markdown() ansi.StyleConfig {
	p, g := t.Palette, t.Glyphs
	heading := ansi.StylePrimitive{Color: ink(p.Accent), Bold: new(true), BlockSuffix: "\n"}
	lower := ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ink(p.Text), Italic: new(true)}}
	link := ansi.StylePrimitive{Color: ink(p.Accent), Underline: new(true)}
	config := ansi.StyleConfig{
		BlockQuote: ansi.StyleBlock{
			StylePrimitive: ansi.StylePrimitive{Color: ink(p.Muted)},
			Indent:         new(uint(1)),
			IndentToken:    new(g.Quote + " "),
		},
		List:    ansi.StyleList{LevelIndent: 2},
		Heading: ansi.StyleBlock{StylePrimitive: heading},
		H1:      ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Underline: new(true)}},
		H3:      lower, H4: lower, H5: lower, H6: lower,
		Strikethrough:  ansi.StylePrimitive{CrossedOut: new(true)},
		Emph:           ansi.StylePrimitive{Italic: new(true)},
		Strong:         ansi.StylePrimitive{Bold: new(true)},
		HorizontalRule: ansi.StylePrimitive{Color: ink(p.Border), Format: "\n" + strings.Repeat(g.Rule, 8) + "\n"},
		Item:           ansi.StylePrimitive{BlockPrefix: g.Bullet + " "},
		Enumeration:    ansi.StylePrimitive{BlockPrefix: ". "},
		Task:           ansi.StyleTask{Ticked: "[" + g.Done + "] ", Unticked: "[ ] "},
		Link:           link,
		LinkText:       ansi.StylePrimitive{Color: ink(p.Accent)},
		Image:          link,
		ImageText:      ansi.StylePrimitive{Color: ink(p.Muted)},
		Code:           ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ink(p.Code)}},
		CodeBlock: ansi.StyleCodeBlock{
			StyleBlock: ansi.StyleBlock{Margin: new(uint(2))},
			Theme:      t.code,
		},
		Table: ansi.StyleTable{
			CenterSeparator: new(g.Lanes.UDLR), ColumnSeparator: new(g.Lanes.UD), RowSeparator: new(g.Rule),
		},
		DefinitionDescription: ansi.StylePrimitive{BlockPrefix: "\n" + g.Bullet + " "},
	}
	if p.Code == nil {
		// The source's own marks identify code and the rank of headings where
		// color cannot.
		config.Code.BlockPrefix, config.Code.BlockSuffix = "`", "`"
		for i, h := range []*ansi.StyleBlock{&config.H1, &config.H2, &config.H3, &config.H4, &config.H5, &config.H6} {
			h.Prefix = strings.Repeat("#", i+1) + " "
		}
	}
	return config
}

func ink(c color.Color) *string {
	if c == nil {
		return nil
	}
	if own, ok := c.(xansi.BasicColor); ok {
		return new(strconv.Itoa(int(own))) // one of the terminal's 16 colors
	}
	r, g, b, _ := c.RGBA()
	return new(fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8))
}
