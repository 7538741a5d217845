package jsonsize_test

import (
	"strings"
	"testing"

	"replan/internal/jsonsize"
)

func TestValuesAndNamesOfFieldsCount(t *testing.T) {
	const most = jsonsize.Most
	for name, c := range map[string]struct {
		text string
		fits bool
	}{
		"as many as may be":   {"[" + strings.Repeat("1,", most-1) + "1]", true},
		"one more":            {"[" + strings.Repeat("1,", most) + "1]", false},
		"objects and a name":  {"[" + strings.Repeat(`{"a":1},`, most/3+1) + "1]", false},
		"a table":             {"[" + strings.Repeat(`[1,"x, y",true,null],`, most/5-1) + "1]", true},
		"in a text":           {`["` + strings.Repeat(`1,[{:\"`, most) + `"]`, true},
		"behind a text":       {`["\\",` + strings.Repeat("1,", most) + "1]", false},
		"lists without value": {strings.Repeat("[],", most), false},
	} {
		if err := jsonsize.Check([]byte(c.text)); (err == nil) != c.fits {
			t.Errorf("%s: got %v", name, err)
		}
		var inParts jsonsize.Counter
		for part := range strings.SplitAfterSeq(c.text, `\`) {
			inParts.Add([]byte(part))
		}
		if err := inParts.Err(); (err == nil) != c.fits {
			t.Errorf("%s in parts: got %v", name, err)
		}
	}
}
