// Package graphics has the terminal draw pictures in full resolution, with the
// Unicode placeholders of kitty's graphics protocol: the picture is sent once, and
// cells of text say which part of it they show. So the renderer moves, covers and
// clears it like any other text.
//
// It imports Bubble Tea and internal/picture alone. Start with [Terminal].
package graphics
