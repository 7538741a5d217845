package reply_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/reply"
)

func TestDeepBrokenJSONIsNotRepaired(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat("{'a':", depth) + "'b'" + strings.Repeat("}", depth)
	}
	if _, err := reply.ParseArgs(nested(100)); err != nil {
		t.Errorf("100 levels: %v", err)
	}
	if _, err := reply.ParseArgs(nested(200)); err == nil {
		t.Error("200 levels were repaired")
	}
	sound := strings.ReplaceAll(nested(200), "'", `"`)
	if _, err := reply.ParseArgs(sound); err != nil {
		t.Errorf("valid JSON of 200 levels: %v", err)
	}
}

// BenchmarkReadEndlessReplies reads the reply of a model that repeats itself: the
// time per byte must not grow with the length.
func BenchmarkReadEndlessReplies(b *testing.B) {
	for _, unit := range []string{`{"steps":["`, `{"a":`, `{"plan":{"plan":`, `["`, "{", "{'a':b,", "- a: {\n", "</thinking>"} {
		for _, n := range []int{60_000, 240_000} {
			b.Run(fmt.Sprintf("%q/%d", unit, n), func(b *testing.B) {
				text := strings.Repeat(unit, n/len(unit))
				for b.Loop() {
					reply.ReadSteps(text)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(text)), "ns/byte")
			})
		}
	}
}
