package code_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
)

// A file that cannot be searched stands for one that takes too much work.
func TestNoAnswerSaysThatANameIsAbsentFromAFileThatWasNotSearched(t *testing.T) {
	b := newBench(t, workspace.Config{})
	large := "x = 'Signer'\n\nclass Signer:\n    pass\n" + strings.Repeat("# filler\n", 60_000)
	b.Write(t, map[string]string{"sign/signer.py": large, "other.py": "a = 1\n"})
	const says, line = "1 file was not searched (sign/signer.py", "sign/signer.py:3 holds it (class Signer:)"
	for tool, with := range map[string]args{
		"code.definition": {"symbol": "Signer"},
		"code.references": {"symbol": "Signer"},
		"code.symbols":    {"query": "Signer"},
		"code.summarize":  {"symbol": "Signer", "matches": []any{}},
		"code.transform":  {"kind": "rename", "symbol": "Signer", "new_name": "Writer"},
	} {
		result := b.Ask(t, tool, with, nil)
		text := result.Text
		if note, _ := result.Data["note"].(string); note != "" {
			text += note
		}
		text = strings.ReplaceAll(text, `\`, "") // of Markdown
		if !strings.Contains(text, says) {
			t.Errorf("%s does not say that a file was not searched: %s", tool, text)
		}
		if tool != "code.references" && tool != "code.symbols" && !strings.Contains(text, line) {
			t.Errorf("%s does not show the line that may declare the name: %s", tool, text)
		}
		if strings.Contains(text, "there is no symbol") {
			t.Errorf("%s says that there is none: %s", tool, text)
		}
	}
}
