package reply

import (
	"strings"
	"unicode"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// refusal is how models begin when they refuse a request. The rest is read all the
// same: a model may refuse and then plan.
var refusal = lazyregexp.New(`(?i)^\W*(?:(?:i['’]?m|i am) (?:very |so |really )?(?:sorry|afraid)|sorry|apologies|my apologies|unfortunately|as an? (?:ai|language|large language)|` +
	`i (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|am unable|am not able)|i['’]m (?:unable|not able)|(?:es )?tut mir leid|entschuldigung|leider|désolé|je suis désolé|lo siento)\b`)

// Refuses reports whether prose is a refusal.
func Refuses(text string) bool { return refusal.MatchString(text) }

// endlessBlanks is the white space at the end of a reply from which on the model
// counts as stuck.
const endlessBlanks = 64

// Wordless distinguishes replies without readable text: it returns their fault,
// and whether there is one.
func Wordless(reply Reply) (plan.Fault, bool) {
	flaw := func(message string) (plan.Fault, bool) {
		return plan.Fault{Code: plan.CodeBadJSON, Message: message}, true
	}
	text := StripThinking(reply.Text)
	switch {
	case text == "" && strings.TrimSpace(reply.Text) != "":
		return flaw("the reply holds nothing but thoughts" + atItsBound(reply) + "; think less, and write the reply")
	case text == "" && len(reply.Calls) > 0:
		return flaw("the reply calls " + plan.OneLine(reply.Calls[0].Name, 80) + " in place of being written; nothing is called now")
	case text == "" && len(reply.Text) >= endlessBlanks:
		return flaw("the reply is nothing but white space" + atItsBound(reply))
	case text == "" && reply.Thinking != "":
		return flaw("the reply is empty after the thoughts" + atItsBound(reply) + "; think less, and write the reply")
	case text == "":
		return flaw("the reply is empty" + atItsBound(reply))
	case Refuses(text):
		return flaw("the reply is a refusal, “" + plan.OneLine(text, 160) + "”")
	}
	return plan.Fault{}, false
}

func atItsBound(reply Reply) string {
	if reply.CutOff {
		return ", up to its bound of tokens"
	}
	return ""
}

// trailsOff reports whether a reply ends in endless white space.
func trailsOff(text string) bool {
	return len(text)-len(strings.TrimRightFunc(text, unicode.IsSpace)) >= endlessBlanks
}
