package prompt_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestPromptsNoteBase64(t *testing.T) {
	bytesOfPicture := make([]byte, 3000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range bytesOfPicture {
		bytesOfPicture[i] = byte(random.Uint32())
	}
	picture := base64.StdEncoding.EncodeToString(bytesOfPicture)
	padded := base64.StdEncoding.EncodeToString(bytesOfPicture[:2999])
	for name, c := range map[string]struct {
		result any
		want   string
	}{
		"picture in an object":    {map[string]any{"data": picture, "kind": "png"}, `{"data":"[base64 left out: 3000 bytes]","kind":"png"}`},
		"padded":                  {map[string]any{"data": padded}, `{"data":"[base64 left out: 2999 bytes]"}`},
		"data URL in text":        {"see data:image/png;base64," + picture + ")", "see data:image/png;base64,[base64 left out: 3000 bytes])"},
		"two pictures":            {[]any{picture, picture}, `["[base64 left out: 3000 bytes]","[base64 left out: 3000 bytes]"]`},
		"short run":               {picture[:1000], picture[:1000]},
		"long run of one letter":  {strings.Repeat("a", 5000), strings.Repeat("a", 5000)},
		"long hexadecimal number": {strings.Repeat("c0ffee", 400), strings.Repeat("c0ffee", 400)},
		"lines of words":          {strings.Repeat("Room 101 is shut.\n", 400), strings.Repeat("Room 101 is shut.\n", 400)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := prompt.Text(c.result); got != c.want {
				t.Errorf("got %.200q, want %.200q", got, c.want)
			}
		})
	}
	step := plan.HistoryItem{Index: "1", Tool: "shot", Status: plan.ItemCompleted, Result: map[string]any{"data": picture}}
	p := plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Tool: "shot", Executor: plan.ExecutorTool}}}
	for name, request := range map[string]prompt.Request{
		"a step":    prompt.StepRequest(prompttest.Brief(), p, plan.Step{Index: "2", Title: "Say it", Executor: plan.ExecutorSelf}, []plan.HistoryItem{step}),
		"synthesis": prompt.SynthesisRequest(prompttest.Brief(), p, []plan.HistoryItem{step}, nil),
	} {
		for _, m := range request.Messages {
			if bytes.Contains([]byte(m.Content), []byte(picture[:64])) {
				t.Errorf("the request of %s contains the picture", name)
			}
		}
	}
}
