package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"replan/internal/untrusted"
)

// DecodePlan reads a plan file, in UTF-8, and returns every fault of its form at
// once: bad_json, bad_id, bad_type, bad_index, bad_timeout, and unknown_tool for a
// name that no tool can have. Validate judges its meaning; CheckPlan does both.
//
// It is tolerant if a file leaves no doubt: whole numbers stand for text in index
// and depends_on, a missing index is the step's position from 1, repeated
// dependencies count once, the first of tool_calls stands for a missing tool and
// its args, null is the same as absent, a timeout may be a number of seconds, and
// there may be comments and trailing commas.
// A plan with faults holds the readable parts, its steps at their own positions.
func DecodePlan(data []byte) (Plan, []Fault) {
	p, faults, _ := decodePlan(data)
	return p, faults
}

// decodePlan is DecodePlan for a caller with messages about the file.
func decodePlan(data []byte) (Plan, []Fault, origin) {
	var d planDecoder
	p := d.decode(data)
	return p, d.faults, d.from
}

// decode reads a plan and collects its faults.
func (d *planDecoder) decode(data []byte) Plan {
	if at, ok := invalidUTF8(data); ok {
		d.fault(CodeBadJSON, "", "the text is not UTF-8: byte %d, counted from 0, begins no character", at)
		return Plan{}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	v, duplicates, err := readValue(data)
	if err != nil {
		text, unread := Standard(data)
		if v, duplicates, err = readValue(text); err != nil {
			v, err = DecodeValue(text)
		}
		if err != nil {
			if unread != nil && (bytes.Contains(data, []byte("//")) || bytes.Contains(data, []byte("/*"))) {
				err = unread // the other error may be about a comment
			}
			d.fault(CodeBadJSON, "", "%v", err)
			return Plan{}
		}
	}
	d.from = origin{twice: duplicates}
	return d.plan(v)
}

// Standard returns a plan file as plain JSON: comments and trailing commas become
// blanks, so that every place in it stays the same. A text that is not JSON even
// so is returned unchanged.
func Standard(data []byte) ([]byte, error) {
	plain, err := hujson.Standardize(bytes.Clone(data))
	if err != nil {
		return data, fmt.Errorf("decode JSON at %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return plain, nil
}

// invalidUTF8 returns the offset of the first byte outside UTF-8, and whether
// there is one.
func invalidUTF8(data []byte) (at int, found bool) {
	if utf8.Valid(data) {
		return 0, false
	}
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at, true
}

// planDecoder turns decoded JSON into a plan and collects faults. A value of the
// wrong type leaves a field that causes no second fault.
type planDecoder struct {
	faults  []Fault
	from    origin
	at      string // the name of the current step
	journal bool   // the plan is in a journal, where older programs allowed any index and any tool name
}

func (d *planDecoder) fault(code, path, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if d.at != "" {
		message = "step " + d.at + ": " + message
	}
	d.faults = append(d.faults, Fault{Code: code, Path: path, Step: d.at, Message: message})
}

func (d *planDecoder) badType(path, name, want string, got any) {
	d.fault(CodeBadType, path, "%s must be %s, not %s", name, want, typeName(got))
}

// take removes a field from an object. A null counts as absent.
func take(object map[string]any, name string) (any, bool) {
	v, there := object[name]
	if there {
		delete(object, name)
	}
	return v, v != nil
}

func (d *planDecoder) plan(v any) Plan {
	object, ok := v.(map[string]any)
	if !ok {
		d.badType("", "a plan", "an object", v)
		return Plan{}
	}
	id, hasID := object["id"]
	p := Plan{
		ID:        d.text(object, "", "id"),
		Title:     untrusted.Text(d.text(object, "", "title")),
		Goal:      untrusted.Text(d.text(object, "", "goal")),
		DoneWhen:  untrusted.Text(d.text(object, "", "done_when")),
		Variables: d.object(object, "", "variables"),
		OnFailure: OnFailure(d.text(object, "", "on_failure")),
	}
	if hasID && id == "" {
		d.fault(CodeBadID, "/id", "id is empty; leave it out or name the plan")
	}
	if p.Goal == "" {
		p.Goal = p.Title
	}
	p.Steps = d.steps(object)
	p.Milestones = d.milestones(object)
	p.Risks = d.texts(object, "", "risks")
	p.PlannedBy = d.text(object, "", "planned_by")
	p.Extra = rest(object)
	return p
}

// rest is the fields nobody took, nil if there are none.
func rest(object map[string]any) map[string]any {
	if len(object) == 0 {
		return nil
	}
	return object
}

func (d *planDecoder) text(object map[string]any, path, name string) string {
	v, ok := take(object, name)
	if !ok {
		return ""
	}
	text, ok := v.(string)
	if !ok {
		d.badType(JSONPointer(path, name), name, "text", v)
		return CanonicalJSON(v)
	}
	return text
}

func (d *planDecoder) object(object map[string]any, path, name string) map[string]any {
	v, ok := take(object, name)
	if !ok {
		return nil
	}
	inner, ok := v.(map[string]any)
	if !ok {
		d.badType(JSONPointer(path, name), name, "an object", v)
		return map[string]any{}
	}
	return inner
}

func (d *planDecoder) list(object map[string]any, path, name string) []any {
	v, ok := take(object, name)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		d.badType(JSONPointer(path, name), name, "a list", v)
		return nil
	}
	return list
}

func (d *planDecoder) texts(object map[string]any, path, name string) []string {
	var texts []string
	for i, v := range d.list(object, path, name) {
		text, ok := v.(string)
		if !ok {
			d.badType(JSONPointer(path, name, strconv.Itoa(i)), "an entry of "+name, "text", v)
			continue
		}
		texts = append(texts, text)
	}
	return texts
}

// indices reads a list of step indices, each once.
func (d *planDecoder) indices(object map[string]any, path, name string) []string {
	var indices []string
	list := d.list(object, path, name)
	seen := make(map[string]bool, len(list))
	at := func(i int) string { return JSONPointer(path, name, strconv.Itoa(i)) }
	for i, v := range list {
		index, ok := IndexText(v)
		if !ok {
			d.fault(CodeBadIndex, at(i),
				"an entry of %s must be the index of a step, not %s", name, describe(v))
			continue
		}
		if why := d.indexProblem(index); why != "" {
			d.fault(CodeBadIndex, at(i),
				"an entry of %s must be the index of a step; it %s", name, why)
			continue
		}
		if seen[index] {
			continue
		}
		if len(indices) != i {
			d.from.move(at(len(indices)), at(i))
		}
		seen[index] = true
		indices = append(indices, index)
	}
	return indices
}

// IndexText reads a step's index: text, not blank, or a whole number.
func IndexText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, strings.TrimSpace(v) != ""
	case json.Number:
		return WholeNumber(v)
	default:
		return "", false
	}
}

// Bounds of names that are shown everywhere, in characters. A server and its tool
// have 128 characters each.
const (
	maxIndex    = 64
	maxToolName = 257
)

// indexProblem describes the fault in the index of a new plan, "" if there is none.
func indexProblem(index string) string {
	switch {
	case strings.TrimSpace(index) == "":
		return "is empty"
	case strings.ContainsFunc(index, isBlank):
		return "holds blanks"
	default:
		return nameProblem(index, maxIndex)
	}
}

// isBlank reports whether a rune is a blank of any width, but no control character.
func isBlank(r rune) bool { return unicode.Is(unicode.Zs, r) }

// nameProblem describes why no step and no tool of a new plan may have a name, ""
// if one may. Screens show an allowed name as it is.
func nameProblem(name string, most int) string {
	switch n := utf8.RuneCountInString(name); {
	case n > most:
		return fmt.Sprintf("has %d characters, %d are the most", n, most)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds control characters"
	case untrusted.Visible(name) != name:
		return "holds characters that cannot be seen"
	default:
		return ""
	}
}

// indexProblem describes the fault in an index, "" if there is none. Any index of
// a journal will do.
func (d *planDecoder) indexProblem(index string) string {
	if d.journal {
		return ""
	}
	return indexProblem(index)
}

func (d *planDecoder) steps(plan map[string]any) []Step {
	list := d.list(plan, "", "steps")
	unreadable := func(v any) bool {
		object, ok := v.(map[string]any)
		return !ok || d.hasBadIndex(object)
	}
	var taken map[string]bool // indices in use, where a step needs a stand-in
	if slices.ContainsFunc(list, unreadable) {
		taken = d.takenIndices(list)
	}
	steps := make([]Step, 0, len(list))
	standIn := 0 // the last one; the numbers between it and its step's position are taken
	for i, v := range list {
		position := i + 1
		called := strconv.Itoa(position)
		if taken != nil && unreadable(v) {
			// The stand-in for an unreadable index must not look like a second
			// step with that index. It is never shown.
			d.from.unnamed(i)
			position = max(position, standIn+1)
			for taken[strconv.Itoa(position)] {
				position++
			}
			taken[strconv.Itoa(position)] = true
			standIn = position
		}
		steps = append(steps, d.step(v, "/steps/"+strconv.Itoa(i), called, strconv.Itoa(position)))
	}
	if len(steps) == 0 {
		return nil
	}
	return steps
}

// takenIndices returns the indices of the steps of a list, named or by position.
func (d *planDecoder) takenIndices(list []any) map[string]bool {
	taken := make(map[string]bool, len(list))
	for i, v := range list {
		object, ok := v.(map[string]any)
		if !ok || d.hasBadIndex(object) {
			continue
		}
		if index, ok := IndexText(object["index"]); ok {
			taken[index] = true
		} else {
			taken[strconv.Itoa(i+1)] = true
		}
	}
	return taken
}

func (d *planDecoder) hasBadIndex(step map[string]any) bool {
	v, there := step["index"]
	if !there {
		return false
	}
	index, ok := IndexText(v)
	return !ok || d.indexProblem(index) != ""
}

// step reads the step at path. For a step without an index of its own, called is
// its name in messages, and standIn its index.
func (d *planDecoder) step(v any, path, called, standIn string) Step {
	d.at = called
	defer func() { d.at = "" }()
	object, ok := v.(map[string]any)
	if !ok {
		d.badType(path, "a step", "an object", v)
		return Step{Index: standIn, Title: untrusted.Text(CanonicalJSON(v)), Executor: ExecutorSelf}
	}
	s := Step{Index: standIn}
	if index, ok := IndexText(object["index"]); ok {
		if why := d.indexProblem(index); why != "" {
			d.fault(CodeBadIndex, JSONPointer(path, "index"), "index %s", why)
		} else {
			s.Index, d.at = index, index
		}
	} else if d.hasBadIndex(object) {
		d.fault(CodeBadIndex, JSONPointer(path, "index"), "index must be text or a whole number, not %s", describe(object["index"]))
	}
	delete(object, "index")
	s.Title = untrusted.Text(d.text(object, path, "title"))
	s.Executor = Executor(d.text(object, path, "executor"))
	if s.Executor == "" {
		s.Executor = ExecutorTool
	}
	s.Tool = d.tool(object, path, "tool")
	s.Profile = d.text(object, path, "profile")
	s.Args = d.object(object, path, "args")
	d.toolCalls(object, path, &s)
	s.DependsOn = d.indices(object, path, "depends_on")
	s.ResultVariable = d.text(object, path, "result_variable")
	s.ExpectedOutcome = untrusted.Text(d.text(object, path, "expected_outcome"))
	s.OnFailure = OnFailure(d.text(object, path, "on_failure"))
	s.Timeout = d.timeout(object, path)
	s.Retries = d.retries(object, path)
	s.Gate = d.flag(object, path, "gate")
	s.Synthesize = d.flag(object, path, "synthesize")
	s.Extra = rest(object)
	return s
}

// tool reads the name of a tool. A journal may hold one that a new plan may not.
func (d *planDecoder) tool(object map[string]any, path, name string) string {
	tool := d.text(object, path, name)
	if why := nameProblem(tool, maxToolName); why != "" && !d.journal {
		d.fault(CodeUnknownTool, JSONPointer(path, name), "the name of its tool %s", why)
	}
	return tool
}

// toolCalls takes the tool and args of a step from the first of its tool_calls. A
// list with more than a step can hold stays among the unknown fields.
func (d *planDecoder) toolCalls(object map[string]any, path string, s *Step) {
	const name = "tool_calls"
	kept := object[name]
	calls := d.list(object, path, name)
	if len(calls) == 0 {
		return
	}
	at := JSONPointer(path, name, "0")
	first, ok := calls[0].(map[string]any)
	if !ok {
		d.badType(at, "an entry of "+name, "an object", calls[0])
		return
	}
	if len(calls) > 1 || s.Tool != "" {
		object[name] = kept
	}
	if s.Tool != "" {
		return
	}
	call := maps.Clone(first)
	s.Tool = d.tool(call, at, "name")
	d.from.move(path+"/tool", at+"/name")
	if args := d.object(call, at, "args"); s.Args == nil {
		s.Args = args
		d.from.move(path+"/args", at+"/args")
	}
}

func (d *planDecoder) timeout(object map[string]any, path string) time.Duration {
	const name = "timeout"
	v, ok := take(object, name)
	if !ok {
		return 0
	}
	at := JSONPointer(path, name)
	switch v := v.(type) {
	case string:
		timeout, err := time.ParseDuration(v)
		if err == nil && timeout >= 0 {
			return timeout
		}
	case json.Number:
		seconds, err := v.Float64()
		if err == nil && seconds >= 0 && seconds < math.MaxInt64/float64(time.Second) {
			return time.Duration(math.Round(seconds * float64(time.Second)))
		}
	default:
		d.badType(at, name, `a duration such as "30s"`, v)
		return 0
	}
	d.fault(CodeBadTimeout, at, `timeout must be a duration such as "30s" or a number of seconds, not %s`, describe(v))
	return 0
}

func (d *planDecoder) retries(object map[string]any, path string) int {
	const name = "retries"
	v, ok := take(object, name)
	if !ok {
		return 0
	}
	if number, ok := v.(json.Number); ok {
		if text, ok := WholeNumber(number); ok {
			if n, err := strconv.Atoi(text); err == nil && n >= 0 {
				return n
			}
		}
	}
	d.fault(CodeBadType, JSONPointer(path, name), "retries must be a whole number from 0, not %s", describe(v))
	return 0
}

func (d *planDecoder) flag(object map[string]any, path, name string) bool {
	v, ok := take(object, name)
	if !ok {
		return false
	}
	flag, ok := v.(bool)
	if !ok {
		d.badType(JSONPointer(path, name), name, "true or false", v)
	}
	return flag
}

func (d *planDecoder) milestones(plan map[string]any) []Milestone {
	const name = "milestones"
	var milestones []Milestone
	for i, v := range d.list(plan, "", name) {
		path := JSONPointer("", name, strconv.Itoa(i))
		switch v := v.(type) {
		case string:
			milestones = append(milestones, Milestone{Title: untrusted.Text(v)})
		case map[string]any:
			milestones = append(milestones, Milestone{
				Title: untrusted.Text(d.text(v, path, "title")),
				Steps: d.indices(v, path, "steps"),
				Extra: rest(v),
			})
		default:
			d.badType(path, "an entry of "+name, "an object", v)
			milestones = append(milestones, Milestone{Title: untrusted.Text(CanonicalJSON(v))}) // those after it keep their positions
		}
	}
	return milestones
}

// typeName names the JSON type of a value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return "a number"
	}
}

// describe shows a small value as it is and names the type of any other.
func describe(v any) string {
	switch v := v.(type) {
	case string, json.Number, bool, nil:
		if text := CanonicalJSON(v); len(text) <= 60 {
			return text
		}
	}
	return typeName(v)
}
