package prompt

import (
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// ReasonArg is what a small model writes before the new text of a place that is known:
// what must change there. No tool takes it. A model that says first what is wrong writes
// the right text more often.
const ReasonArg = "why"

// rewrites reports whether a step has the text that a patch replaces, and lacks the new one.
func rewrites(tool plan.Tool, step plan.Step) bool {
	old, _ := step.Args["old"].(string)
	return tool.Name == "fs.patch" && old != "" && step.Args["new"] == nil && isOwn(tool)
}

// The bounds of what a small model chooses from.
const (
	mostPatchable = 40
	longestLine   = 120 // bytes
)

// head matches the first line of a function, a method or a type, without its indentation. A
// class is too long to be written again.
var head = lazyregexp.New(`^(?:(?:export|default|public|private|protected|static|async|abstract|final|pub)\s+)*(?:func|function|def|fn|type|interface|struct|enum|trait)\s+\S`)

// patchable returns the lines that a patch of a file may change. Of code they are the first
// line of each function and type, and what stands outside of these. A patch whose text to
// replace is one of them changes the whole declaration. Of another short file they are all
// lines. It returns nil if the file is too long. A small model copies a text to replace
// badly, and chooses a line well.
func patchable(tool plan.Tool, step plan.Step, inputs []plan.HistoryItem) []string {
	at := pathArg(step)
	if tool.Name != "fs.patch" || len(step.Args) != 1 || at == "" || !isOwn(tool) {
		return nil
	}
	text := ""
	for _, item := range inputs {
		if item.Tool == "fs.read" && item.Args["path"] == at && item.Args["limit"] == nil {
			if text, _ = item.Result.(string); text == "" {
				text = string(item.Text)
			}
		}
	}
	code := codeFile.MatchString(at)
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		own := strings.TrimLeft(line, " \t")
		switch {
		case own == "", strings.Trim(own, "{}[](),;") == "", strings.HasPrefix(own, "class "), code && !head.MatchString(own) && (own != line || strings.ContainsAny(own[:1], "})]#/\"'*@")):
			continue
		case code:
			line = own
		}
		if len(line) <= longestLine && strings.Count(text, line) == 1 {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 || len(lines) > mostPatchable || code && !slices.ContainsFunc(lines, head.MatchString) {
		return nil
	}
	return lines
}

// codeFile matches the paths of files in languages that have functions.
var codeFile = lazyregexp.New(`\.(?:go|py|js|jsx|mjs|ts|tsx|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala)$`)

// pathArg returns the path of the file that a step is about, "" for none.
func pathArg(step plan.Step) string {
	at, _ := step.Args["path"].(string)
	return at
}
