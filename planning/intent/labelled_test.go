package intent_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning/intent"
)

//go:embed testdata/labelled.txt
var labeledText string

//go:embed testdata/documented.txt
var documentedText string

// labeled is a sentence of the list with its meaning.
type labeled struct {
	words, category, action string
	targets                 []string          // each of them is correct
	params                  map[string]string // required ones
}

// readLabeled parses a list of labeled sentences; its head describes the format.
func readLabeled(t testing.TB, text string) []labeled {
	var all []labeled
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " ::")
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		category, action, ok := strings.Cut(columns[1%len(columns)], " ")
		if len(columns) < 2 || len(columns) > 4 || !ok {
			t.Fatalf("line %d is not of the form words :: category action :: target :: params: %q", n+1, line)
		}
		l := labeled{words: columns[0], category: category, action: action, targets: []string{""}, params: map[string]string{}}
		if len(columns) > 2 {
			l.targets = strings.Split(columns[2], " / ")
		}
		if len(columns) > 3 {
			for _, pair := range strings.Split(columns[3], "; ") {
				name, value, _ := strings.Cut(pair, "=")
				l.params[name] = value
			}
		}
		all = append(all, l)
	}
	return all
}

// right reports whether an intent matches the label.
func (l labeled) right(in intent.Intent) bool {
	for name, value := range l.params {
		if !slices.Contains(strings.Split(value, " / "), in.Params[name]) {
			return false
		}
	}
	return in.Category == l.category && in.Action == l.action && slices.Contains(l.targets, in.Target)
}

func TestDocumentedSentencesKeepTheirMeaning(t *testing.T) {
	for _, l := range readLabeled(t, documentedText) {
		in := intent.Parse(l.words)
		if !l.right(in) || len(in.Params) != len(l.params) {
			t.Errorf("%q: got %s %v, want %s %s %q %v", l.words, spell(in), in.Params, l.category, l.action, l.targets, l.params)
		}
	}
}

// band counts the correctly read sentences in a range of confidence.
type band struct{ right, all int }

func (b band) share() float64 { return float64(b.right) / float64(max(b.all, 1)) }
func (b band) String() string { return fmt.Sprintf("%d of %d", b.right, b.all) }

func TestConfidenceIsCalibrated(t *testing.T) {
	list := readLabeled(t, labeledText)
	if len(list) < 220 {
		t.Fatalf("got only %d sentences", len(list))
	}
	// Below one half an intent is unknown. There are three bands from there to 1.
	var bands [4]band
	placed := 0
	for _, l := range list {
		in := intent.Parse(l.words)
		b := &bands[0]
		switch {
		case in.Confidence >= intent.Confident:
			b = &bands[3]
		case in.Confidence >= 0.65:
			b = &bands[2]
		case in.Confidence >= 0.5:
			b = &bands[1]
		}
		b.all++
		if l.category != "unknown" {
			placed++
		}
		if l.right(in) {
			b.right++
		} else {
			t.Logf("%.2f %q is %s", in.Confidence, l.words, spell(in))
		}
	}
	t.Logf("right below 0.5: %v, below 0.65: %v, below 0.8: %v, from there: %v", bands[0], bands[1], bands[2], bands[3])
	if share := bands[3].share(); share < 0.95 {
		t.Errorf("got accuracy %.3f of sentences read with confidence", share)
	}
	if bands[1].share() > bands[2].share() || bands[2].share() > bands[3].share() {
		t.Errorf("accuracy falls with rising confidence: %v", bands[1:])
	}
	if share := float64(bands[3].all) / float64(placed); share < 0.7 {
		t.Errorf("got %.3f of meaningful sentences read with confidence", share)
	}
}
