package reply

import (
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
	"replan/planning/plan/jsontype"
)

// Written are the calls that a model wrote as text, where a server expects them
// in a field of their own.
type Written struct {
	Calls   []ToolUse // in order; each has the shortest name of a tool on offer
	Unknown []ToolUse // in order; calls of tools that are not on offer, with the names that the model gave them
	Broken  bool      // there is a call that cannot be made: it stops in the middle, or is a copy of the tool's schema
	Text    string    // the prose beside the calls
}

// Any reports whether the reply asks for a call at all, so that it is no answer.
func (w Written) Any() bool { return len(w.Calls) > 0 || len(w.Unknown) > 0 || w.Broken }

// ReadCalls finds the calls in the text of a reply: JSON objects with a name and
// arguments, Python calls, and the marks of chat templates. Such marks are
// <tool_call>, [TOOL_CALLS], <function=name> and those of DeepSeek and Llama.
// Broken JSON is repaired. offer is what may be called; its schemas, where it has
// them, name arguments that the model left without a name. cutOff says that the
// reply stops in the middle: a call that it stops in is not made.
//
// The name decides what is a call, and what only talks about one. An object counts
// if it names a tool of the offer, or nearly so, see [FindTool], and has
// arguments. A Python call has to fill its lines and name the tool in full; one of a
// single word has to be the whole reply. Another name counts only between marks, or if
// the object has nothing but a name and arguments and is the whole reply.
func ReadCalls(text string, offer plan.Offer, cutOff bool) Written {
	r := callReader{offer: offer}
	r.read(StripThinking(text))
	return r.written(cutOff)
}

// ReadTurn reads a reply that is to be one JSON object: {"thought", "tool", "args"}, or
// {"thought", "answer"}. Text is the thought before a call, or the answer. A reply
// without such an object is read by [ReadCalls].
func ReadTurn(text string, offer plan.Offer, cutOff bool) Written {
	for _, f := range findJSON(StripThinking(text)) {
		object, _ := f.value.(map[string]any)
		r := callReader{offer: offer, marked: true}
		if tool, _ := object["tool"].(string); tool == "" && object["answer"] != nil {
			answer, isText := object["answer"].(string)
			if !isText {
				answer = plan.CanonicalJSON(object["answer"])
			}
			return Written{Text: strings.TrimSpace(answer)}
		}
		if uses, ok := usesOf(object); ok && len(object) > 0 {
			r.add(piece{uses: uses, open: !f.closed, broken: !f.closed})
			w := r.written(cutOff)
			w.Text, _ = object["thought"].(string)
			return w
		}
	}
	return ReadCalls(text, offer, cutOff)
}

// maxWritten is how many calls of one text are read.
const maxWritten = 64

// callReader collects the calls in a text.
type callReader struct {
	offer   plan.Offer
	pieces  []piece
	marked  bool   // within the marks of a call
	pending string // text between marks that may end with the name of the next call
}

// piece is a part of a reply: prose, or calls.
type piece struct {
	text   string
	uses   []ToolUse
	known  bool // all their tools are on offer
	sure   bool // they are calls, whatever stands beside them
	bare   bool // they are calls if nothing stands beside them
	open   bool // their closing bracket is missing
	broken bool // they cannot be made
}

// callMarks are the marks around calls, and the names that some of them hold.
var callMarks = lazyregexp.New(`(?i)<function=([^<>\n]{1,100})>|</?(?:tool_?calls?|function_?calls?|tools|function|tool_code)>|\[/?(?:TOOL_CALLS?|ARGS)\]|<[|｜][^|｜<>\s]{1,40}[|｜]>`)

// read takes the text of a reply. What looks like a mark within a sound JSON value
// belongs to it.
func (r *callReader) read(text string) {
	values := slices.DeleteFunc(findJSON(text), func(f found) bool { return !f.sound })
	at := 0
	for _, m := range callMarks.FindAllStringSubmatchIndex(text, -1) {
		if m[0] < at || slices.ContainsFunc(values, func(f found) bool { return f.start < m[0] && m[0] < f.end }) {
			continue
		}
		r.take(text[at:m[0]])
		at = m[1]
		mark := strings.ToLower(text[m[0]:m[1]])
		switch {
		case m[2] >= 0:
			r.marked, r.pending = true, text[m[2]:m[3]]
			at += r.parameters(text[at:])
		case strings.HasPrefix(mark, "</"), strings.HasPrefix(mark, "[/"):
			r.flush()
		case slices.ContainsFunc([]string{"tool", "function", "args"}, func(word string) bool { return strings.Contains(mark, word) }):
			r.marked = true
		default:
			r.flush()
			r.marked = strings.Contains(mark, "python_tag")
		}
	}
	r.take(text[at:])
	r.flush()
}

// flush ends the marks of a call. What stood between them and is no call is prose.
func (r *callReader) flush() {
	r.pieces = append(r.pieces, piece{text: r.pending})
	r.marked, r.pending = false, ""
}

// loose takes text that is no call: prose, or a name between marks.
func (r *callReader) loose(text string) {
	if r.marked {
		r.pending += text + " "
		return
	}
	r.pieces = append(r.pieces, piece{text: text})
}

// parameters reads the arguments that follow <function=name> as tags, and returns how
// many bytes they take; 0 if there are none.
func (r *callReader) parameters(text string) int {
	body, _, closed := strings.Cut(text, "</function>")
	if inner := strings.TrimSpace(body); !strings.HasPrefix(inner, "<parameter=") && (inner != "" || !closed) {
		return 0
	}
	args, whole := map[string]any{}, true
	for _, part := range strings.Split(body, "<parameter=")[1:] {
		name, value, _ := strings.Cut(part, ">")
		value, _, whole = strings.Cut(value, "</parameter>")
		args[strings.TrimSpace(name)] = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
	}
	r.add(piece{text: body, uses: []ToolUse{{Name: r.pending, Args: args}}, open: !closed, broken: !closed && !whole})
	r.pending = ""
	return len(body)
}

// take reads text without marks.
func (r *callReader) take(text string) {
	for text != "" && len(r.pieces) <= 2*maxWritten {
		values, head := findJSON(text), callHead.FindStringSubmatchIndex(text)
		switch {
		case head != nil && (len(values) == 0 || head[0] <= values[0].start):
			calls := r.lines(text[head[2]:])
			if calls.uses == nil {
				r.loose(text[:head[3]])
				text = text[head[3]:]
				continue
			}
			end := head[2] + len(calls.text)
			calls.text = text[head[0]:end]
			r.loose(text[:head[0]])
			r.add(calls)
			text = text[end:]
		case len(values) > 0:
			r.value(values[0], text[:values[0].start], text[values[0].start:values[0].end])
			text = text[values[0].end:]
		default:
			r.loose(text)
			return
		}
	}
	r.loose(text)
}

// nameBefore is the name at the end of the text before an object.
var nameBefore = lazyregexp.New("([A-Za-z_][\\w.:/-]{0,99}?)(?::\\d+)?[\\s:]*(?:```\\w*\\s*)?$")

// value takes a JSON value of a text, and the text before it.
func (r *callReader) value(f found, before, raw string) {
	p := piece{text: raw, sure: true, open: !f.closed, broken: !f.closed && endsInText(raw)}
	object, _ := f.value.(map[string]any)
	if uses, ok := usesOf(f.value); ok {
		p.uses, p.bare = uses, isCall(object)
	} else if use, ok := r.flat(object); ok {
		p.uses = []ToolUse{use}
	} else if name := nameBefore.FindStringSubmatch(r.pending + before); name != nil && object != nil && r.marked {
		p.uses = []ToolUse{{Name: name[1], Args: object}}
		r.pending, before = "", ""
	}
	r.loose(before)
	if p.uses == nil {
		r.loose(raw)
		return
	}
	if r.marked {
		r.pending = ""
	}
	r.add(p)
}

// endsInText reports whether the text of a value stops within a string.
func endsInText(raw string) bool {
	var q stringScanner
	for i := range len(raw) {
		q.outside(raw[i])
	}
	return q.within()
}

// add takes calls, and settles their names.
func (r *callReader) add(p piece) {
	p.known = true
	for i, use := range p.uses {
		args, copied := withoutSchema(use.Args)
		p.uses[i].Args, p.broken = args, p.broken || copied
		tool, err := FindTool(r.offer, use.Name)
		if p.known = p.known && err == nil; err == nil {
			p.uses[i].Name = plan.Catalog(r.offer).NameOf(tool)
		}
	}
	p.sure = r.marked || p.sure && p.known
	r.pieces = append(r.pieces, p)
}

// withoutSchema are the values of arguments that a model wrote into a copy of the
// tool's schema. copied reports that there are no values.
func withoutSchema(args map[string]any) (values map[string]any, copied bool) {
	properties, ok := args["properties"].(map[string]any)
	if kind, _ := args["type"].(string); !ok || kind != "object" {
		return args, false
	}
	for _, v := range properties {
		if _, described := v.(map[string]any); described {
			return args, true
		}
	}
	return properties, false
}

// Fields of objects that are calls.
var (
	nameFields = []string{"name", "tool", "tool_name", "function", "function_name", "action"}
	argsFields = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "kwargs"}
	wrappers   = []string{"function", "tool_call", "function_call", "tool_calls", "function_calls", "calls", "tool"}
)

// usesOf reads a JSON value as calls with names and arguments.
func usesOf(value any) (uses []ToolUse, ok bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			more, ok := usesOf(item)
			if !ok {
				return nil, false
			}
			if uses = append(uses, more...); len(uses) > maxWritten {
				return nil, false
			}
		}
		return uses, len(uses) > 0
	case map[string]any:
		for _, key := range wrappers {
			switch v[key].(type) {
			case map[string]any, []any:
				return usesOf(v[key])
			}
		}
		name := ""
		for _, key := range nameFields {
			if text, _ := v[key].(string); name == "" {
				name = text
			}
		}
		for _, key := range argsFields {
			if args, ok := argsOf(v[key]); ok && name != "" {
				return []ToolUse{{Name: name, Args: args}}, true
			}
		}
	}
	return nil, false
}

// argsOf reads arguments: an object, or its JSON as a text.
func argsOf(value any) (args map[string]any, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		return v, true
	case string:
		if v = strings.TrimSpace(unfenced(v)); strings.HasPrefix(v, "{") {
			args = firstObject(v)
			return args, args != nil
		}
	}
	return nil, false
}

// flat reads an object that names a tool on offer and has its arguments beside the
// name, or has the name as its only field.
func (r *callReader) flat(object map[string]any) (ToolUse, bool) {
	if len(object) == 1 {
		for name, value := range object {
			args, ok := value.(map[string]any)
			if _, err := findNamed(r.offer, name); ok && err == nil {
				return ToolUse{Name: name, Args: args}, true
			}
		}
	}
	for _, key := range nameFields {
		name, _ := object[key].(string)
		tool, err := findNamed(r.offer, name)
		if name == "" || err != nil {
			continue
		}
		fields := argNames(tool)
		args := map[string]any{}
		for field, v := range object {
			switch {
			case field == key:
			case slices.Contains(fields, field):
				args[field] = v
			case field != "type" && field != "id" && field != "thought" && !slices.Contains(argsFields, field):
				return ToolUse{}, false
			}
		}
		return ToolUse{Name: name, Args: args}, true
	}
	return ToolUse{}, false
}

// argNames are the names of a tool's arguments, the required ones first.
func argNames(t plan.Tool) []string {
	read, err := jsontype.Read(t.InputSchema)
	if err != nil || len(t.InputSchema) == 0 {
		return nil
	}
	var names []string
	for _, field := range read.Flat().Fields {
		names = append(names, field.Name)
	}
	return names
}

// callHead is the beginning of a Python call at the start of a line.
var callHead = lazyregexp.New("(?m)^[ \\t`>]*(?:\\[|print\\(|await |return |[A-Za-z_]\\w* ?= ?(?:await )?)?[ \\t]*([A-Za-z_][\\w.:-]{0,99})\\(")

// nextHead is the beginning of a further Python call of the same line.
var nextHead = lazyregexp.New(`^\s*[,;]?\s*([A-Za-z_][\w.:-]{0,99})\(`)

// lines reads the Python calls at the start of a text, if they fill their lines. It
// returns nothing if they do not, or if one is of a tool that is not on offer.
func (r *callReader) lines(text string) piece {
	p, rest := piece{sure: true}, text
	for len(p.uses) < maxWritten {
		head := nextHead.FindStringSubmatchIndex(rest)
		if head == nil {
			return piece{}
		}
		name := rest[head[2]:head[3]]
		tool, err := findNamed(r.offer, name)
		if err != nil {
			return piece{}
		}
		var parts []string
		var closed bool
		parts, rest, closed = arguments(rest[head[1]:])
		p.uses = append(p.uses, ToolUse{Name: name, Args: namedArgs(parts, argNames(tool))})
		p.open, p.broken = !closed, !closed
		p.sure = p.sure && len(plan.NameWords(name)) > 1
		if line, _, _ := strings.Cut(rest, "\n"); strings.Trim(line, " \t\r,;)]`") == "" {
			p.text, p.bare = text[:len(text)-len(rest)+len(line)], true
			return p
		}
	}
	return piece{}
}

// arguments splits what stands between the brackets of a call, of which text is
// everything after the opening one. rest follows the closing one. Quotes are those of
// Python.
func arguments(text string) (parts []string, rest string, closed bool) {
	depth, start, value := 0, 0, true
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case (c == '"' || c == '\'') && value:
			i += len(quotedText(text[i:])) - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case (c == ')' || c == ']' || c == '}') && depth > 0:
			depth--
		case c == ')':
			return append(parts, text[start:i]), text[i+1:], true
		case c == ',' && depth == 0:
			parts, start = append(parts, text[start:i]), i+1
		}
		if !isBlank(c) {
			value = strings.IndexByte("([{,=:", c) >= 0
		}
	}
	return append(parts, text[start:]), "", false
}

// quotedText is the Python string at the start of text, with its quotes. A string that
// is not closed is the whole text.
func quotedText(text string) string {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], quote):
			return text[:i+len(quote)]
		}
	}
	return text
}

// namedArgs reads the arguments of a Python call. Those without a name get names in
// the order of the tool's; an object alone is all of them.
func namedArgs(parts, names []string) map[string]any {
	args := map[string]any{}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if len(parts) == 1 && strings.HasPrefix(part, "{") {
			if object := firstObject(part); object != nil {
				return object
			}
		}
		if name, value, ok := keyword(part); ok {
			args[name] = pythonValue(value)
			continue
		}
		if at := slices.IndexFunc(names, func(name string) bool { _, taken := args[name]; return !taken }); part != "" && at >= 0 {
			args[names[at]] = pythonValue(part)
		}
	}
	return args
}

// keywordArg is the name of an argument with its sign.
var keywordArg = lazyregexp.New(`^["']?([A-Za-z_][\w-]*)["']?\s*[=:]\s*`)

// keyword splits an argument with a name.
func keyword(part string) (name, value string, ok bool) {
	m := keywordArg.FindStringSubmatchIndex(part)
	if m == nil {
		return "", "", false
	}
	return part[m[2]:m[3]], part[m[1]:], true
}

// pythonValue reads a value as Python writes it.
func pythonValue(text string) any {
	text = strings.TrimSpace(text)
	switch text {
	case "True":
		return true
	case "False":
		return false
	case "None":
		return nil
	case "":
		return ""
	}
	if v, err := plan.DecodeValue([]byte(text)); err == nil {
		return v
	}
	raw := len(text) > 1 && strings.IndexByte("rR", text[0]) >= 0 && (text[1] == '"' || text[1] == '\'')
	if inner := strings.TrimLeft(text, "rRbfu"); inner != "" && (inner[0] == '"' || inner[0] == '\'') && len(text)-len(inner) < 3 && quotedText(inner) == inner {
		quote := 1
		if len(inner) >= 6 && strings.HasPrefix(inner, strings.Repeat(inner[:1], 3)) {
			quote = 3
		}
		if len(inner) >= 2*quote && inner[len(inner)-1] == inner[0] {
			return unquoted(inner[quote:len(inner)-quote], raw)
		}
	}
	if text[0] == '[' || text[0] == '{' {
		if v, ok := repairJSON(text); ok {
			return v
		}
	}
	return wordValue(text)
}

// unquoted resolves the escapes of a Python string.
func unquoted(text string, raw bool) string {
	if raw {
		return text
	}
	var out strings.Builder
	for text != "" {
		if len(text) > 1 && text[0] == '\\' && (text[1] == '"' || text[1] == '\'') {
			out.WriteByte(text[1])
			text = text[2:]
			continue
		}
		c, multibyte, tail, err := strconv.UnquoteChar(text, 0)
		switch {
		case err != nil:
			out.WriteByte(text[0])
			text = text[1:]
			continue
		case c < 0x80 || multibyte:
			out.WriteRune(c)
		default:
			out.WriteByte(byte(c)) //nolint:gosec // strconv.UnquoteChar gave a single byte
		}
		text = tail
	}
	return out.String()
}

// leftover is what may surround calls without being prose.
var leftover = lazyregexp.New("^(?:```\\w*|[`\\[\\],;\\s])*$")

// emptyFence is a block of code from which the calls were taken.
var emptyFence = lazyregexp.New("```\\w*[\\s,;\\[\\]]*(?:```|$)")

// written sums up what was read.
func (r *callReader) written(cutOff bool) Written {
	alone := !slices.ContainsFunc(r.pieces, func(p piece) bool { return p.uses == nil && !leftover.MatchString(p.text) })
	var w Written
	var text strings.Builder
	for _, p := range r.pieces {
		switch {
		case p.uses == nil || !p.sure && (!alone || !p.bare):
			text.WriteString(p.text)
		case p.broken || cutOff && p.open:
			w.Broken = true
		default:
			for _, use := range p.uses {
				if _, err := r.offer.Find(use.Name); err == nil {
					w.Calls = append(w.Calls, use)
				} else {
					w.Unknown = append(w.Unknown, use)
				}
			}
		}
	}
	if w.Text = strings.TrimSpace(text.String()); w.Any() {
		if w.Text = strings.TrimSpace(emptyFence.ReplaceAllString(w.Text, "")); leftover.MatchString(w.Text) {
			w.Text = ""
		}
	}
	return w
}

// promise is a sentence that only says what the model is going to do, in small
// letters, and aside one that may stand beside it.
var (
	promise = lazyregexp.New(`^(?:(?:first|now|next|then|so|to \w[^,]*),? )*(?:i will|i'll|i am going to|i'm going to|i need to|i should|we need to|let me|let's|let us)(?: \w+)? ` +
		`(?:look|check|read|search|see|find|open|run|list|examine|inspect|start|begin|analyze|analyse|get|fetch|explore|review|use|call|take|locate|scan|query)\b`)
	aside = lazyregexp.New(`^(?:sure|okay|ok|certainly|of course|great|alright|absolutely|understood|yes|this will|then|after that|once|please wait|one moment)\b`)
)

// longestPromise is how long a text may be, in bytes, to be nothing but a promise.
const longestPromise = 300

// Promises reports whether a short text only announces that the model is going to
// look at something, without a call that does so.
func Promises(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(StripThinking(text), "’", "'"))
	if len(text) > longestPromise {
		return false
	}
	promised := false
	for _, sentence := range sentenceEnd.Split(text, -1) {
		sentence = strings.TrimSpace(sentence)
		switch {
		case sentence == "":
		case promise.MatchString(sentence):
			promised = true
		case !aside.MatchString(sentence):
			return false
		}
	}
	return promised
}

// sentenceEnd is what ends a sentence.
var sentenceEnd = lazyregexp.New(`[.!?:…]+(?:\s|$)|\n`)
