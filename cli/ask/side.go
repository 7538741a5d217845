package ask

import (
	"strings"

	"replan/agent/session"
)

// sideHelp describes side questions among the answers to a question.
const sideHelp = session.SideCommand + " TEXT: ask about the run first; this question stays open"

// sideQuestion returns the meaning of a line with a side question, and whether it is one. On a terminal
// that delivers single keys, a slash asks for the rest of the line.
func (q question) sideQuestion(line string) (reply answer, ok bool) {
	if len(q.help) == 0 {
		return answer{}, false // part of an answer, such as arguments
	}
	if q.keys && line == "/" {
		return answer{then: &question{
			prompt: "  /", careful: q.careful, answer: func(rest string) answer {
				reply, ok := q.sideQuestion("/" + rest)
				if !ok {
					reply.message = "  only " + session.SideCommand + " TEXT can be typed here\n"
				}
				reply.then = &q
				return reply
			},
		}}, true
	}
	name, text, _ := strings.Cut(line, " ")
	if name != session.SideCommand {
		return answer{}, false
	}
	if text = strings.TrimSpace(text); text == "" {
		return answer{message: "  name the question: " + session.SideCommand + " TEXT\n"}, true
	}
	return answer{beside: session.AskSideQuestion{Question: text}}, true
}
