package telling_test

import (
	"testing"

	"replan/planning/plan"
	"replan/tui/telling"
)

func TestResultWithFilesReadsAsTextAndPaths(t *testing.T) {
	file := plan.Attachment{File: "/state/aa.png", Type: "image/png", Bytes: 70, SHA256: "aa"}
	result := map[string]any{"text": "A dot:", "files": []any{file.Value()}}
	if text, ok := telling.ResultText(result); !ok || text != "A dot:\nimage/png, 70 bytes: /state/aa.png" {
		t.Errorf("got %q, %v", text, ok)
	}
	if words := telling.ResultWords(result); words != "1 file" {
		t.Errorf("in words: %q", words)
	}
	if _, ok := telling.ResultText(map[string]any{"text": "A dot:"}); ok {
		t.Error("a result without files is taken for one")
	}
}
