package wording_test

import (
	"testing"

	"replan/agent/event"
	"replan/tui/wording"
)

func TestWordsOfLookAlikeLettersAreMarked(t *testing.T) {
	for text, marked := range map[string]bool{
		"path/p\u0430yment.go": true, "\u0430dmin": true, "payment.go": false, "\u043f\u0440\u0438\u0432\u0435\u0442 hello": false,
		"caf\u00e9": false, "\u03bcs \u0394x": false, "\u4e2d\u6587abc": false, "g\u03bfogle.com": true, "\n\u0440\u0430\u0437": false, "\u03c3x": false,
	} {
		if got := wording.LookAlike(event.GateRequested{Tool: "fs.write", Args: map[string]any{"path": text}}); (got != "") != marked {
			t.Errorf("%q: %q", text, got)
		}
	}
}
