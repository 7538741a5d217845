package intent

import (
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/planning/plan"

	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"
)

// keyFilter is the condition of a goal about files of data: that they have a key, or have
// none.
type keyFilter struct {
	key        string
	bare       bool // the goal does not say that it is a key
	without    bool
	start, end int // its position in the goal, from the word "files"
}

var (
	filterForm = lazyregexp.New("(?i)\\bfiles?\\b(?:\\s+(?:in|of|under|from|inside)\\s+(?:the\\s+)?\\S+(?:\\s+(?:folder|directory))?)?\\s+(?:(?:that|which)\\s+)?" +
		"(have\\s+no|has\\s+no|with\\s+no|do(?:es)?\\s+not\\s+(?:have|contain|define)|do(?:es)?n['’]t\\s+(?:have|contain|define)|lacks?|lacking|miss|misses|(?:are\\s+|is\\s+)?missing|without" +
		"|have|has|having|contains?|containing|defines?|includes?|with)" +
		"\\s+(?:an?\\s+|the\\s+|any\\s+)?(?:[\"'`]?([A-Za-z_][\\w.-]*)[\"'`]?\\s+(?:field|key|property)|(?:field|key|property)\\s+[\"'`]?([A-Za-z_][\\w.-]*)[\"'`]?|([a-z_]\\w*)(?:$|[,.;:?!]|\\s+(?:to|into)\\s))(?:$|[\\s,.;:?!]|\\b)")
	negative = lazyregexp.New(`(?i)\bno\b|not\b|n['’]t\b|lack|miss|without`)
)

// aroundFilter are the words that may stand around the condition of a goal: whatever else it
// says is left to the model.
var aroundFilter = strings.Fields("which what list show name names named tell me find please all the a an of are is there do does give print in into to with one each per line " +
	"file files path paths write create make generate save and json yaml yml toml many how count number")

// noKeys stand before the word "key" and are no name of one: a duplicate key, an API key.
var noKeys = strings.Fields("no a an the any all every this that same other another more new old single unique extra additional duplicate duplicated repeated wrong invalid valid bad unknown " +
	"unexpected unused deprecated obsolete empty required mandatory optional missing private public secret primary foreign api ssh encryption")

// keyFilterOf reads the condition of a goal that is about nothing else.
func keyFilterOf(goal string) (keyFilter, bool) {
	m := filterForm.FindStringSubmatchIndex(goal)
	if m == nil {
		return keyFilter{}, false
	}
	f := keyFilter{start: m[0], end: m[1], without: negative.MatchString(goal[m[2]:m[3]])}
	for _, group := range []int{4, 6, 8} {
		if m[group] >= 0 {
			f.key = goal[m[group]:m[group+1]]
		}
	}
	f.bare = m[8] >= 0
	files := 0
	for _, t := range split(f.around(goal), 4*maxWords) {
		switch {
		case !t.quoted && isFile(t.text) && !isPattern(t.text):
			files++
		case !t.is(aroundFilter...):
			return keyFilter{}, false
		}
	}
	return f, files <= 1 && !slices.Contains(noKeys, strings.ToLower(f.key))
}

// around returns the goal without the condition.
func (f keyFilter) around(goal string) string { return goal[:f.start] + " files " + goal[f.end:] }

// filtered marks the words of the condition as those that the looks are about.
func (l *looker) filtered(goal string) {
	f, ok := keyFilterOf(goal)
	for i, t := range l.tokens {
		if ok && t.start >= f.start && t.end <= f.end {
			l.named[i] = true
		}
	}
}

// FilterFile returns the file that a goal wants the names of other files in, of those that
// have a key or lack it. An example is "Write report.txt with the names of the JSON files in
// data/ that have no id field".
func FilterFile(goal string) (file string, ok bool) {
	f, ok := keyFilterOf(goal)
	if !ok {
		return "", false
	}
	return ListFile(strings.Replace(f.around(goal), " files ", " ", 1))
}

// Filtered returns the data files, such as JSON, that meet the condition of a goal. It
// reads them from the looks that read all files of one folder. ok is false for any other
// goal, and if it is unclear whether one of the files has the key.
func Filtered(goal string, history []plan.HistoryItem) (files []string, ok bool) {
	f, ok := keyFilterOf(goal)
	steps := lastAttempts(history)
	if !ok || len(steps) == 0 {
		return nil, false
	}
	first, _ := steps[0].Args["path"].(string)
	isKey := !f.bare // a word that no file has as a key may be no key: errors, comments
	for _, s := range steps {
		at, _ := s.Args["path"].(string)
		if toolOf(s) != "fs.read" || s.Status != plan.ItemCompleted || len(s.Args) != 1 || at == "" || path.Dir(at) != path.Dir(first) {
			return nil, false
		}
		has, known := hasKey(dataOf(at, s.Result), f.key)
		if !known {
			return nil, false
		}
		isKey = isKey || has
		if has != f.without {
			files = append(files, at)
		}
	}
	slices.Sort(files)
	return files, isKey
}

// kindFilter matches the condition of a goal that files declare something, or nothing.
var kindFilter = lazyregexp.New(`(?i)\bfiles?\b(?:\s+(?:in|of|under|from|inside)\s+(?:the\s+)?\S+(?:\s+(?:folder|directory|package))?)?\s+(?:(?:that|which)\s+)?` +
	`(have\s+no|has\s+no|with\s+no|without|define\s+no|defines\s+no|declare\s+no|declares\s+no|contain\s+no|contains\s+no|do(?:es)?(?:\s+not|n['’]t)\s+(?:define|declare|have|contain)|have|has|with|defines?|declares?|contains?)` +
	`\s+(?:an?\s+|any\s+|at\s+least\s+one\s+)?(functions?|methods?|class(?:es)?|types?|structs?|interfaces?|constants?)(?:$|[\s,.;:?!])`)

// FilesDeclaring returns the files of a folder that declare a kind of symbol, or none. It
// reads them from the look that listed the symbols of the folder. ok is false for any other
// goal, and if that list is incomplete.
func FilesDeclaring(goal string, files []string, history []plan.HistoryItem) (found []string, ok bool) {
	at := kindFilter.FindStringSubmatchIndex(goal)
	steps := lastAttempts(history)
	if at == nil || len(steps) != 1 || toolOf(steps[0]) != "code.symbols" || steps[0].Status != plan.ItemCompleted {
		return nil, false
	}
	r := resultOf(steps[0].Result)
	folder, _ := steps[0].Args["path"].(string)
	if r.Truncated || r.Total != len(r.Symbols) || folder == "" {
		return nil, false
	}
	if slices.ContainsFunc(split(goal[:at[0]]+" files "+goal[at[5]:], 4*maxWords), func(t token) bool {
		return !t.is(aroundFilter...) && extensions[t.key] == nil && !isFile(t.text) && !strings.Contains(t.text, "/") && path.Base(folder) != t.text
	}) {
		return nil, false
	}
	wanted := languagesIn(goal)
	without := negative.MatchString(goal[at[2]:at[3]])
	kinds := ListFormOf(goal[at[4]:at[5]], "").Kinds
	for _, file := range files {
		_, isCode := languages[path.Ext(file)]
		if isCode && folder != "." && path.Dir(file) != folder && strings.HasPrefix(file, folder+"/") {
			return nil, false
		}
		if !isCode || folder != "." && path.Dir(file) != folder || len(wanted) > 0 && !slices.Contains(wanted, path.Ext(file)) {
			continue
		}
		declares := slices.ContainsFunc(r.Symbols, func(s item) bool { return s.Path == file && slices.Contains(kinds, s.Kind) })
		if declares != without {
			found = append(found, file)
		}
	}
	return found, true
}

// languagesIn returns the extensions of the files that a goal names by a language: "the JSON
// files", "all Go and Python files". A language of anything else is none.
func languagesIn(goal string) (found []string) {
	tokens := split(goal, 4*maxWords)
	for i, t := range tokens {
		next := i + 1
		for next < len(tokens) && (extensions[tokens[next].key] != nil || tokens[next].is("and", "or")) {
			next++
		}
		if next < len(tokens) && tokens[next].is("file", "files") {
			found = append(found, extensions[t.key]...)
		}
	}
	return found
}

// AnswerFiltered answers the question which files have a key, or have none.
func AnswerFiltered(goal string, history []plan.HistoryItem) (answer string, ok bool) {
	files, ok := Filtered(goal, history)
	if !ok || !OnlyAsks(goal) {
		return "", false
	}
	f, _ := keyFilterOf(goal)
	all := len(lastAttempts(history))
	verb := "have"
	if len(files) == 1 || len(files) == 0 && all == 1 {
		verb = "has"
	}
	what := " " + code(f.key)
	if f.without {
		what = " no" + what
	}
	if len(files) == 0 {
		return "None of " + english.Count(all, "file") + " " + verb + what + ".", true
	}
	var b strings.Builder
	b.WriteString(english.Count(len(files), "file") + " of " + english.Count(all, "file") + " " + verb + what + ":\n")
	for _, at := range files {
		b.WriteString("\n- " + code(at))
	}
	return b.String(), true
}

// FilteredList writes the names of files, a line each. The goal says whether they are
// whole paths.
func FilteredList(goal string, files []string, form ListForm) string {
	whole := slices.ContainsFunc(split(goal, 4*maxWords), func(t token) bool { return t.is("path", "paths") })
	var b strings.Builder
	for _, at := range files {
		if !whole {
			at = path.Base(at)
		}
		b.WriteString(entry{name: at}.line(form.Plain) + "\n")
	}
	return b.String()
}

// dataOf returns the value of a file of data, from the result of fs.read: JSON is read
// already. It is nil for other files.
func dataOf(at string, result any) any {
	text, isText := result.(string)
	if !isText {
		return result
	}
	var value map[string]any
	var err error
	switch path.Ext(at) {
	case ".yaml", ".yml":
		err = yaml.Unmarshal([]byte(text), &value)
	case ".toml":
		err = toml.Unmarshal([]byte(text), &value)
	default:
		return nil
	}
	if err != nil || value == nil {
		return nil
	}
	return value
}

// hasKey reports whether a value has a key, which may be a dotted path. known is false if
// that is not clear. Then the value is no object, only some of its elements have the key, or
// only an object inside it.
func hasKey(value any, key string) (has, known bool) {
	switch v := value.(type) {
	case map[string]any:
		if _, has := v[key]; has {
			return true, true
		}
		if first, rest, dotted := strings.Cut(key, "."); dotted {
			inner, isObject := v[first].(map[string]any)
			if !isObject {
				return false, true
			}
			return hasKey(inner, rest)
		}
		return false, !holdsKey(v, key)
	case []any:
		for i, element := range v {
			in, known := hasKey(element, key)
			if !known || i > 0 && in != has {
				return false, false
			}
			has = in
		}
		return has, len(v) > 0
	default:
		return false, false
	}
}

// holdsKey reports whether an object inside a value has a key.
func holdsKey(value any, key string) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if name == key || holdsKey(inner, key) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return holdsKey(element, key) })
	}
	return false
}
