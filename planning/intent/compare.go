package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
)

// Compare answers a question about the differences between two files of data, such as JSON,
// that the looks have read. ok is false for any other question.
func Compare(goal string, history []plan.HistoryItem) (answer string, ok bool) {
	holds := func(words ...string) bool {
		return slices.ContainsFunc(split(goal, 4*maxWords), func(t token) bool { return t.is(words...) })
	}
	alike := holds("same", "equal", "identical", "agree")
	if !OnlyAsks(goal) || alike == holds("differ", "differs", "different", "difference", "differences", "compare", "diff") {
		return "", false
	}
	steps := lastAttempts(history)
	if len(steps) != 2 || steps[0].Tool != "fs.read" || steps[1].Tool != "fs.read" {
		return "", false
	}
	var values [2]map[string]string
	var names [2]string
	for i, s := range steps {
		object, isObject := s.Result.(map[string]any)
		if !isObject || s.Status != plan.ItemCompleted {
			return "", false
		}
		values[i] = map[string]string{}
		flatten("", object, values[i])
		names[i], _ = s.Args["path"].(string)
	}
	all := maps.Clone(values[0])
	maps.Copy(all, values[1])
	var differ, same []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if alike && isAbout(goal, key) {
			return "", false
		}
		a, inA := values[0][key]
		b, inB := values[1][key]
		switch {
		case inA && inB && a == b:
			same = append(same, key)
		case !inA:
			differ = append(differ, fmt.Sprintf("- %s: only in %s, %s", code(key), code(names[1]), code(b)))
		case !inB:
			differ = append(differ, fmt.Sprintf("- %s: only in %s, %s", code(key), code(names[0]), code(a)))
		default:
			differ = append(differ, fmt.Sprintf("- %s: %s and %s", code(key), code(a), code(b)))
		}
	}
	if alike && len(same) > 0 {
		for i, key := range same {
			same[i] = "- " + code(key) + ": " + code(values[0][key])
		}
		return fmt.Sprintf("The same in %s and %s:\n\n%s", code(names[0]), code(names[1]), strings.Join(same, "\n")), true
	}
	if alike {
		return fmt.Sprintf("No key has the same value in %s and %s.", code(names[0]), code(names[1])), true
	}
	if len(differ) == 0 {
		return fmt.Sprintf("%s and %s do not differ.", code(names[0]), code(names[1])), true
	}
	answer = fmt.Sprintf("%s of %s and %s differ:\n\n%s", english.Count(len(differ), "key"), code(names[0]), code(names[1]), strings.Join(differ, "\n"))
	if len(same) > 0 {
		for i, key := range same {
			same[i] = code(key)
		}
		answer += "\n\nThe same in both: " + strings.Join(same, ", ") + "."
	}
	return answer, true
}

// isAbout reports whether a goal names a key, by its dotted name or the last part of it.
func isAbout(goal, key string) bool {
	key = strings.ToLower(key)
	name := key[strings.LastIndexByte(key, '.')+1:]
	return !slices.Contains(plainWords, name) && slices.ContainsFunc(split(goal, 4*maxWords), func(t token) bool { return t.is(key, name) })
}

// flatten writes the values of an object by their dotted keys.
func flatten(prefix string, object map[string]any, out map[string]string) {
	for key, value := range object {
		if inner, ok := value.(map[string]any); ok && len(inner) > 0 {
			flatten(prefix+key+".", inner, out)
			continue
		}
		out[prefix+key] = plan.CanonicalJSON(value)
	}
}
