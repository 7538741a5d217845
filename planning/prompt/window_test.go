package prompt_test

import (
	"strings"
	"testing"

	"replan/planning/prompt"
)

func TestCutRequestNamesTheTokensItWanted(t *testing.T) {
	for _, tc := range []struct {
		name    string
		mention int // bytes
		cut     bool
	}{
		{"what fits", 1000, false},
		{"what does not", 60_000, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := prompt.Brief{Goal: "look", Prompting: prompt.Prompting{
				ContextWindow: 16384, Mentions: []prompt.Mention{{Name: "a.txt", Text: strings.Repeat("word ", tc.mention/5)}},
			}}
			req := prompt.AnalysisRequest(b)
			if cut := req.Shortened != ""; cut != tc.cut || (req.Wanted > 20_000) != tc.cut || req.TooLong != "" {
				t.Errorf("shortened %q, wanted %d tokens, too long %q", req.Shortened, req.Wanted, req.TooLong)
			}
		})
	}
}

func TestRequestThatCannotFitNamesWhatIsTooLong(t *testing.T) {
	long := strings.Repeat("word ", 12_000) // 20,000 tokens by estimate, 15,000 by most servers
	for _, tc := range []struct {
		name      string
		prompting prompt.Prompting
		goal      string
		words     string
		never     bool
	}{
		{"long goal that some servers take", prompt.Prompting{ContextWindow: 16384}, long, "the goal alone takes about 20000 tokens; put long text into a file and mention it with @, or ", false},
		{"longer goal", prompt.Prompting{ContextWindow: 16384}, strings.Repeat(long, 3), "the goal alone takes about 60000 tokens", true},
		{"long system prompt", prompt.Prompting{ContextWindow: 4096, System: long}, "look", "the system prompt alone takes about", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := prompt.AnalysisRequest(prompt.Brief{Goal: tc.goal, Prompting: tc.prompting})
			if !strings.HasPrefix(req.TooLong, tc.words) || req.Never != tc.never {
				t.Errorf("too long %q, never %t", req.TooLong, req.Never)
			}
		})
	}
}
