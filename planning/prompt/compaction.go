package prompt

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
)

// compactionTokens bounds a summary: 300 words, and room for languages that take
// more tokens for them.
const compactionTokens = 1024

// CompactionRequest asks the model to sum up the conversation of a brief. The
// reply takes its place; see [Compact].
func CompactionRequest(b Brief) Request {
	return composition{
		brief: b, purpose: PurposeCompact, tokens: compactionTokens,
		last: func(*cutter) string { return b.Prompting.prompt("compaction", noData{}) },
	}.request()
}

// Compact returns the conversation with a summary in place of its oldest messages,
// as one question and one answer. The newest keep messages stay as they are. So do
// those before them back to the nearest of the user's, since an answer without its
// question says nothing. If no older messages remain, the conversation
// is unchanged.
func Compact(conversation []Message, summary string, keep int) []Message {
	from := len(conversation) - max(keep, 0)
	for from > 0 && from < len(conversation) && conversation[from].Role != RoleUser {
		from--
	}
	if from <= 0 {
		return conversation
	}
	compacted := []Message{
		{Role: RoleUser, Content: fmt.Sprintf("[The first %s of this conversation are left out from here on.] Sum up what was said in them.", english.Count(from, "message"))},
		{Role: RoleAssistant, Content: summaryMark + "\n\n" + strings.TrimSpace(summary)},
	}
	return append(compacted, conversation[from:]...)
}

// summaryMark opens a message that is a summary.
const summaryMark = "[Summary of what was left out]"

// How much of a conversation its digest holds.
const (
	digestSummary  = 2000
	digestQuestion = 200 // characters of each question
	digestAnswer   = 300 // and of each answer
	digestTurns    = 12  // questions with their answers, the newest
)

// Digest sums up a conversation by rule, if no model does. It takes the beginning of each
// question and each answer, a line each. The oldest are left out if there are many.
func Digest(conversation []Message) string {
	var turns []string
	for _, m := range conversation {
		text := plan.OneLine(m.Content, digestQuestion)
		switch {
		case text == "":
		case m.Role == RoleUser:
			turns = append(turns, "- The user: "+text)
		case m.Role == RoleAssistant:
			line := "- You: " + plan.OneLine(m.Content, digestAnswer)
			if summary, ok := strings.CutPrefix(m.Content, summaryMark); ok {
				line = "- Before: " + plan.OneLine(summary, digestSummary) // it stands for much more than one answer
			}
			if len(turns) == 0 {
				turns = append(turns, line)
				break
			}
			turns[len(turns)-1] += "\n" + line
		}
	}
	if out := len(turns) - digestTurns; out > 0 {
		turns = append([]string{fmt.Sprintf("- (%s before these)", english.Count(out, "earlier turn"))}, turns[out:]...)
	}
	return strings.Join(turns, "\n")
}
