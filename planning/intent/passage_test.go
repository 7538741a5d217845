package intent_test

import (
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func TestPassageHoldsTheWordsOfTheQuestion(t *testing.T) {
	const beds = "MAX_BEDS = 12\n\n\nclass Bed:\n    \"\"\"A bed with a valve that lets water in.\"\"\"\n\n    def water(self, seconds):\n        \"\"\"Opens the valve for so many seconds.\"\"\"\n        if seconds > 90:\n            raise ValueError(\"a bed is flooded after 90 seconds\")\n        self.watered += seconds\n"
	const prices = "package price\n\n// Round rounds to full cents.\nfunc Round(cents float64) int {\n\treturn int(cents + 0.5)\n}\n"
	for name, tt := range map[string]struct {
		question, want string
		line           int
	}{
		"with the line that opens its block": {"What happens if a bed is watered for more than 90 seconds?", "        if seconds > 90:\n            raise ValueError(\"a bed is flooded after 90 seconds\")\n        self.watered += seconds", 9},
		"with what a comment is about":       {"How are cents rounded?", "// Round rounds to full cents.\nfunc Round(cents float64) int {\n\treturn int(cents + 0.5)", 3},
		"none for one word":                  {"What is a valve?", "", 0},
		"none if few of the words stand":     {"Which heater warms the tomatoes in winter nights?", "", 0},
		"none for a change":                  {"Water the bed for 60 seconds: change it", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := intent.PassageFor(tt.question, []plan.HistoryItem{
				{Index: "1", Tool: "fs.read", Args: map[string]any{"path": "beds.py"}, Status: plan.ItemCompleted, Result: beds},
				{Index: "2", Tool: "fs.read", Args: map[string]any{"path": "price.go"}, Status: plan.ItemCompleted, Result: prices},
			})
			if ok != (tt.want != "") || got.Text != tt.want || got.Line != tt.line {
				t.Errorf("got %v, line %d:\n%s", ok, got.Line, got.Text)
			}
		})
	}
}
