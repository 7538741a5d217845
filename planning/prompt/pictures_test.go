package prompt_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

// kept is an attachment of that number and type.
func kept(n int, mediaType string) plan.Attachment {
	return plan.Attachment{File: fmt.Sprint("/kept/", n), Type: mediaType, Bytes: 70, SHA256: fmt.Sprint(n)}
}

// sent is a completed step with these attachments.
func sent(index string, attachments ...plan.Attachment) plan.HistoryItem {
	return plan.HistoryItem{
		Index: index, Title: "Take a picture", Tool: "shot", Status: plan.ItemCompleted, Attempt: 1, Result: "taken",
		Beside: plan.Beside{Attachments: attachments},
	}
}

// shown returns the numbers of the pictures in a request, in order.
func shown(req prompt.Request) (numbers []string) {
	for _, m := range req.Messages {
		for _, a := range m.Images {
			numbers = append(numbers, a.SHA256)
		}
	}
	return numbers
}

func TestRequestsShowThePicturesOfResults(t *testing.T) {
	b := prompttest.Brief()
	step := plan.Step{Index: "3", Title: "Describe it", Executor: plan.ExecutorSelf}
	items := []plan.HistoryItem{
		sent("1", kept(1, "image/png"), kept(2, "audio/wav"), kept(1, "image/png")),
		sent("2", kept(3, "image/webp"), kept(4, "image/svg+xml")),
	}
	for name, req := range map[string]prompt.Request{
		"step":      prompt.StepRequest(b, plan.Plan{}, step, items),
		"synthesis": prompt.SynthesisRequest(b, plan.Plan{}, items, nil),
		"agent":     prompt.AgentRequest(b, plan.Plan{}, step, prompt.Profile{}, items, nil, prompt.Turn{Number: 1}),
	} {
		if got := shown(req); !slices.Equal(got, []string{"1", "3"}) {
			t.Errorf("%s: shows %v", name, got)
		}
		if text := last(req); !strings.Contains(text, "Shown with this message, in order: 1 picture of step 1, 1 picture of step 2.") {
			t.Errorf("%s: does not say whose the pictures are:\n%s", name, text)
		}
	}
	if got := shown(prompt.ArgsRequest(b, plan.Plan{}, step, plan.Tool{Name: "look"}, items, "")); len(got) > 0 {
		t.Errorf("the request for arguments shows %v", got)
	}
}

func TestRequestsShowOnlyTheNewestPictures(t *testing.T) {
	var turns []prompt.Message
	for i := range 6 {
		shown, ok := prompt.Pictures("shot", []plan.Attachment{kept(i, "image/png")})
		if !ok || shown.Role != prompt.RoleUser {
			t.Fatalf("the turn is %+v", shown)
		}
		turns = append(turns, shown)
	}
	for window, want := range map[int][]string{0: {"2", "3", "4", "5"}, 32768: {"2", "3", "4", "5"}, 8192: {"4", "5"}, 2048: nil} {
		b := prompttest.Brief()
		b.Prompting.ContextWindow, b.Prompting.ModelTools, b.Prompting.Vision = window, true, true
		req := prompt.ChatRequest(b, false, turns...)
		if got := shown(req); !slices.Equal(got, want) {
			t.Errorf("with a window of %d: shows %v, want %v", window, got, want)
		}
		if !slices.ContainsFunc(req.Messages, func(m prompt.Message) bool { return strings.Contains(m.Content, "not shown, for want of room") }) {
			t.Errorf("with a window of %d: nothing says what is not shown", window)
		}
	}
	items := []plan.HistoryItem{sent("1", kept(7, "image/png"), kept(8, "image/png"))}
	req := prompt.AgentRequest(prompttest.Brief(), plan.Plan{}, plan.Step{Index: "3"}, prompt.Profile{}, items, turns[3:], prompt.Turn{Number: 4})
	if got := shown(req); !slices.Equal(got, []string{"8", "3", "4", "5"}) {
		t.Errorf("a later turn shows %v", got)
	}
	if _, ok := prompt.Pictures("shot", []plan.Attachment{kept(1, "audio/wav")}); ok {
		t.Error("a sound is shown as a picture")
	}
}

func TestPicturesTakeRoomOnlyOfModelsThatSee(t *testing.T) {
	turn, _ := prompt.Pictures("shot", []plan.Attachment{kept(1, "image/png")})
	blind, sees := prompt.Prompting{}, prompt.Prompting{Vision: true}
	without, with := prompt.ConversationTokens(blind, []prompt.Message{turn}), prompt.ConversationTokens(sees, []prompt.Message{turn})
	if with-without < 500 || without > 100 {
		t.Errorf("a picture takes %d tokens of a model that sees, %d of others", with, without)
	}
}

func TestResultWithFilesReadsAsText(t *testing.T) {
	text := prompt.Text(map[string]any{"text": "The page:\n[image: image/png, 70 bytes]", "files": []any{kept(1, "image/png").Value()}})
	if want := "The page:\n[image: image/png, 70 bytes]\n[files[0].file: /kept/1]"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	for _, other := range []any{
		map[string]any{"text": "a", "files": []any{"b"}}, map[string]any{"text": "a", "files": []any{map[string]any{"file": "b"}}}, map[string]any{"text": "a", "files": []any{}, "more": true}, map[string]any{"text": "a"},
	} {
		if text := prompt.Text(other); text != plan.CanonicalJSON(other) {
			t.Errorf("%v reads %q", other, text)
		}
	}
}

func TestTextBesideAResultIsRead(t *testing.T) {
	item := sent("1")
	item.Text = "2 issues, more on page 2"
	if text := last(prompt.SynthesisRequest(prompttest.Brief(), plan.Plan{}, []plan.HistoryItem{item}, nil)); !strings.Contains(text, "said beside it: 2 issues, more on page 2") {
		t.Errorf("the synthesis does not see it:\n%s", text)
	}
	if m := prompt.Answered(reply.ToolUse{Name: "shot"}, "taken", "by hand", "", ""); !strings.Contains(m.Content, "taken\nby hand") {
		t.Errorf("the chat does not see it: %q", m.Content)
	}
}

// TestNoRequestHoldsBase64 puts base64 wherever a run may bring it from: results,
// texts beside them, arguments, errors and the conversation's calls.
func TestNoRequestHoldsBase64(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, 30_000)
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	long := base64.StdEncoding.EncodeToString(content)
	item := sent("1")
	item.Result, item.Text, item.Args = map[string]any{"data": long}, untrusted.Text("see "+long), map[string]any{"picture": long}
	failed := item
	failed.Index, failed.Status, failed.Error, failed.Result = "2", plan.ItemFailed, untrusted.Text("cannot draw "+long), nil
	items := []plan.HistoryItem{item, failed}
	step := plan.Step{Index: "3", Title: "Describe it", Executor: plan.ExecutorSelf, Args: map[string]any{"picture": long}}
	p := plan.Plan{Steps: []plan.Step{{Index: "1", Title: "a"}, {Index: "2", Title: "b"}, step}}
	s := prompt.Situation{Plan: p, History: items, Remaining: []plan.Step{step}, Failed: "2", Error: "cannot draw " + long}
	use := reply.ToolUse{Name: "shot"}
	b := prompttest.Brief()
	b.Prompting.ModelTools = true
	for name, req := range map[string]prompt.Request{
		"step":      prompt.StepRequest(b, p, step, items),
		"args":      prompt.ArgsRequest(b, p, step, plan.Tool{Name: "look"}, items, ""),
		"synthesis": prompt.SynthesisRequest(b, p, items, nil),
		"agent":     prompt.AgentRequest(b, p, step, prompt.Profile{}, items, nil, prompt.Turn{Number: 1}),
		"replan":    prompt.ReplanRequest(b, s, 4),
		"chat":      prompt.ChatRequest(b, false, prompt.Answered(use, long, long, "", ""), prompt.Answered(use, nil, "", "cannot draw "+long, "")),
	} {
		for _, m := range req.Messages {
			for at := 0; at+200 <= len(long); at += 100 {
				if strings.Contains(m.Content, long[at:at+200]) {
					t.Errorf("%s: holds base64", name)
					break
				}
			}
		}
	}
}
