package reply_test

import (
	"strings"
	"testing"

	"replan/planning/reply"
)

func TestStreamedTextIsWholeInEveryScript(t *testing.T) {
	for _, words := range []string{"Prüfe die Datei – 日本語", "1. List files → TOOL: fs.list", "проверь файл", "افحص الملف", "ファイルを確認", "जाँचें", "🙂 fertig’s", "naïve café"} {
		for name, c := range map[string]struct{ text, want string }{
			"Markdown":             {words + "\n", words},
			"text":                 {`{"task": "` + words + `"}`, "task: " + words},
			"name of a field":      {`{"` + words + `": "x"}`, words + ": x"},
			"after a backslash":    {`{"task": "\` + words + `"}`, "task: " + words},
			"text without quotes":  {`{"task": ` + strings.ReplaceAll(words, " ", "") + `}`, "task: " + strings.ReplaceAll(words, " ", "")},
			"thinking with braces": {"{" + words + "}\n", "{" + words + "}"},
		} {
			if name == "text without quotes" && strings.ContainsAny(words, ".:") || name == "after a backslash" && words[0] < 0x80 {
				continue // another meaning in JSON
			}
			for _, size := range []int{1, 2, 3, 1 << 20} {
				r := reply.Readout{Verbatim: strings.HasPrefix(name, "thinking")}
				for rest := c.text; rest != ""; {
					n := min(size, len(rest))
					r.Feed(rest[:n])
					rest = rest[n:]
				}
				if got := strings.Join(r.Lines(9, false), "\n"); got != c.want {
					t.Errorf("%s in pieces of %d bytes: got %q, want %q", name, size, got, c.want)
				}
			}
		}
	}
}
