package intent_test

import (
	"slices"
	"testing"

	"replan/planning/intent"
)

func TestCorrectionChangesOnlyWordsOfOrdersAndNoNames(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"renmae foo to bar":          "rename foo to bar",
		"rename foo tto bar":         "find foo",
		"renmae fnd to bar":          "rename fnd to bar",
		"fnid foo":                   "find foo",
		"whre is lst used":           "where is lst used",
		"fnid where teh foo is used": "find where the foo is used",
		"delte the folder mian":      "delete the folder mian",
		"creat a folder tets":        "create a folder tets",
		"switch to the branhc tets":  "switch to the branch tets",
		"comit with message tets":    "commit with message tets",
		"run the tets":               "run the tests",
		"fnid the tets":              "find the tests",
		"rnu the tests":              "run the tests",
		"bild":                       "build",
		"fromat the code":            "format the code",
		"undoo":                      "undo",
		"reddo":                      "redo",
		"hlep":                       "help",
		"list teh fucntions in a.go": "list the functions in a.go",
		"what dependecies are there": "what dependencies are there",
		"hello":                      "",
		"make everything wonderful":  "",
		"whre is Parse defind":       "where is Parse defined",
	} {
		near := intent.Facts{}.Refuse(words).Near
		if want == "" && len(near) > 0 || want != "" && !slices.Equal(near, []string{want}) {
			t.Errorf("%s: %q, want %q", words, near, want)
		}
	}
}
