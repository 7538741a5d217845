package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"replan/agent/event"
	"replan/agent/runner"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

const analyzedReply = `{"mode":"plan","task":"Look at the four parts","goal":"each was looked at","complexity":"medium","reflect":false}`

// paced is a model that serves one request at a time. It takes 10 ms to write a
// token of four bytes and 0.5 ms to read one, but none to read what the prompt
// shares with the start of the last prompt and its reply.
type paced struct {
	replies map[prompt.Purpose]string
	busy    sync.Mutex
	slot    string // the last prompt and its reply
	asked   []exchange
}

// exchange is the size of a request to a paced model, in bytes.
type exchange struct {
	prompt int // without the marks of the messages
	cached int // of prompt
	tail   int // of the goal and what follows it
}

func (p *paced) Describe(context.Context, string) (prompt.ModelInfo, error) {
	return prompt.ModelInfo{Name: "m", ContextWindow: 32768, Longest: 32768}, nil
}

func (p *paced) Ask(ctx context.Context, r prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	text := p.replies[r.Purpose]
	p.busy.Lock()
	defer p.busy.Unlock()
	var rendered strings.Builder
	x := exchange{}
	for i, m := range r.Messages {
		rendered.WriteString(m.Content)
		if i > 0 && !strings.HasPrefix(m.Content, "# Tools\n") {
			x.tail += len(m.Content)
		}
	}
	now := rendered.String()
	for x.cached < min(len(p.slot), len(now)) && p.slot[x.cached] == now[x.cached] {
		x.cached++
	}
	x.prompt = len(now)
	p.asked = append(p.asked, x)
	time.Sleep(time.Duration(x.prompt-x.cached) / 4 * 500 * time.Microsecond)
	for i := 0; i < len(text); i += 4 {
		time.Sleep(10 * time.Millisecond)
		delta(text[i:min(i+4, len(text))], "")
	}
	p.slot = now + text
	return reply.Reply{Text: text}, ctx.Err()
}

func lookTool(name string) plan.Tool {
	return plan.Tool{
		Name: name, Server: "w", ReadOnly: true, Annotated: true, Description: "Look at one part.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}},"required":["at"]}`),
	}
}

// run runs a goal with tools that take 200 ms, in virtual time. It returns the time
// from the end of the analysis to the end.
func (p *paced) run(t *testing.T, tools plan.Catalog, result string) (beyond time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var analyzed time.Time
		got, err := runner.Run(t.Context(), runner.Job{
			Goal: "look at the four parts and say how they fit", Model: p, Catalog: tools, Synthesize: true,
			Call: func(_ context.Context, c plan.ToolCall) (any, error) {
				time.Sleep(200 * time.Millisecond)
				if c.Args["at"] == "nowhere" {
					return nil, errors.New("part d is not there")
				}
				return result, nil
			},
			Events: func(e event.Event) {
				if d, ok := e.Data.(event.PhaseCompleted); ok && d.Phase == 1 {
					analyzed = time.Now()
				}
			},
		})
		if err != nil || got.Reason != event.ReasonGoalMet {
			t.Fatalf("%s %s: %v", got.Reason, got.Error, err)
		}
		beyond = time.Since(analyzed)
	})
	return beyond
}

// diamondPlan is a plan of four steps with the fields that its format requires.
const diamondPlan = `{"title":"Look","steps":[{"index":"1","title":"A","tool":"look","args":{"at":"a"},"depends_on":[]},` +
	`{"index":"2","title":"B","tool":"look","args":{"at":"b"},"depends_on":["1"]},` +
	`{"index":"3","title":"C","tool":"look","args":{"at":"c"},"depends_on":["1"]},` +
	`{"index":"4","title":"D","tool":"look","args":{"at":"d"},"depends_on":["2","3"]}]}`

// TestDiamondEndsSoonAfterAnalysis plans and runs four tools of 200 ms in a
// diamond. Writing the plan takes most of the time.
func TestDiamondEndsSoonAfterAnalysis(t *testing.T) {
	model := &paced{replies: map[prompt.Purpose]string{
		prompt.PurposeAnalysis: analyzedReply, prompt.PurposePlan: diamondPlan, prompt.PurposeSynthesis: "All four parts fit.",
	}}
	beyond := model.run(t, plan.Catalog{lookTool("look")}, "seen")
	if t.Logf("it ended %s after the analysis", beyond); beyond > 1300*time.Millisecond {
		t.Error("that is more than 1.3 s")
	}
}

// lanes returns a plan of four lanes in which each step uses the result of the
// one before; join adds a step that uses the ends of all lanes.
func lanes(join bool) string {
	var steps []string
	for lane := range 4 {
		for n := range 3 {
			args := `{"at":"x"}`
			if n > 0 {
				args = fmt.Sprintf(`{"at":"${r%d%d}"}`, lane, n-1)
			}
			steps = append(steps, fmt.Sprintf(`{"index":"%d","title":"S","tool":"look","args":%s,"depends_on":[],"result_variable":"r%d%d"}`, lane*3+n+1, args, lane, n))
		}
	}
	if join {
		steps = append(steps, `{"index":"13","title":"J","tool":"look","args":{"at":["${r02}","${r12}","${r22}","${r32}"]},"depends_on":[]}`)
	}
	return `{"title":"Lanes","steps":[` + strings.Join(steps, ",") + `]}`
}

// TestPromptsAreShort plans and runs four lanes of three steps with results of 2 KB
// each. A prompt holds the results that no step has used, and little else besides
// the rules and the tools.
func TestPromptsAreShort(t *testing.T) {
	result := strings.Repeat("what was found there ", 98)
	for name, tt := range map[string]struct {
		join        bool
		most, whole int // bytes beside the rules and the tools, and results among them
	}{
		"a step uses the ends": {true, 5000, 0},
		"four ends":            {false, 5000, 4},
	} {
		t.Run(name, func(t *testing.T) {
			model := &paced{replies: map[prompt.Purpose]string{
				prompt.PurposeAnalysis: analyzedReply, prompt.PurposePlan: lanes(tt.join), prompt.PurposeSynthesis: "All of it fits.",
			}}
			model.run(t, plan.Catalog{lookTool("look")}, result)
			bytes := 0
			for _, x := range model.asked {
				bytes += x.tail
			}
			t.Logf("%d bytes, %d of them results", bytes, tt.whole*len(result))
			if bytes-tt.whole*len(result) > tt.most {
				t.Errorf("that is more than %d", tt.most)
			}
		})
	}
}

// TestReplanIsServedFromCache checks what share of the prompts after the first comes
// from the cache, in the first run of a session with a review and a replan.
func TestReplanIsServedFromCache(t *testing.T) {
	model := &paced{replies: map[prompt.Purpose]string{
		prompt.PurposeAnalysis:  strings.Replace(analyzedReply, `"reflect":false`, `"reflect":true`, 1),
		prompt.PurposeReview:    "## Critic\n\n- It may fail.\n\n## Pragmatist\n\n- Fine.\n\n## Detailer\n\n- Fine.\n\n## Plan Adjustments\n\n- None.",
		prompt.PurposePlan:      strings.Replace(diamondPlan, `"at":"d"`, `"at":"nowhere"`, 1),
		prompt.PurposeReplan:    `{"title":"Again","steps":[{"index":"5","title":"E","tool":"look","args":{"at":"e"},"depends_on":["2"]}]}`,
		prompt.PurposeSynthesis: "All of it fits.",
	}}
	tools := plan.Catalog{lookTool("look")}
	for i := range 20 {
		tools = append(tools, lookTool(fmt.Sprintf("other.%d", i)))
	}
	model.run(t, tools, "seen")
	if len(model.asked) != 5 {
		t.Fatalf("there were %d requests", len(model.asked))
	}
	bytes, cached := 0, 0
	for _, x := range model.asked[1:] {
		bytes, cached = bytes+x.prompt, cached+x.cached
	}
	share := float64(cached) / float64(bytes)
	if t.Logf("%.1f %% of %d bytes came from the cache", 100*share, bytes); share < 0.78 {
		t.Error("that is less than 78 %")
	}
}
