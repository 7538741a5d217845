package reply

import (
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// A plan in prose: headings, sections in bold, numbered or bulleted lines, perhaps
// with an executor.
var (
	sectionLine  = lazyregexp.New(`^(?:#{1,6}\s+)?\*{0,2}([A-Za-z][A-Za-z /-]{2,40}?)\*{0,2}\s*:\s*\*{0,2}\s*(.*)$`)
	headingLine  = lazyregexp.New(`^#{1,6}\s+(.+?)\s*#*$`)
	numberedLine = lazyregexp.New(`^(\s*)(?:[-*+]\s+|#{1,6}\s+)?\**(?:[Ss]tep\s+)?#?(\d{1,3})\**\s*[.):]\**\s+(.+)$`)
	bulletLine   = lazyregexp.New(`^(\s*)[-*+•–]\s+(.+)$`)
	letterLine   = lazyregexp.New(`^\s*(?:[A-Za-z0-9]{1,2}[.)]|[-*+•–])\s+(.+)$`)
	checkbox     = lazyregexp.New(`^\[[ xX✓-]?\]\s+`)

	toolMark  = lazyregexp.New("(?i)(?:\\s*(?:→|->|=>|—|–|-|\\(|\\[|,|;|:))?\\s*[*_]*\\b(TOOL|AGENT)\\s*[*_]*\\s*:\\s*[*_]*\\s*`?([A-Za-z0-9_][A-Za-z0-9_.:/-]*)`?")
	selfMark  = lazyregexp.New("(?i)\\s*(?:(?:→|->|=>)\\s*[*_`]*SELF\\b|[([]\\s*[*_`]*SELF[*_`]*\\s*[)\\]]|(?:—|–|-|:)\\s*[*_`]*SELF[*_`.]*\\s*$).*$")
	needsMark = lazyregexp.New(`(?i)\s*[(\[]?\s*(?:depends on|after|←\s*after|←)\s*:?\s*((?:steps?\s*)?#?\d+(?:\s*(?:,|&|and)\s*(?:step\s*)?#?\d+)*)\s*[)\]]?\s*\.?$`)
	saveMark  = lazyregexp.New(`(?i)\s*[(\[]\s*(?:as|saves? as|result)\s*:?\s*\$?\{?([A-Za-z_][A-Za-z0-9_]*)\}?\s*[)\]]`)
)

// isPlaceholder reports whether a line is left from a template, not filled in.
func isPlaceholder(text string) bool {
	text = strings.Trim(strings.TrimSpace(text), "*_.")
	if !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
		return false
	}
	return !strings.ContainsAny(text[1:len(text)-1], "[]")
}

// readLine reads one step in prose, "Read the module → TOOL: fs.read". It
// returns nil for a placeholder and for a line without any.
func readLine(line string) map[string]any {
	line = checkbox.ReplaceAllString(strings.TrimSpace(line), "")
	step := make(map[string]any)
	if m := saveMark.FindStringSubmatchIndex(line); m != nil {
		step["result_variable"] = line[m[2]:m[3]]
		line = line[:m[0]] + line[m[1]:]
	}
	if m := needsMark.FindStringSubmatchIndex(line); m != nil && m[0] > 0 {
		var needs []any
		for _, index := range splitIndices(line[m[2]:m[3]]) {
			needs = append(needs, index)
		}
		step["depends_on"] = needs
		line = line[:m[0]]
	}
	if m := toolMark.FindStringSubmatchIndex(line); m != nil {
		name := strings.TrimRight(line[m[4]:m[5]], ".:")
		if strings.EqualFold(line[m[2]:m[3]], "tool") {
			step["executor"], step["tool"] = string(plan.ExecutorTool), name
			if args := trailingArgs(line[m[1]:]); args != nil {
				step["args"] = args
			}
		} else {
			step["executor"], step["profile"] = string(plan.ExecutorAgent), name
		}
		line = line[:m[0]]
	} else if m := selfMark.FindStringIndex(line); m != nil {
		step["executor"] = string(plan.ExecutorSelf)
		line = line[:m[0]]
	}
	title := strings.TrimSpace(strings.Trim(strings.TrimSpace(plainText(line)), ":→-–—,;"))
	if title == "" && step["tool"] != nil {
		title = textOf(step["tool"])
	}
	if title == "" || isPlaceholder(title) {
		return nil
	}
	step["title"] = plan.OneLine(title, 400)
	return step
}

// trailingArgs reads the arguments written after the name of a tool: as JSON, or
// in brackets as a call has them.
func trailingArgs(text string) map[string]any {
	if strings.HasPrefix(text, "(") && !strings.HasPrefix(strings.TrimLeft(text, " (`"), "{") {
		_, args := callSyntax("call" + text)
		return args
	}
	text = strings.TrimLeft(text, " (`")
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	return firstObject(text)
}

var boldMarks = lazyregexp.New(`\*\*([^*]+)\*\*|__([^_]+)__`)

// plainText takes the bold marks out of a line; backticks stay, since they set
// names apart.
func plainText(line string) string { return boldMarks.ReplaceAllString(line, "$1$2") }

// section is a part of a plan in prose.
type section struct {
	name  string // lower case; empty before the first
	lines []string
}

// knownSections are the names of a plan's sections. Others are text.
var knownSections = []string{
	"steps", "plan", "execution plan", "parallel", "risks", "milestones", "task", "goal", "title", "tasks", "subtasks",
	"notes", "summary", "unknowns", "resources", "verification", "critic", "pragmatist", "detailer", "plan adjustments", "reason",
}

// sections splits a reply at its headings and bold labels.
func sections(text string) []section {
	all := []section{{}}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		name, rest := sectionName(line)
		if name == "" {
			all[len(all)-1].lines = append(all[len(all)-1].lines, line)
			continue
		}
		all = append(all, section{name: name})
		if rest != "" {
			all[len(all)-1].lines = []string{rest}
		}
	}
	return all
}

// sectionName returns the name of the section a line opens, and the text behind
// it; empty if it opens none.
func sectionName(line string) (name, rest string) {
	if m := sectionLine.FindStringSubmatch(line); m != nil {
		if name = strings.ToLower(strings.TrimSpace(m[1])); slices.Contains(knownSections, name) {
			return name, strings.TrimSpace(m[2])
		}
	}
	if m := headingLine.FindStringSubmatch(line); m != nil {
		name = strings.ToLower(strings.Trim(plainText(m[1]), " :"))
		if slices.Contains(knownSections, name) {
			return name, ""
		}
	}
	return "", ""
}

// wordPlan is a plan read from words.
type wordPlan struct {
	title      string
	goal       string // how one will know the goal is met
	items      []any  // as numbering.read takes them
	milestones []any
	risks      []any
}

// readWords reads a plan written as Markdown or as plain lines.
func readWords(text string) wordPlan {
	var p wordPlan
	var steps, other, parallel []string
	for _, s := range sections(text) {
		switch s.name {
		case "steps":
			steps = append(steps, s.lines...)
		case "", "plan", "execution plan", "tasks", "subtasks":
			other = append(other, s.lines...)
		case "parallel":
			parallel = append(parallel, s.lines...)
		case "title", "task":
			if p.title == "" {
				p.title = plan.OneLine(plainText(strings.Join(s.lines, " ")), 120)
			}
		case "goal":
			if p.goal == "" {
				p.goal = plan.OneLine(plainText(strings.Join(s.lines, " ")), 400)
			}
		case "milestones":
			for _, title := range listItems(s.lines) {
				p.milestones = append(p.milestones, map[string]any{"title": title})
			}
		case "risks":
			for _, risk := range listItems(s.lines) {
				p.risks = append(p.risks, risk)
			}
		}
	}
	groups := parallelGroups(parallel)
	if len(steps) > 0 {
		p.items = readList(steps, groups)
	} else {
		p.items = readList(other, groups)
	}
	if len(p.items) == 0 {
		p.items = readTable(append(steps, other...))
	}
	if p.title == "" {
		p.title = headingTitle(text)
	}
	return p
}

// headingTitle is the first heading outside the known sections.
func headingTitle(text string) string {
	for _, line := range strings.Split(text, "\n") {
		m := headingLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if name, _ := sectionName(strings.TrimSpace(line)); name == "" {
			return plan.OneLine(strings.TrimPrefix(plainText(m[1]), "Plan: "), 120)
		}
	}
	return ""
}

// listItems reads the lines of a section for display, without NONE and
// placeholders.
func listItems(lines []string) []string {
	var items []string
	for _, line := range lines {
		if m := letterLine.FindStringSubmatch(line); m != nil {
			line = m[1]
		}
		item := plan.OneLine(plainText(line), 300)
		switch strings.ToLower(strings.Trim(item, ".")) {
		case "", "none", "n/a", "-", "---":
			continue
		}
		if !isPlaceholder(item) {
			items = append(items, item)
		}
	}
	return items
}

// listLine is one line of a possible step.
type listLine struct {
	number int // as written; 0 for a bullet among numbered lines, else its position
	text   string
	fields []string // the deeper lines under it
}

// readList reads the steps among lines. It reads the numbered ones if there are any, with
// the bullets between them, else the bullets, each at the outermost level. Deeper lines
// are details.
func readList(lines []string, groups []map[int]bool) []any {
	list := outermost(lines, numberedLine)
	if len(list) == 0 {
		list = outermost(lines, bulletLine)
	}
	ascending, mixed := true, false
	for i, l := range list {
		ascending = ascending && l.number > 0 && (i == 0 || l.number > list[i-1].number)
		mixed = mixed || l.number == 0
	}
	var items []any
	var layer, before []string         // the steps able to run at once, and their dependencies
	open := -1                         // the group of the layer
	indices := make(map[string]string) // of the numbers as written, in a mixed list
	for _, l := range list {
		step := readItem(l)
		if step == nil {
			continue
		}
		index := strconv.Itoa(len(items) + 1)
		if ascending {
			index = strconv.Itoa(l.number)
		}
		if mixed && l.number > 0 {
			indices[strconv.Itoa(l.number)] = index
		}
		if group := groupOf(groups, l.number); group < 0 || group != open {
			before, layer, open = layer, nil, group
		}
		layer = append(layer, index)
		step["index"] = index
		if needs, ok := step["depends_on"].([]any); ok {
			for i, need := range needs {
				if at, ok := indices[textOf(need)]; ok {
					needs[i] = at
				}
			}
		} else {
			step["depends_on"] = listOrder(before)
		}
		items = append(items, step)
	}
	return items
}

// outermost returns the lines of a list at its lowest indentation. A deeper or
// following line with just an executor is joined to it.
func outermost(lines []string, pattern *lazyregexp.Regexp) []listLine {
	least := -1
	for _, line := range lines {
		if m := pattern.FindStringSubmatch(line); m != nil && (least < 0 || len(m[1]) < least) {
			least = len(m[1])
		}
	}
	var list []listLine
	interrupted := false // by a line outside the list
	for _, line := range lines {
		m := pattern.FindStringSubmatch(line)
		switch {
		case m != nil && len(m[1]) == least:
			interrupted = false
			item := listLine{number: len(list) + 1, text: m[len(m)-1]}
			if pattern == numberedLine {
				item.number, _ = strconv.Atoi(m[2])
			}
			list = append(list, item)
		case len(list) == 0:
		case pattern == numberedLine && !interrupted && isBulletedStep(line, least):
			list = append(list, listLine{text: bulletLine.FindStringSubmatch(line)[2]})
		case namesExecutor(line) && !namesExecutor(list[len(list)-1].text) && !isFieldOf(list[len(list)-1], line):
			list[len(list)-1].text += " → " + strings.TrimLeft(line, " \t-*+•→>")
		default:
			isProse := strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " \t")) <= least && !bulletLine.MatchString(line)
			interrupted = interrupted || isProse
			list[len(list)-1].fields = append(list[len(list)-1].fields, line)
		}
	}
	return list
}

// isBulletedStep reports whether a line among numbered ones is a step of its own. That is
// a bullet no deeper than they are, and no detail of one.
func isBulletedStep(line string, least int) bool {
	m := bulletLine.FindStringSubmatch(line)
	if m == nil || len(m[1]) > least {
		return false
	}
	_, _, isField := readField(line)
	return !isField && !opensWithExecutor(m[2])
}

// opensWithExecutor reports whether a text begins with who carries a step out,
// and so belongs to the step before.
func opensWithExecutor(text string) bool {
	for _, mark := range []*lazyregexp.Regexp{toolMark, selfMark} {
		if at := mark.FindStringIndex(text); at != nil && strings.Trim(text[:at[0]], " *_`") == "" {
			return true
		}
	}
	return false
}

func namesExecutor(line string) bool {
	return toolMark.MatchString(line) || selfMark.MatchString(line)
}

var (
	groupSeparator = lazyregexp.New(`[;|\n)\]]|\.\s`)
	groupNumbers   = lazyregexp.New(`(\d{1,3})(?:\s*(?:-|–|to)\s*(?:step\s*)?(\d{1,3}))?`)
)

// parallelGroups reads which steps may run at once: "2, 3; 5-7".
func parallelGroups(lines []string) []map[int]bool {
	var groups []map[int]bool
	for _, part := range groupSeparator.Split(strings.Join(lines, "\n"), -1) {
		group := make(map[int]bool)
		for _, m := range groupNumbers.FindAllStringSubmatch(part, -1) {
			from, _ := strconv.Atoi(m[1])
			to := from
			if m[2] != "" {
				to, _ = strconv.Atoi(m[2])
			}
			for at := from; at <= to; at++ {
				group[at] = true
			}
		}
		if len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// groupOf returns the group of a step, -1 for none.
func groupOf(groups []map[int]bool, number int) int {
	for i, group := range groups {
		if group[number] {
			return i
		}
	}
	return -1
}
