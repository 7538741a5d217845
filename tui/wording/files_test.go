package wording_test

import (
	"testing"

	"replan/planning/plan"
	"replan/tui/wording"
)

func TestResultWithFilesReadsAsTextAndPaths(t *testing.T) {
	file := plan.Attachment{File: "/state/aa.png", Type: "image/png", Bytes: 70, SHA256: "aa"}
	result := map[string]any{"text": "A dot:", "files": []any{file.Value()}}
	if text, ok := wording.ResultText(result); !ok || text != "A dot:\nimage/png, 70 bytes: /state/aa.png" {
		t.Errorf("got %q, %v", text, ok)
	}
	if words := wording.ResultWords(result); words != "1 file" {
		t.Errorf("in words: %q", words)
	}
	if _, ok := wording.ResultText(map[string]any{"text": "A dot:"}); ok {
		t.Error("a result without files is taken for one")
	}
}
