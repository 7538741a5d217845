package lsp

import (
	"strings"
	"unicode/utf16"

	"github.com/charmbracelet/x/powernap/pkg/lsp"
	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"replan/mcpclient/workspace/code/source"
)

// lineOf returns the text of a line, counted from 0, and its byte offset.
func lineOf(text string, line uint32) (string, int) {
	start := 0
	for ; line > 0; line-- {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return "", len(text)
		}
		start += i + 1
	}
	rest, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSuffix(rest, "\r"), start
}

// offset returns the byte offset of a position in a text.
func (c *client) offset(text string, at protocol.Position) int {
	line, start := lineOf(text, at.Line)
	if c.utf8 {
		return start + min(int(at.Character), len(line))
	}
	return start + lsp.PositionToByteOffset(line, at.Character)
}

// position returns the protocol position of a place in a text.
func (c *client) position(text string, at source.Place) protocol.Position {
	row := uint32(max(at.Line, 1) - 1) // #nosec G115 -- of a file of at most 4 MB
	line, _ := lineOf(text, row)
	before := line[:min(max(at.Column, 1)-1, len(line))]
	column := len(before)
	if !c.utf8 {
		column = 0
		for _, r := range before {
			column += max(utf16.RuneLen(r), 1)
		}
	}
	return protocol.Position{Line: row, Character: uint32(column)} // #nosec G115 -- as above
}

// place converts a protocol position in a text to a place.
func (c *client) place(path, text string, at protocol.Position) source.Place {
	line, start := lineOf(text, at.Line)
	return source.Place{
		Path: path, Line: int(at.Line) + 1, Column: c.offset(text, at) - start + 1,
		Text: strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD")),
	}
}
