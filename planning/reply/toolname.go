package reply

import (
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
)

// namePrefixes are what models put before the name of a tool, in small letters.
var namePrefixes = []string{"functions.", "function.", "tools.", "tool.", "default_api.", "multi_tool_use."}

// sameWords are words of names that models use for those of the operators.
var sameWords = map[string]string{
	"file": "fs", "files": "fs", "filesystem": "fs", "dir": "fs", "directory": "fs", "folder": "fs",
	"git": "vcs", "shell": "proc", "bash": "proc", "command": "proc", "tests": "test", "delete": "remove", "grep": "search",
}

// FindTool returns the tool that a model means by a name. Besides what [plan.Offer.Find]
// reads, these mean a tool, if they can mean one alone. They are a name with "functions."
// before it, in another case, or the last part of a name. They are also the same words in
// another order (read_file for fs.read), and one word with a wrong letter. The error is
// that of [plan.Offer.Find].
func FindTool(offer plan.Offer, name string) (plan.Tool, error) {
	tool, err := findNamed(offer, name)
	if err == nil {
		return tool, nil
	}
	wanted := plan.NameWords(name)
	for _, means := range []func(plan.Tool) bool{
		func(t plan.Tool) bool { return strings.Join(plan.NameWords(t.Name), "") == strings.Join(wanted, "") },
		func(t plan.Tool) bool {
			return endsSo(plan.NameWords(t.Name), wanted) || endsSo(wanted, plan.NameWords(t.Name))
		},
		func(t plan.Tool) bool { return holds(alike(wanted), plan.NameWords(t.Name)) },
		func(t plan.Tool) bool { return endsSo(plan.NameWords(t.Name), alike(wanted)) },
		func(t plan.Tool) bool { return misspelled(wanted, plan.NameWords(t.Name)) },
	} {
		var found []plan.Tool
		for _, t := range offer {
			if means(t) {
				found = append(found, t)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			break // it is not clear which one is meant
		}
	}
	return plan.Tool{}, err
}

// findNamed returns the tool with a name, whatever stands between its parts and
// before it.
func findNamed(offer plan.Offer, name string) (plan.Tool, error) {
	name = strings.Trim(strings.TrimSpace(name), "`\"'")
	tool, err := offer.Find(name)
	for _, prefix := range namePrefixes {
		if err == nil {
			break
		}
		if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			if prefixed, without := offer.Find(name[len(prefix):]); without == nil {
				tool, err = prefixed, nil
			}
		}
	}
	return tool, err
}

// alike are words with those of the operators in their place.
func alike(words []string) []string {
	out := slices.Clone(words)
	for i, word := range out {
		if same := sameWords[word]; same != "" {
			out[i] = same
		}
	}
	return out
}

// endsSo reports whether words are longer than an end that they have.
func endsSo(words, end []string) bool {
	return len(end) > 0 && len(words) > len(end) && slices.Equal(words[len(words)-len(end):], end)
}

// holds reports whether all of two or more words are among others.
func holds(words, all []string) bool {
	return len(all) > 1 && !slices.ContainsFunc(all, func(word string) bool { return !slices.Contains(words, word) })
}

// misspelled reports whether words are others but for one, which is nearly right. A short
// word is another one if a letter differs.
func misspelled(words, others []string) bool {
	if len(words) != len(others) {
		return false
	}
	const least = 4
	wrong := 0
	for i, word := range words {
		if word == others[i] {
			continue
		}
		if wrong++; len(word) < least || len(others[i]) < least || english.Nearest(word, others[i:i+1]) == "" {
			return false
		}
	}
	return wrong == 1
}
