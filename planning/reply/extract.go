package reply

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"replan/planning/plan"

	jsonrepair "github.com/RealAlexandreAI/json-repair"

	"replan/internal/lazyregexp"
)

// found is a JSON object or array in the text of a reply.
type found struct {
	start  int  // where it begins in the text
	end    int  // behind its last byte
	value  any  // decoded, numbers as json.Number where the text was sound
	sound  bool // it is JSON as it stands
	closed bool // the text has its closing bracket
	whole  bool // closed, or at least its last value is: nothing stops in the middle
}

// maxRepairAttempts bounds the work caused by hostile text.
const maxRepairAttempts = 4

// maxRepairDepth is how deep broken JSON may be nested to be repaired: the work
// for each byte grows with the depth. Plans have ten levels or so.
const maxRepairDepth = 100

// findJSON returns the JSON objects and arrays in text, in order. Valid JSON is
// decoded as it is; broken or cut-off JSON is repaired if possible, and otherwise
// ignored.
func findJSON(text string) []found {
	var all []found
	attempts := 0
	for i := 0; i < len(text); {
		if c := text[i]; c != '{' && c != '[' || !opensValue(text[i:]) {
			i++
			continue
		}
		if attempts++; attempts > 16*maxRepairAttempts {
			break
		}
		end := closingBracket(text[i:])
		if end > 0 {
			if v, err := plan.DecodeValue([]byte(text[i : i+end])); err == nil {
				all = append(all, found{start: i, end: i + end, value: v, sound: true, closed: true, whole: true})
				i += end
				continue
			}
		}
		body, closed := text[i:], false
		if end > 0 {
			body, closed = text[i:i+end], true
		}
		body = trimFence(body)
		if attempts > maxRepairAttempts || nesting(body) > maxRepairDepth {
			i++
			continue
		}
		if v, ok := repairJSON(body); ok {
			last := body[len(body)-1]
			all = append(all, found{start: i, end: i + len(body), value: v, closed: closed, whole: closed || last == '}' || last == ']'})
			i += max(len(body), 1)
			continue
		}
		i++
	}
	return all
}

// opensValue reports whether text, which starts with a bracket, continues as a
// JSON object or array of objects or texts. A placeholder in square brackets or
// code in braces does not.
func opensValue(text string) bool {
	rest := strings.TrimLeft(text[1:], " \t\r\n")
	if rest == "" {
		return false
	}
	if text[0] == '{' {
		return strings.ContainsRune(`"'}`, rune(rest[0])) || bareKey.MatchString(rest)
	}
	return strings.ContainsRune(`{"']`, rune(rest[0]))
}

// stringScanner follows JSON text byte by byte through its strings.
type stringScanner struct{ inside, escaped bool }

// outside takes the next byte and reports whether it stands outside of every
// string; the quotes belong to theirs.
func (q *stringScanner) outside(c byte) bool {
	switch {
	case q.escaped:
		q.escaped = false
	case q.inside:
		q.escaped = c == '\\'
		q.inside = c != '"'
	case c == '"':
		q.inside = true
	default:
		return true
	}
	return false
}

// bareKey is the key of an object without its quotes, as some models write it.
var bareKey = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\s*:`)

// quoteKeys puts quotes around bare keys, which the later repair reads less well.
func quoteKeys(text string) string {
	var out strings.Builder
	var q stringScanner
	before := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if q.outside(c) && (before == '{' || before == ',') {
			if key := bareKey.FindString(text[i:]); key != "" {
				out.WriteString(`"` + strings.TrimRight(key[:len(key)-1], " \t\r\n") + `":`)
				i += len(key) - 1
				before = ':'
				continue
			}
		}
		if !isBlank(c) {
			before = c
		}
		out.WriteByte(c)
	}
	return out.String()
}

// closingBracket returns the length of the balanced value at the start of text,
// and 0 if it is not closed.
func closingBracket(text string) int {
	var q stringScanner
	depth := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case !q.outside(c):
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// nesting is how deep the brackets in text stand within each other at most.
func nesting(text string) int {
	var q stringScanner
	depth, most := 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case !q.outside(c):
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// trimFence cuts off the end after the value: blanks and a closing code fence.
func trimFence(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	text = strings.TrimRight(text, "`")
	return strings.TrimRight(text, " \t\r\n")
}

// repairJSON repairs broken JSON and decodes it.
func repairJSON(text string) (v any, ok bool) {
	// The library reads unchecked text; a panic in it must cost no more than this
	// reply.
	defer func() {
		if recover() != nil {
			v, ok = nil, false
		}
	}()
	text = quoteKeys(text)
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		if text, err = jsonrepair.RepairJSON(text); err != nil {
			return nil, false
		}
		if v, err = plan.DecodeValue([]byte(text)); err != nil {
			return nil, false
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return v, len(v) > 0
	case []any:
		return v, len(v) > 0
	default:
		return nil, false
	}
}

// thinkingTags are the marks between which models think aloud in plain text.
var thinkingTags = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}}

// StripThinking removes the thoughts before a reply. Marks within the reply are
// left alone: a plan may well be about them.
func StripThinking(text string) string {
	p := preface{text: []byte(text)}
	if p.strip() {
		return ""
	}
	return strings.TrimSpace(text[p.start:])
}

// ParseArgs reads the arguments of a tool call from a model's reply: the first
// JSON object in it. Numbers are json.Number.
func ParseArgs(text string) (map[string]any, error) {
	text = StripThinking(text)
	for _, f := range findJSON(text) {
		args, ok := f.value.(map[string]any)
		if !ok {
			continue
		}
		if !f.whole {
			return nil, errors.New("read the arguments of the call: the reply stops in the middle; raise max_tokens or ask for less in one step")
		}
		return args, nil
	}
	start := string(bytes.ToValidUTF8([]byte(plan.OneLine(text, 80)), nil))
	return nil, fmt.Errorf("read the arguments of the call: the reply %q holds no JSON object", start)
}

// IsPlan reports whether a reply is a plan in JSON and nothing else.
func IsPlan(text string) bool {
	text = strings.TrimSpace(StripThinking(text))
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"), "```"))
	if !strings.HasPrefix(text, "{") {
		return false
	}
	for _, f := range findJSON(text) {
		object, _ := f.value.(map[string]any)
		if steps, _ := object["steps"].([]any); len(steps) > 0 {
			return true
		}
	}
	return false
}
