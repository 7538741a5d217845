package english_test

import (
	"strings"
	"testing"

	"replan/internal/english"
)

func TestCountsAgreeWithTheirNouns(t *testing.T) {
	for want, got := range map[string]string{
		"1 step":         english.Count(1, "step"),
		"0 steps":        english.Count(0, "step"),
		"2 matches":      english.Count(2, "match"),
		"3 more entries": english.Count(3, "more entry"),
		"4 days":         english.Count(4, "day"),
		"5 classes":      english.Count(5, "class"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWordsAgreeWithNumbers(t *testing.T) {
	for n, want := range []string{"are", "is", "are"} {
		if got := english.Agree(n, "is", "are"); got != want {
			t.Errorf("%d files: got %s, want %s", n, got, want)
		}
	}
}

func TestFirstLetterOfAnyAlphabetIsMadeCapital(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "A", "one two": "One two", "écran": "Écran", "проверь": "Проверь", "日本": "日本"} {
		if got := english.Capital(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLongListsEndWithTheRestCount(t *testing.T) {
	words := strings.Fields("a b c d")
	for want, got := range map[string]string{
		"":                        english.List(nil, "and"),
		"a":                       english.List(words[:1], "and"),
		"a, b or c":               english.List(words[:3], "or"),
		"a, b, c and d":           english.Some(words, 4, "file"),
		"a, b and 2 more":         english.Some(words, 2, ""),
		"a, b and 2 more files":   english.Some(words, 2, "file"),
		"a, b, c and 1 more file": english.Some(words, 3, "file"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNearestWordIsOneThatWasMistyped(t *testing.T) {
	commands := []string{"run", "plan", "runs", "replay", "undo", "tools", "doctor", "fs.search", "depends_on"}
	for word, want := range map[string]string{
		"rnu": "run", "unod": "undo", "plna": "plan", "rn": "run", "Run": "run", "replya": "replay", "doctr": "doctor",
		"fs.serach": "fs.search", "dependson": "depends_on", "depend_on": "depends_on",
		"find": "", "rename": "", "fix": "", "what": "", "": "", "größe": "",
	} {
		if got := english.Nearest(word, commands); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestAllWordsThatAreEquallyNearMayBeMeant(t *testing.T) {
	known := []string{"runs", "run", "plan", "replay"}
	for word, want := range map[string]string{
		"runz": "; did you mean runs or run?", "rnu": "; did you mean run?", "plam": "; did you mean plan?", "doctor": "", "run": "",
	} {
		if got := english.DidYouMeanAny(word, known); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

func TestTitlesBeginSmallInSentences(t *testing.T) {
	for title, want := range map[string]string{
		"Fix the tests": "fix the tests", "Push": "push", "README is shown": "README is shown", "TestFoo runs": "TestFoo runs", "`a` is read": "`a` is read",
		"A look": "A look", "Éditer": "éditer", "": "", "fix it": "fix it",
	} {
		if got := english.InSentence(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}
