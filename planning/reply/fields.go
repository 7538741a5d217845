package reply

import (
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// A step in prose may have its fields in separate lines. Such is "tool: fs.read" under its
// title, as in YAML, or in the columns of a table.

// fieldLine is a line with the name of a field.
var fieldLine = lazyregexp.New(`^\s*(?:[-*+•–]\s+)?[*_` + "`" + `"]*([A-Za-z][A-Za-z _-]{1,24}?)[*_` + "`" + `"]*\s*[:=]\s*[*_]*\s*(.*)$`)

// fieldWords says which words name which field of a step.
var fieldWords = map[string]string{
	"index": "index", "id": "index", "step": "index", "no": "index", "nr": "index", "number": "index", "#": "index",
	"title": "title", "name": "title", "description": "title", "task": "title", "action": "title", "what": "title",
	"executor": "executor", "executed by": "executor",
	"tool": "tool", "tool name": "tool", "tool used": "tool",
	"agent": "profile", "profile": "profile",
	"args": "args", "arguments": "args", "parameters": "args", "params": "args", "input": "args", "inputs": "args",
	"depends on": "depends_on", "dependencies": "depends_on", "depends": "depends_on", "after": "depends_on", "requires": "depends_on",
	"result variable": "result_variable", "save as": "result_variable", "output variable": "result_variable",
	"expected outcome": "expected_outcome", "expected": "expected_outcome", "expected result": "expected_outcome", "outcome": "expected_outcome",
}

// readField reads a line with the name of a field of a step.
func readField(line string) (field, value string, ok bool) {
	m := fieldLine.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	field, ok = fieldWords[fieldWord(m[1])]
	return field, strings.Trim(strings.TrimSpace(m[2]), "`"), ok
}

func fieldWord(name string) string {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), "*_`"))
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '_' || r == '-' }), " ")
}

// isFieldOf reports whether a line under an item names a field, and the item too,
// so its lines are its fields and not words.
func isFieldOf(item listLine, line string) bool {
	_, _, ok := readField(line)
	_, _, keyed := readField(item.text)
	return ok && keyed
}

// readItem reads one item of a list: a line, or fields under it.
func readItem(item listLine) map[string]any {
	if _, _, keyed := readField(item.text); keyed {
		return readFields(append([]string{item.text}, item.fields...))
	}
	step := readLine(item.text)
	if step == nil {
		return nil
	}
	for name, v := range readFields(item.fields) {
		if _, ok := step[name]; !ok && name != "index" && name != "title" {
			step[name] = v
		}
	}
	return step
}

// readFields reads lines with the fields of one step, each once. Deeper lines
// under args are its arguments. It returns nil if there is no field.
func readFields(lines []string) map[string]any {
	step := make(map[string]any)
	var args map[string]any // being read line by line
	indent := 0             // of the line before them
	for _, line := range lines {
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if args != nil && depth > indent {
			if m := fieldLine.FindStringSubmatch(line); m != nil {
				args[strings.TrimSpace(m[1])] = wordValue(m[2])
				step["args"] = args
			}
			continue
		}
		args = nil
		name, value, ok := readField(line)
		if _, there := step[name]; !ok || there {
			continue
		}
		switch name {
		case "args":
			switch {
			case value == "":
				args, indent = make(map[string]any), depth
			case strings.HasPrefix(value, "{"):
				if object := firstObject(value); object != nil {
					step[name] = object
				}
			default:
				if _, pairs := callSyntax("call(" + value + ")"); pairs != nil {
					step[name] = pairs
				}
			}
		case "depends_on":
			step[name] = listedIndices(value)
		case "title", "expected_outcome":
			if value = plan.OneLine(strings.Trim(plainText(value), `"'`), 400); value != "" && !isPlaceholder(value) {
				step[name] = value
			}
		default:
			if value = strings.Trim(plainText(value), `"' `); value != "" {
				step[name] = value
			}
		}
	}
	if len(step) == 0 {
		return nil
	}
	return step
}

// listedIndices reads "[1, 2]", "1 and 2" or "none".
func listedIndices(text string) []any {
	list := []any{}
	for _, index := range splitIndices(strings.Trim(strings.TrimSpace(text), "[]")) {
		list = append(list, strings.Trim(index, `"'`))
	}
	return list
}

// readTable reads a plan in the form of a table with a head, a row a step.
func readTable(lines []string) []any {
	var head []string
	var items []any
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(items) > 0 {
				break
			}
			head = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if head == nil {
			head = make([]string, len(cells))
			known := make(map[string]bool)
			for i, cell := range cells {
				head[i] = fieldWords[fieldWord(cell)]
				known[head[i]] = true
			}
			if known["index"] && !known["title"] {
				// "Step" may be the column of titles, if there is no other.
				for i := range head {
					if fieldWord(cells[i]) == "step" {
						head[i] = "title"
					}
				}
			}
			continue
		}
		if strings.Trim(line, "|-: \t") == "" {
			continue
		}
		var fields []string
		for i, cell := range cells {
			if cell = strings.Trim(strings.TrimSpace(cell), "`"); i < len(head) && head[i] != "" && strings.Trim(cell, "-–— ") != "" {
				fields = append(fields, strings.ReplaceAll(head[i], "_", " ")+": "+cell)
			}
		}
		if step := readFields(fields); step["title"] != nil || step["tool"] != nil {
			items = append(items, step)
		}
	}
	return items
}
