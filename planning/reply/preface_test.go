package reply_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/reply"
)

func TestStreamStripsThoughtsLikeTheWholeReply(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"<think>", "</think>", "<thinking>", "</thinking>", "</thi", "nk>", "{", "[", "{", "[", "```", "json", "`", "\n", " ", "\t", "a", "\u00a0", "\u2003", "\xe2\x80", "\x83",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
		growing, whole := reply.StrippedAtBrackets(text)
		if !slices.Equal(growing, whole) {
			t.Fatalf("%q was stripped to\n%q\nas it grew, but as a whole to\n%q", text, growing, whole)
		}
	})
}
